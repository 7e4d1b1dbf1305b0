import type { Json } from "../../support/strict-json.ts";

export const head = { id: "x", object: "chat.completion.chunk", created: 1_790_000_000, model: "m" };
export const chunk = (delta: object, finish_reason: string | null = null): Json => ({
  ...head,
  choices: [{ index: 0, delta, finish_reason }],
});
export const counted = (prompt_tokens: number, completion_tokens: number) => ({
  usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
});
export const begun = (more: object = {}): Json => ({
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
export const block = (index: number, content_block: object, ...deltas: readonly object[]): Json[] => [
  { type: "content_block_start", index, content_block },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];
export const text = (index: number, words: string) =>
  block(index, { type: "text", text: "" }, { type: "text_delta", text: words });
export const ended = (stop_reason: unknown, output_tokens = 7): Json[] => [
  { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens } },
  { type: "message_stop" },
];
export const toolUse = (index: number, id: string, ...pieces: readonly string[]) =>
  block(
    index,
    { type: "tool_use", id, name: "look_up", input: {} },
    ...pieces.map((partial_json) => ({ type: "input_json_delta", partial_json })),
  );
