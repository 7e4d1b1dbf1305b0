/** The usage that every answer reports, so that the expected cost is known. */
export const USAGE = { inputTokens: 120, outputTokens: 198 };
const EVENTS = 200;

/** A whole body, a stream with one write per event, or a stream in one write. */
export type AnswerKind = "whole" | "stream" | "burst";

/**
 * The models of the upstream. The slow one keeps a stream open after its first event until `/finish` is
 * called.
 */
export const FAST_MODEL = "bench-fast";
export const BURST_MODEL = "bench-burst";
export const SLOW_MODEL = "bench-slow";

const WORD = " benchmark";
const wireUsage = {
  prompt_tokens: USAGE.inputTokens,
  completion_tokens: USAGE.outputTokens,
  total_tokens: USAGE.inputTokens + USAGE.outputTokens,
};
const common = { id: "chatcmpl-bench", created: 1_700_000_000, model: FAST_MODEL };

/** A whole chat completion of about 1 KB. */
export const WHOLE_BODY = JSON.stringify({
  ...common,
  object: "chat.completion",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: WORD.repeat(75) },
      logprobs: null,
      finish_reason: "stop",
    },
  ],
  usage: wireUsage,
});

/** The frames of a stream: text, a finish, usage and the end marker. */
export const STREAM_FRAMES: readonly string[] = [
  ...Array.from({ length: EVENTS - 2 }, () => frame({ delta: { content: WORD }, finish_reason: null })),
  frame({ delta: {}, finish_reason: "stop" }),
  `data: ${JSON.stringify({ ...common, object: "chat.completion.chunk", choices: [], usage: wireUsage })}\n\n`,
  "data: [DONE]\n\n",
];

export interface RequestOptions {
  readonly model: string;
  readonly stream: boolean;
  /** Least size of the body; the user message is padded. Default: about half a KB. */
  readonly bytes?: number;
}

/** The body of a request to the gateway or the proxy. */
export function requestBody(options: RequestOptions): string {
  const body = printBody(options, "Say the word.");
  const missing = (options.bytes ?? 0) - body.length;
  if (missing <= 0) return body;
  return printBody(options, `Say the word.${WORD.repeat(Math.ceil(missing / WORD.length))}`);
}

function printBody(options: RequestOptions, userText: string): string {
  return JSON.stringify({
    model: options.model,
    messages: [
      {
        role: "system",
        content: "You are a benchmark. Answer with as many words as you are asked for. ".repeat(4),
      },
      { role: "user", content: userText },
    ],
    max_tokens: 256,
    temperature: 0.5,
    ...(options.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  });
}

/** Returns what is wrong with the body of an answer, or `undefined`. */
export function faultOf(body: string, isStream: boolean): string | undefined {
  try {
    return isStream ? streamFault(body) : wholeFault(body);
  } catch {
    return "a body that is no JSON";
  }
}

function wholeFault(body: string): string | undefined {
  const answer = JSON.parse(body);
  if (answer.choices[0].message.content !== WORD.repeat(75)) return "a text that is not the upstream's";
  return answer.usage.total_tokens === wireUsage.total_tokens
    ? undefined
    : "a usage that is not the upstream's";
}

function streamFault(body: string): string | undefined {
  const frames = body.split("\n\n").filter((each) => each.startsWith("data: "));
  if (frames.pop() !== "data: [DONE]") return "a stream without its end";
  const events = frames.map((each) => JSON.parse(each.slice("data: ".length)));
  if (events.length + joinedEvents(events.at(-1)) !== EVENTS)
    return `${events.length} events instead of ${EVENTS}`;
  const text = events.map((event) => event.choices[0]?.delta.content ?? "").join("");
  if (text !== WORD.repeat(EVENTS - 2)) return "a text that is not the upstream's";
  const usage = events.at(-1)?.usage;
  return usage?.total_tokens === wireUsage.total_tokens ? undefined : "a usage that is not the upstream's";
}

/** The events that the last one contains beside the usage: some gateways join the finish to it. */
function joinedEvents(last?: { choices: readonly { finish_reason?: string | null }[] }): number {
  return last?.choices[0]?.finish_reason ? 1 : 0;
}

function frame(choice: object): string {
  const chunk = { ...common, object: "chat.completion.chunk", choices: [{ index: 0, ...choice }] };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
