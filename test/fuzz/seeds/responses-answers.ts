const USAGE = {
  input_tokens: 40,
  input_tokens_details: { cached_tokens: 10 },
  output_tokens: 12,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 52,
};
const MESSAGE = {
  type: "message",
  id: "msg_1",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text: "Hello there.", annotations: [] }],
};
const CALL = {
  type: "function_call",
  id: "fc_1",
  call_id: "call_1",
  name: "forecast",
  arguments: '{"city":"Oslo"}',
  status: "completed",
};
const REASONING = {
  type: "reasoning",
  id: "rs_1",
  summary: [{ type: "summary_text", text: "A call." }],
  encrypted_content: null,
};

const whole = (output: readonly object[], status = "completed", more: object = {}) => ({
  id: "resp_1",
  object: "response",
  created_at: 1_790_000_000,
  status,
  error: null,
  incomplete_details: null,
  instructions: null,
  model: "host-model",
  output,
  parallel_tool_calls: true,
  store: true,
  usage: status === "in_progress" ? null : USAGE,
  ...more,
});

export const RESPONSES_WHOLES: readonly object[] = [
  whole([MESSAGE]),
  whole([REASONING, CALL]),
  whole([{ ...MESSAGE, content: [{ type: "refusal", refusal: "I will not." }] }]),
  whole([MESSAGE], "incomplete", { incomplete_details: { reason: "max_output_tokens" } }),
  whole([REASONING]),
  whole([], "failed", { error: { code: "server_error", message: "CANARY" } }),
];

const number = (events: readonly object[]) =>
  events.map((event, sequence_number) => ({ ...event, sequence_number }));
const begin = ["response.created", "response.in_progress"].map((type) => ({
  type,
  response: whole([], "in_progress"),
}));
const part = { type: "output_text", text: "", annotations: [] };

/** Streamed responses, as events. */
export const RESPONSES_STREAMS: readonly (readonly object[])[] = [
  number([
    ...begin,
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { ...MESSAGE, status: "in_progress", content: [] },
    },
    { type: "response.content_part.added", item_id: "msg_1", output_index: 0, content_index: 0, part },
    {
      type: "response.output_text.delta",
      item_id: "msg_1",
      output_index: 0,
      content_index: 0,
      delta: "Hello",
    },
    {
      type: "response.output_text.delta",
      item_id: "msg_1",
      output_index: 0,
      content_index: 0,
      delta: " there.",
    },
    {
      type: "response.output_text.done",
      item_id: "msg_1",
      output_index: 0,
      content_index: 0,
      text: "Hello there.",
    },
    { type: "response.content_part.done", item_id: "msg_1", output_index: 0, content_index: 0, part },
    { type: "response.output_item.done", output_index: 0, item: MESSAGE },
    { type: "response.completed", response: whole([MESSAGE]) },
  ]),
  number([
    ...begin,
    { type: "response.output_item.added", output_index: 0, item: { ...REASONING, summary: [] } },
    {
      type: "response.reasoning_summary_text.delta",
      item_id: "rs_1",
      output_index: 0,
      summary_index: 0,
      delta: "A call.",
    },
    { type: "response.output_item.done", output_index: 0, item: REASONING },
    { type: "response.output_item.added", output_index: 1, item: { ...CALL, arguments: "" } },
    {
      type: "response.function_call_arguments.delta",
      item_id: "fc_1",
      output_index: 1,
      delta: '{"city":"Oslo"}',
    },
    {
      type: "response.function_call_arguments.done",
      item_id: "fc_1",
      output_index: 1,
      arguments: CALL.arguments,
    },
    { type: "response.output_item.done", output_index: 1, item: CALL },
    { type: "response.completed", response: whole([REASONING, CALL]) },
  ]),
  number([
    ...begin,
    { type: "response.output_item.added", output_index: 0, item: { ...MESSAGE, content: [] } },
    {
      type: "response.refusal.delta",
      item_id: "msg_1",
      output_index: 0,
      content_index: 0,
      delta: "I will not.",
    },
    {
      type: "response.incomplete",
      response: whole([MESSAGE], "incomplete", { incomplete_details: { reason: "content_filter" } }),
    },
  ]),
  number([
    ...begin,
    { type: "response.failed", response: whole([], "failed", { error: { code: "x", message: "CANARY" } }) },
  ]),
];

export const RESPONSES_ANSWER_SNIPPETS: readonly unknown[] = [
  CALL,
  MESSAGE,
  { type: "web_search_call", id: "ws_1", status: "completed" },
  { type: "output_text", text: "x" },
  { input_tokens: -1, output_tokens: 1e300 },
];

/** Whole answers of an embeddings host. */
export const EMBEDDINGS_WHOLES: readonly object[] = [
  {
    object: "list",
    data: [
      { object: "embedding", index: 0, embedding: [0.5, -0.5, 0.25] },
      { object: "embedding", index: 1, embedding: "AAAAPwAAAL8=" },
    ],
    model: "host-model",
    usage: { prompt_tokens: 4, total_tokens: 4 },
  },
  { object: "list", data: [{ object: "embedding", index: 0, embedding: [1] }], model: "host-model" },
];
