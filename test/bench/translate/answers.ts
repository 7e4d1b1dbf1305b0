import { USAGE } from "../answers.ts";
import type { Format } from "./requests.ts";

/** The formats of upstreams. */
export type AnswerFormat = Format | "converse";

/** Number of deltas of a streamed answer, each a word. */
const DELTAS = 200;
/** Number of words of a whole answer, of about 1 KB. */
const WHOLE_WORDS = 75;

const WORD = " benchmark";
const WHOLE_TEXT = WORD.repeat(WHOLE_WORDS);
const { inputTokens, outputTokens } = USAGE;
const CHAT = { id: "chatcmpl-bench", created: 1_700_000_000, model: "host-model" };
const CHAT_USAGE = {
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
};
const MESSAGE = { id: "msg_bench", type: "message", role: "assistant", model: "host-model" };
const MESSAGE_USAGE = { input_tokens: inputTokens, output_tokens: outputTokens };
const ITEM = { id: "msg_bench", type: "message", role: "assistant" };
const PLACE = { item_id: ITEM.id, output_index: 0, content_index: 0 };

const GEMINI_END = {
  finishReason: "STOP",
  usageMetadata: {
    promptTokenCount: inputTokens,
    candidatesTokenCount: outputTokens,
    totalTokenCount: inputTokens + outputTokens,
  },
};

/** The request members that a responses upstream echoes. */
const REPEATED = { instructions: null, tools: [] };
const REPEATED_TEXT = JSON.stringify(REPEATED).slice(1, -1);

/** Echoes members of the request in an answer, as a responses upstream does. */
export function repeatIn(answer: string, request: string): string {
  if (!answer.includes(REPEATED_TEXT)) return answer;
  const { instructions, tools } = JSON.parse(request);
  return answer.replace(REPEATED_TEXT, () => JSON.stringify({ instructions, tools }).slice(1, -1));
}

/** The bodies of whole answers per format. */
export const WHOLE_ANSWERS: Readonly<Record<AnswerFormat, string>> = {
  chat: JSON.stringify({
    ...CHAT,
    object: "chat.completion",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: WHOLE_TEXT },
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage: CHAT_USAGE,
  }),
  messages: JSON.stringify({
    ...MESSAGE,
    content: [{ type: "text", text: WHOLE_TEXT }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: MESSAGE_USAGE,
  }),
  responses: JSON.stringify(response("completed", [itemOf(WHOLE_TEXT)])),
  gemini: JSON.stringify(generated(WHOLE_TEXT, GEMINI_END)),
  converse: JSON.stringify({
    output: { message: { role: "assistant", content: [{ text: WHOLE_TEXT }] } },
    stopReason: "end_turn",
    usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
    metrics: { latencyMs: 1 },
  }),
};

/** The frames of streamed answers per format. */
export const STREAMED_ANSWERS: Readonly<Record<Format, readonly string[]>> = {
  chat: [
    ...[{ role: "assistant", content: "" }, ...deltas((content) => ({ content }))].map((delta) =>
      chunk(delta, null),
    ),
    chunk({}, "stop"),
    `data: ${JSON.stringify({ ...CHAT, object: "chat.completion.chunk", choices: [], usage: CHAT_USAGE })}\n\n`,
    "data: [DONE]\n\n",
  ],
  messages: [
    {
      type: "message_start",
      message: {
        ...MESSAGE,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...MESSAGE_USAGE, output_tokens: 1 },
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...deltas((text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: outputTokens },
    },
    { type: "message_stop" },
  ].map(namedEvent),
  responses: [
    { type: "response.created", response: response("in_progress", []) },
    { type: "response.in_progress", response: response("in_progress", []) },
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { ...ITEM, status: "in_progress", content: [] },
    },
    {
      type: "response.content_part.added",
      ...PLACE,
      part: { type: "output_text", text: "", annotations: [] },
    },
    ...deltas((delta) => ({ type: "response.output_text.delta", ...PLACE, delta })),
    { type: "response.output_text.done", ...PLACE, text: WORD.repeat(DELTAS) },
    { type: "response.output_item.done", output_index: 0, item: itemOf(WORD.repeat(DELTAS)) },
    { type: "response.completed", response: response("completed", [itemOf(WORD.repeat(DELTAS))]) },
  ].map((event, sequence_number) => namedEvent({ ...event, sequence_number })),
  gemini: [...deltas((text) => generated(text)), generated("", GEMINI_END)].map(
    (response) => `data: ${JSON.stringify(response)}\r\n\r\n`,
  ),
};

const ENDS: Readonly<Record<Format, string>> = {
  chat: "data: [DONE]\n\n",
  messages: "event: message_stop",
  responses: "event: response.completed",
  gemini: '"finishReason":"STOP"',
};

/** Returns what is wrong with an answer in the client's format, or `undefined`. */
export function faultOf(
  body: string,
  { format, stream }: { format: Format; stream: boolean },
): string | undefined {
  const words = body.split(WORD).length - 1;
  const expected = stream ? DELTAS : WHOLE_WORDS;
  if (words < expected) return `${words} words instead of ${expected}`;
  return stream && !body.includes(ENDS[format]) ? "a stream without its end" : undefined;
}

/** A response of Gemini, the last one with its end. */
function generated(text: string, { finishReason, ...end }: Partial<typeof GEMINI_END> = {}): object {
  const content = { role: "model", parts: [{ text }] };
  const candidate = { content, ...(finishReason && { finishReason }), index: 0 };
  return { candidates: [candidate], ...end, modelVersion: "host-model", responseId: "gemini-bench" };
}

function deltas<Delta>(encode: (word: string) => Delta): Delta[] {
  return Array.from({ length: DELTAS }, () => encode(WORD));
}

function chunk(delta: object, finish: string | null): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
  return `data: ${JSON.stringify({ ...CHAT, object: "chat.completion.chunk", choices })}\n\n`;
}

function namedEvent(event: { readonly type: string; readonly [member: string]: unknown }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

function itemOf(text: string): object {
  return { ...ITEM, status: "completed", content: [{ type: "output_text", text, annotations: [] }] };
}

function response(status: string, output: readonly object[]): object {
  const usage = {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
  return {
    id: "resp_bench",
    object: "response",
    created_at: 1_700_000_000,
    status,
    error: null,
    incomplete_details: null,
    ...REPEATED,
    model: "host-model",
    output,
    usage: status === "completed" ? usage : null,
  };
}
