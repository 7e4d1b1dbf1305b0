import { LONG_NAME, MODEL, PNG, SCHEMA } from "./tools.ts";

/** Responses requests of real clients. */
export const RESPONSES_REQUESTS: readonly object[] = [
  { model: MODEL, input: "Say hello." },
  {
    model: MODEL,
    instructions: "Be brief.",
    input: [
      { role: "developer", content: "And kind." },
      {
        role: "user",
        content: [
          { type: "input_text", text: "What is this?" },
          { type: "input_image", image_url: `data:image/png;base64,${PNG}`, detail: "auto" },
          { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0=" },
        ],
      },
    ],
    max_output_tokens: 400,
    temperature: 0.2,
    top_p: 0.5,
    text: {
      format: { type: "json_schema", name: "forecast", schema: SCHEMA, strict: true },
      verbosity: "low",
    },
    metadata: { a: "b" },
    truncation: "auto",
    stream: true,
  },
  {
    model: MODEL,
    input: [
      { type: "message", role: "user", content: [{ type: "input_text", text: "The weather?" }] },
      {
        type: "reasoning",
        id: "rs_1",
        summary: [{ type: "summary_text", text: "A call." }],
        encrypted_content: "x",
      },
      {
        type: "function_call",
        id: "fc_1",
        call_id: "call_1",
        name: "forecast",
        arguments: '{"city":"Oslo"}',
      },
      { type: "function_call", call_id: "call_2", name: LONG_NAME, arguments: "" },
      { type: "function_call_output", call_id: "call_1", output: "Snow." },
      { type: "function_call_output", call_id: "call_2", output: [{ type: "input_text", text: "Sun." }] },
      { type: "custom_tool_call", call_id: "call_3", name: "apply_patch", input: "*** Begin" },
      { type: "custom_tool_call_output", call_id: "call_3", output: "done" },
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "Snow.", annotations: [] }],
      },
      { type: "message", role: "user", content: "And Rome?" },
    ],
    tools: [
      { type: "function", name: "forecast", description: "Weather", parameters: SCHEMA, strict: false },
      { type: "function", name: LONG_NAME, parameters: null },
      {
        type: "custom",
        name: "apply_patch",
        format: { type: "grammar", syntax: "lark", definition: "start: x" },
      },
      {
        type: "namespace",
        name: "multi_agent_v1",
        tools: [{ type: "function", name: "spawn", parameters: SCHEMA }],
      },
      { type: "web_search" },
    ],
    tool_choice: "auto",
    parallel_tool_calls: true,
    reasoning: { effort: "medium", summary: "auto" },
    include: ["reasoning.encrypted_content"],
    store: false,
    prompt_cache_key: "k",
    client_metadata: { a: "b" },
    stream: true,
  },
];

/** Items, parts and tools that may occur anywhere. */
export const RESPONSES_SNIPPETS: readonly unknown[] = [
  { type: "item_reference", id: "msg_1" },
  { type: "input_image", file_id: "file-1" },
  { type: "input_image", image_url: "https://example.com/a.png" },
  { type: "input_file", file_url: "https://example.com/a.pdf" },
  { type: "input_audio", input_audio: { data: "", format: "mp3" } },
  { type: "function_call", call_id: "call_9", name: "constructor", arguments: "[]" },
  { type: "function_call_output", call_id: "call_9", output: null },
  { type: "local_shell_call", id: "ls_1", action: { type: "exec", command: ["ls"] } },
  { type: "web_search_call", id: "ws_1", status: "completed" },
  { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "No." }] },
  { type: "file_search", vector_store_ids: ["vs_1"] },
  { type: "mcp", server_label: "x", server_url: "https://example.com" },
  { type: "code_interpreter", container: { type: "auto" } },
  { type: "custom", name: "forecast" },
  { role: "user", content: "" },
];
