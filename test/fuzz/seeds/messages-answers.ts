const USAGE = {
  input_tokens: 25,
  output_tokens: 1,
  cache_read_input_tokens: 10,
  cache_creation_input_tokens: 5,
  cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 2 },
};
const HEAD = { id: "msg_1", type: "message", role: "assistant", model: "host-model", container: null };
const START = {
  type: "message_start",
  message: { ...HEAD, content: [], stop_reason: null, stop_sequence: null, usage: USAGE },
};
const end = (reason: string, more: object = {}) => [
  {
    type: "message_delta",
    delta: { stop_reason: reason, stop_sequence: null, ...more },
    usage: { output_tokens: 12, output_tokens_details: { thinking_tokens: 4 } },
  },
  { type: "message_stop" },
];
const block = (index: number, content_block: object, ...deltas: readonly object[]) => [
  { type: "content_block_start", index, content_block },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];
const text = (index: number, ...words: readonly string[]) =>
  block(index, { type: "text", text: "" }, ...words.map((word) => ({ type: "text_delta", text: word })));
const toolUse = (index: number, ...pieces: readonly string[]) =>
  block(
    index,
    { type: "tool_use", id: `toolu_${index}`, name: "forecast", input: {} },
    ...pieces.map((piece) => ({ type: "input_json_delta", partial_json: piece })),
  );

/** Streamed messages, as events. */
export const MESSAGES_STREAMS: readonly (readonly object[])[] = [
  [START, { type: "ping" }, ...text(0, "Hello", " there."), ...end("end_turn")],
  [
    START,
    ...block(
      0,
      { type: "thinking", thinking: "", signature: "" },
      { type: "thinking_delta", thinking: "Two calls." },
      { type: "signature_delta", signature: "c2ln" },
    ),
    ...block(1, { type: "redacted_thinking", data: "ZGF0YQ==" }),
    ...text(2, "I look."),
    ...toolUse(3, "", '{"city":', '"Oslo"}'),
    ...toolUse(4),
    ...end("tool_use"),
  ],
  [
    START,
    ...block(0, { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} }),
    ...block(1, { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] }),
    ...block(
      2,
      { type: "text", text: "" },
      { type: "citations_delta", citation: {} },
      { type: "text_delta", text: "Snow." },
    ),
    ...end("stop_sequence", { stop_sequence: "END" }),
  ],
  [
    START,
    ...end("refusal", { stop_details: { type: "refusal", category: "x", explanation: "I will not." } }),
  ],
  [START, ...text(0, "Half a"), ...end("max_tokens")],
  [
    START,
    ...block(0, { type: "thinking", thinking: "" }, { type: "thinking_delta", thinking: "Only." }),
    ...end("end_turn"),
  ],
  [
    START,
    ...block(0, { type: "tool_use", id: "toolu_w", name: "forecast", input: { city: "Oslo" } }),
    ...end("tool_use"),
  ],
];

const whole = (content: readonly object[], reason = "end_turn") => ({
  ...HEAD,
  content,
  stop_reason: reason,
  stop_sequence: null,
  usage: { ...USAGE, output_tokens: 12, server_tool_use: null, service_tier: "standard" },
});

export const MESSAGES_WHOLES: readonly object[] = [
  whole([{ type: "text", text: "Hello there.", citations: null }]),
  whole(
    [
      { type: "thinking", thinking: "Two calls.", signature: "c2ln" },
      { type: "redacted_thinking", data: "ZGF0YQ==" },
      { type: "text", text: "I look." },
      { type: "tool_use", id: "toolu_1", name: "forecast", input: { city: "Oslo" } },
      { type: "tool_use", id: "toolu_2", name: "forecast", input: {} },
    ],
    "tool_use",
  ),
  whole([
    { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } },
    { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
    { type: "text", text: "Snow." },
  ]),
  whole([], "refusal"),
  whole([{ type: "thinking", thinking: "Only.", signature: "" }]),
  { input_tokens: 17 },
];

/** Values that may occur anywhere in an answer. */
export const MESSAGES_ANSWER_SNIPPETS: readonly unknown[] = [
  { type: "tool_use", id: "toolu_5", name: "constructor", input: [] },
  { type: "text_delta", text: "x" },
  { type: "input_json_delta", partial_json: '{"a":' },
  { type: "mcp_tool_use", id: "m", name: "n", input: {} },
  { type: "compaction", content: "x" },
  { input_tokens: -1, output_tokens: 1e300 },
];
