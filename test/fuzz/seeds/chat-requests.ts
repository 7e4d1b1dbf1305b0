import { LONG_NAME, MODEL, PNG, SCHEMA } from "./tools.ts";

/** Chat completion requests of real clients. */
export const CHAT_REQUESTS: readonly object[] = [
  { model: MODEL, messages: [{ role: "user", content: "Say hello." }] },
  {
    model: MODEL,
    messages: [
      { role: "system", content: "Be brief." },
      {
        role: "developer",
        content: [{ type: "text", text: "And kind.", cache_control: { type: "ephemeral" } }],
      },
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}`, detail: "low" } },
          { type: "image_url", image_url: { url: "https://example.com/cat.jpg" } },
          {
            type: "file",
            file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0xLjQ=" },
          },
        ],
      },
    ],
    temperature: 1.3,
    top_p: 0.9,
    max_completion_tokens: 300,
    stop: ["\n\n", "END"],
    user: "user@example.com",
    metadata: { a: "b" },
    seed: 7,
    presence_penalty: 0.1,
    stream: true,
    stream_options: { include_usage: true },
  },
  {
    model: MODEL,
    messages: [
      { role: "user", content: "The weather in Oslo and Rome?" },
      {
        role: "assistant",
        content: null,
        reasoning_content: "Two calls.",
        reasoning_details: [{ type: "reasoning.text", text: "Two calls.", signature: "c2ln", index: 0 }],
        tool_calls: [
          { id: "call_1", type: "function", function: { name: "forecast", arguments: '{"city":"Oslo"}' } },
          { id: "call_2", type: "function", function: { name: LONG_NAME, arguments: "" } },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "Snow." },
      { role: "tool", tool_call_id: "call_2", content: [{ type: "text", text: "Sun." }] },
      { role: "system", content: "Answer in Norwegian." },
      { role: "user", content: "Well?" },
    ],
    tools: [
      {
        type: "function",
        function: { name: "forecast", description: "Weather", parameters: SCHEMA, strict: true },
      },
      { type: "function", function: { name: LONG_NAME } },
    ],
    tool_choice: { type: "function", function: { name: "forecast" } },
    parallel_tool_calls: false,
    reasoning_effort: "medium",
    max_tokens: 2_000,
    stream: true,
  },
  {
    model: MODEL,
    messages: [{ role: "user", content: "A forecast, please." }],
    response_format: { type: "json_schema", json_schema: { name: "forecast", strict: true, schema: SCHEMA } },
    tool_choice: "auto",
    n: 1,
    logprobs: false,
    verbosity: "low",
    store: false,
    prompt_cache_key: "k",
    reasoning: { effort: "high", max_tokens: 1_500 },
  },
  {
    model: MODEL,
    messages: [
      { role: "user", content: "The weather?" },
      { role: "assistant", content: "", function_call: { name: "forecast", arguments: "{}" } },
      { role: "function", name: "forecast", content: "Rain." },
      { role: "assistant", content: [{ type: "refusal", refusal: "No." }], refusal: null },
      { role: "user", content: "Go on." },
    ],
    functions: [{ name: "forecast", parameters: SCHEMA }],
    function_call: "auto",
    n: 2,
    stream: true,
  },
];

/** Parts, messages and tools that may occur anywhere. */
export const CHAT_SNIPPETS: readonly unknown[] = [
  { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } },
  { type: "image_url", image_url: `data:image/webp;base64,${PNG}` },
  { type: "image_url", image_url: { url: "data:image/svg+xml;base64,PHN2Zy8+" } },
  { type: "file", file: { file_id: "file-1" } },
  { type: "file", file: { filename: "a.txt", file_data: "aGVsbG8=" } },
  { type: "video_url", video_url: { url: "https://example.com/a.mp4" } },
  { type: "text", text: "" },
  { role: "tool", tool_call_id: "call_9", content: "Nobody asked." },
  { role: "tool", content: "" },
  { role: "system", content: "" },
  { role: "assistant", tool_calls: [{ id: "call_3", type: "custom", custom: { name: "sh", input: "ls" } }] },
  { role: "assistant", tool_calls: [{ type: "function", function: { name: "f", arguments: "[1]" } }] },
  { role: "assistant", content: null },
  { role: "user", content: [] },
  { type: "custom", custom: { name: "sh" } },
  { type: "function", function: { name: "constructor", parameters: { type: "string" } } },
  { type: "web_search" },
  {
    type: "allowed_tools",
    allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "forecast" } }] },
  },
];
