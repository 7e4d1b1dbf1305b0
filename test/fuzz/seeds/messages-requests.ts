import { LONG_NAME, MODEL, PNG, SCHEMA } from "./tools.ts";

const THINKING = [
  { type: "thinking", thinking: "Two calls.", signature: "c2lnbmF0dXJl" },
  { type: "redacted_thinking", data: "cmVkYWN0ZWQ=" },
];

/** Messages requests of real clients. */
export const MESSAGES_REQUESTS: readonly object[] = [
  { model: MODEL, max_tokens: 200, messages: [{ role: "user", content: "Say hello." }] },
  {
    model: MODEL,
    max_tokens: 4_000,
    system: [
      { type: "text", text: "x-anthropic-billing-header: cc_version=2; cch=1" },
      { type: "text", text: "You are a coding agent.", cache_control: { type: "ephemeral", ttl: "1h" } },
    ],
    messages: [
      { role: "user", content: [{ type: "text", text: "List the files." }] },
      { role: "system", content: "The folder is empty." },
      { role: "user", content: [{ type: "text", text: "Go.", cache_control: { type: "ephemeral" } }] },
    ],
    tools: [
      { name: "Bash", description: "Runs", input_schema: SCHEMA },
      { name: LONG_NAME, description: "", input_schema: { type: "object" }, defer_loading: true },
      { type: "web_search_20250305", name: "web_search", max_uses: 2 },
    ],
    metadata: { user_id: '{"device_id":"d","account_uuid":"","session_id":"s"}' },
    thinking: { type: "adaptive", display: "omitted" },
    output_config: { effort: "high" },
    context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
    stream: true,
  },
  {
    model: MODEL,
    max_tokens: 3_000,
    messages: [
      { role: "user", content: "The weather in Oslo and Rome?" },
      {
        role: "assistant",
        content: [
          ...THINKING,
          { type: "text", text: "I look." },
          { type: "tool_use", id: "toolu_1", name: "forecast", input: { city: "Oslo" } },
          { type: "tool_use", id: `toolu_${"long".repeat(12)}`, name: "forecast", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "toolu_1", content: "Snow." },
          {
            type: "tool_result",
            tool_use_id: `toolu_${"long".repeat(12)}`,
            is_error: true,
            content: [
              { type: "text", text: "No such city." },
              { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
            ],
          },
          { type: "text", text: "Well?" },
        ],
      },
    ],
    tools: [{ type: "custom", name: "forecast", description: "Weather", input_schema: SCHEMA, strict: true }],
    tool_choice: { type: "auto", disable_parallel_tool_use: true },
    thinking: { type: "enabled", budget_tokens: 1_024 },
    stop_sequences: ["END", "\n"],
    stream: true,
  },
  {
    model: MODEL,
    max_tokens: 500,
    temperature: 0.4,
    top_p: 0.9,
    top_k: 40,
    system: "Answer in JSON.",
    messages: [
      {
        role: "user",
        content: [
          { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
          {
            type: "document",
            title: "A",
            source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" },
          },
          { type: "document", source: { type: "text", media_type: "text/plain", data: "Snow." } },
          { type: "text", text: "What is it?" },
        ],
      },
      { role: "assistant", content: "{" },
    ],
    tools: [{ name: "forecast", input_schema: SCHEMA }],
    tool_choice: { type: "tool", name: "forecast" },
    output_config: { format: { type: "json_schema", schema: SCHEMA } },
  },
];

/** Blocks, messages and tools that may occur anywhere. */
export const MESSAGES_SNIPPETS: readonly unknown[] = [
  { type: "image", source: { type: "file", file_id: "file_1" } },
  { type: "image", source: { type: "base64", media_type: "image/svg+xml", data: "PHN2Zy8+" } },
  { type: "document", source: { type: "url", url: "https://example.com/a.pdf" } },
  { type: "document", source: { type: "content", content: [{ type: "text", text: "Snow." }] } },
  { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } },
  {
    type: "web_search_tool_result",
    tool_use_id: "srvtoolu_1",
    content: [{ type: "web_search_result", title: "x" }],
  },
  { type: "search_result", source: "a", title: "b", content: [{ type: "text", text: "c" }] },
  { type: "tool_result", tool_use_id: "toolu_9" },
  { type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "tool_result", tool_use_id: "toolu_1" }] },
  { type: "tool_use", id: "toolu_3", name: "constructor", input: [] },
  { type: "tool_use", id: "", name: "", input: null },
  { type: "thinking", thinking: "", signature: "" },
  { type: "text", text: "" },
  { role: "assistant", content: [] },
  { role: "system", content: [{ type: "image" }] },
  { type: "bash_20250124", name: "bash" },
  { type: "any" },
];
