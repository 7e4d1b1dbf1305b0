import type { Json } from "../../support/strict-json.ts";

export const chunkHead = { id: "x", object: "chat.completion.chunk", created: 1_790_000_000, model: "m" };
export const chunk = (delta: object, finish_reason: string | null = null): Json => ({
  ...chunkHead,
  choices: [{ index: 0, delta, finish_reason }],
});
export const usageOf = (prompt_tokens: number, completion_tokens: number) => ({
  usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
});
export const messageStart = (more: object = {}): Json => ({
  type: "message_start",
  message: {
    id: "m",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    usage: { input_tokens: 11, output_tokens: 1 },
    ...more,
  },
});
export const blockEvents = (index: number, content_block: object, ...deltas: readonly object[]): Json[] => [
  { type: "content_block_start", index, content_block },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];
export const textEvents = (index: number, words: string) =>
  blockEvents(index, { type: "text", text: "" }, { type: "text_delta", text: words });
export const messageEnd = (stop_reason: unknown, output_tokens = 7): Json[] => [
  { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens } },
  { type: "message_stop" },
];
export const toolUseEvents = (index: number, id: string, ...pieces: readonly string[]) =>
  blockEvents(
    index,
    { type: "tool_use", id, name: "look_up", input: {} },
    ...pieces.map((partial_json) => ({ type: "input_json_delta", partial_json })),
  );
