import { isJsonObject, type JsonObject, readArray, readText } from "../wire/json/read.ts";
import { joinPromptText } from "../wire/prompt-size.ts";
import { printSse } from "../wire/sse.ts";

/** An answer of the demo model, independent of the wire format. */
export interface DemoAnswer {
  readonly id: string;
  readonly createdAtS: number;
  readonly model: string;
  /** The text in tokens. */
  readonly tokens: readonly string[];
  /** Whether the output limit cut it. */
  readonly isCut: boolean;
  readonly inputTokens: number;
}

/** A demo token: up to 16 characters of a word, with the space before it. Only for trimmed text. */
const TOKEN = /\s*\S{1,16}/gu;
/** A demo token without space. Matching the space too would scan a long run of spaces many times. */
const BARE_TOKEN = /\S{1,16}/gu;

/** Echoes the last user message in at most `outputTokensMax` tokens. */
export function composeDemoAnswer(
  body: JsonObject,
  outputTokensMax: number,
  { id, createdAtS }: { id: string; createdAtS: number },
): DemoAnswer {
  const prompt = lastUserText(body).trim();
  const text = prompt === "" ? "You said nothing." : `You said: ${prompt}`;
  const tokens = takeTokens(text, outputTokensMax + 1);
  const isCut = tokens.length > outputTokensMax;
  return {
    id,
    createdAtS,
    model: readText(body.model),
    tokens: isCut ? tokens.slice(0, outputTokensMax) : tokens,
    isCut,
    inputTokens: countDemoInput(body),
  };
}

/** Counts the tokens of a prompt as the demo model reports them in its usage. */
export function countDemoInput(body: JsonObject): number {
  let count = 0;
  for (const _ of tokensOf(joinPromptText([body.system, body.messages, body.tools]))) count += 1;
  return count;
}

/** Yields the tokens of any text, without the space between them. */
export function* tokensOf(text: string): Generator<string> {
  for (const [token] of text.matchAll(BARE_TOKEN)) yield token;
}

function lastUserText(body: JsonObject): string {
  const message = readArray(body.messages)
    .filter(isJsonObject)
    .findLast(({ role }) => role === "user");
  if (typeof message?.content === "string") return message.content;
  const parts = readArray(message?.content).filter(isJsonObject);
  return parts.map((part) => readText(part.text)).join(" ");
}

function takeTokens(text: string, count: number): string[] {
  return [...text.matchAll(TOKEN).take(count)].map(([token]) => token);
}

/** Options of a chat request that shape its answer. */
interface DemoChatOptions {
  readonly choices: number;
  readonly includesUsage: boolean;
}

/**
 * Encodes the answer as a chat completion.
 *
 * @see https://platform.openai.com/docs/api-reference/chat
 */
export function encodeDemoChat(answer: DemoAnswer, { choices }: DemoChatOptions): string {
  const message = { role: "assistant", content: answer.tokens.join(""), refusal: null };
  return JSON.stringify({
    ...chatHeadOf(answer, "chat.completion"),
    choices: indexes(choices).map((index) => ({
      index,
      message,
      logprobs: null,
      finish_reason: finishReasonOf(answer),
    })),
    usage: chatUsageOf(answer, choices),
  });
}

/** Yields the events of a chat stream: one token each, one choice after the other. */
export function* streamDemoChat(
  answer: DemoAnswer,
  { choices, includesUsage }: DemoChatOptions,
): Generator<string> {
  const head = chatHeadOf(answer, "chat.completion.chunk");
  const usage = includesUsage ? { usage: null } : {};
  const encode = (index: number, delta: object, finishReason: string | null) =>
    printSse({
      data: JSON.stringify({
        ...head,
        choices: [{ index, delta, logprobs: null, finish_reason: finishReason }],
        ...usage,
      }),
    });

  for (const index of indexes(choices)) {
    yield encode(index, { role: "assistant", content: "", refusal: null }, null);
    for (const content of answer.tokens) yield encode(index, { content }, null);
    yield encode(index, {}, finishReasonOf(answer));
  }
  if (includesUsage) {
    yield printSse({ data: JSON.stringify({ ...head, choices: [], usage: chatUsageOf(answer, choices) }) });
  }
  yield printSse({ data: "[DONE]" });
}

function chatHeadOf({ id, createdAtS, model }: DemoAnswer, object: string) {
  return { id: `chatcmpl-${id}`, object, created: createdAtS, model, system_fingerprint: null };
}

function indexes(choices: number): number[] {
  return Array.from({ length: choices }, (_, index) => index);
}

function finishReasonOf({ isCut }: DemoAnswer): string {
  return isCut ? "length" : "stop";
}

function chatUsageOf({ inputTokens, tokens }: DemoAnswer, choices: number) {
  const outputTokens = tokens.length * choices;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  };
}

/**
 * Encodes the answer as a message.
 *
 * @see https://docs.anthropic.com/en/api/messages
 */
export function encodeDemoMessage(answer: DemoAnswer): string {
  return JSON.stringify({
    ...messageHeadOf(answer),
    content: [{ type: "text", text: answer.tokens.join(""), citations: null }],
    stop_reason: stopReasonOf(answer),
    usage: messageUsageOf(answer, answer.tokens.length),
  });
}

/** Yields the events of a messages stream, one token each. */
export function* streamDemoMessage(answer: DemoAnswer): Generator<string> {
  // The real API also reports one output token at the start, before it knows the number.
  yield encodeEvent("message_start", {
    message: { ...messageHeadOf(answer), usage: messageUsageOf(answer, 1) },
  });
  yield encodeEvent("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
  for (const text of answer.tokens) {
    yield encodeEvent("content_block_delta", { index: 0, delta: { type: "text_delta", text } });
  }
  yield encodeEvent("content_block_stop", { index: 0 });
  yield encodeEvent("message_delta", {
    delta: { stop_reason: stopReasonOf(answer), stop_sequence: null },
    usage: messageUsageOf(answer, answer.tokens.length),
  });
  yield encodeEvent("message_stop", {});
}

function encodeEvent(type: string, members: object): string {
  return printSse({ event: type, data: JSON.stringify({ type, ...members }) });
}

function messageHeadOf({ id, model }: DemoAnswer) {
  return {
    id: `msg_${id}`,
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
  };
}

function stopReasonOf({ isCut }: DemoAnswer): string {
  return isCut ? "max_tokens" : "end_turn";
}

function messageUsageOf({ inputTokens }: DemoAnswer, outputTokens: number) {
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  };
}
