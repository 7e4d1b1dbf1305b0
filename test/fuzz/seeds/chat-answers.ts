const HEAD = { id: "chatcmpl-1", created: 1_790_000_000, model: "host-model", system_fingerprint: "fp" };
const USAGE = {
  prompt_tokens: 40,
  completion_tokens: 12,
  total_tokens: 52,
  prompt_tokens_details: { cached_tokens: 10, cache_write_tokens: 5 },
  completion_tokens_details: { reasoning_tokens: 4 },
};

const chunk = (delta: object, finish: string | null = null, more: object = {}) => ({
  ...HEAD,
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  ...more,
});
const call = (index: number, input: string, more: object = {}) =>
  chunk({ tool_calls: [{ index, function: { arguments: input }, ...more }] });
const firstCall = (index: number, name: string) =>
  call(index, "", { id: `call_${index}`, type: "function", function: { name, arguments: "" } });
const USAGE_CHUNK = { ...HEAD, object: "chat.completion.chunk", choices: [], usage: USAGE };
const ROLE = chunk({ role: "assistant", content: "", refusal: null });

/** Streamed answers of chat hosts, as events without the end mark. */
export const CHAT_STREAMS: readonly (readonly object[])[] = [
  [ROLE, chunk({ content: "Hello" }), chunk({ content: " there." }), chunk({}, "stop"), USAGE_CHUNK],
  [
    ROLE,
    chunk({ reasoning_content: "Two" }),
    chunk({
      reasoning: " calls.",
      reasoning_details: [{ type: "reasoning.text", text: " calls.", signature: "s" }],
    }),
    chunk({ content: "I look." }),
    firstCall(0, "forecast"),
    firstCall(1, "forecast"),
    call(0, '{"city":'),
    call(1, '{"city":"Rome"}'),
    call(0, '"Oslo"}'),
    chunk({}, "tool_calls", { usage: USAGE }),
  ],
  [
    chunk({ tool_calls: [{ id: "x", function: { name: "forecast", arguments: { city: "Oslo" } } }] }),
    chunk({ tool_calls: [{ index: 0, id: "y", function: { name: "forecast", arguments: null } }] }),
    chunk({}, "stop"),
  ],
  [ROLE, chunk({ refusal: "I will not." }), chunk({}, "content_filter"), USAGE_CHUNK],
  [
    ROLE,
    chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "Hm." }] }] }),
    chunk({ content: "Half a" }),
    chunk({}, "length"),
    USAGE_CHUNK,
  ],
  [ROLE, chunk({ function_call: { name: "forecast", arguments: "{}" } }), chunk({}, "function_call")],
  [ROLE, chunk({ reasoning_content: "Only thought." }), chunk({}, "stop"), USAGE_CHUNK],
];

const whole = (message: object, finish = "stop", more: object = {}) => ({
  ...HEAD,
  object: "chat.completion",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: null, refusal: null, ...message },
      logprobs: null,
      finish_reason: finish,
    },
  ],
  usage: USAGE,
  ...more,
});

export const CHAT_WHOLES: readonly object[] = [
  whole({ content: "Hello there." }),
  whole(
    {
      reasoning_content: "Two calls.",
      tool_calls: [
        { id: "call_0", type: "function", function: { name: "forecast", arguments: '{"city":"Oslo"}' } },
        { id: "call_1", type: "function", function: { name: "forecast", arguments: "" } },
      ],
    },
    "tool_calls",
  ),
  whole({ content: [{ type: "text", text: "In parts." }], annotations: [{ type: "url_citation" }] }, "stop", {
    usage: null,
  }),
  whole({ refusal: "I will not." }, "content_filter"),
  whole({ content: "Half a" }, "length"),
  whole({ function_call: { name: "forecast", arguments: "{}" } }, "function_call"),
  whole({ reasoning: "Only thought." }),
];

/** Values that may occur anywhere in an answer. */
export const CHAT_ANSWER_SNIPPETS: readonly unknown[] = [
  { index: 7, delta: { content: "x" }, finish_reason: null },
  { index: 1, message: { content: "x" }, finish_reason: "stop" },
  { index: 0, id: "call_5", function: { name: "constructor", arguments: "{}" } },
  { index: 1e6, function: { arguments: "," } },
  { type: "text", text: "part" },
  { type: "reasoning.encrypted", data: "ZGF0YQ==" },
  { prompt_tokens: -1, completion_tokens: 1e300 },
];
