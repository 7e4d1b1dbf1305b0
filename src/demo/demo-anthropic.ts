import { printSse } from "../wire/sse.ts";
import type { DemoAnswer } from "./demo-answer.ts";

/** The answer as a message. */
export function printDemoMessage(answer: DemoAnswer): string {
  return JSON.stringify({
    ...messageOf(answer),
    content: [{ type: "text", text: answer.tokens.join(""), citations: null }],
    stop_reason: stopReasonOf(answer),
    usage: usageOf(answer, answer.tokens.length),
  });
}

/** The answer as a messages stream, an event at a time; a token each. */
export function* streamDemoMessage(answer: DemoAnswer): Generator<string> {
  // The real API says one output token at the start, before it knows.
  yield print("message_start", { message: { ...messageOf(answer), usage: usageOf(answer, 1) } });
  yield print("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
  for (const text of answer.tokens) {
    yield print("content_block_delta", { index: 0, delta: { type: "text_delta", text } });
  }
  yield print("content_block_stop", { index: 0 });
  yield print("message_delta", {
    delta: { stop_reason: stopReasonOf(answer), stop_sequence: null },
    usage: usageOf(answer, answer.tokens.length),
  });
  yield print("message_stop", {});
}

function print(type: string, members: object): string {
  return printSse({ event: type, data: JSON.stringify({ type, ...members }) });
}

function messageOf({ id, model }: DemoAnswer) {
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

function usageOf({ inputTokens }: DemoAnswer, outputTokens: number) {
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  };
}
