import { expect } from "bun:test";
import type { FormatPair } from "../../support/format-pairs/format-pair.ts";
import { type Body, call, chatTool, image, result, TO_CLAUDE, TO_GPT, user } from "./requests.ts";

/** Requests, and what their upstream must get. A member that is `undefined` must be absent. */
export const TRANSLATED_REQUESTS: readonly (readonly [
  name: string,
  pair: FormatPair,
  body: Body,
  sent: Body,
])[] = [
  [
    "case 51: the tool messages after one assistant message become one user message",
    TO_CLAUDE,
    {
      tools: [chatTool],
      messages: [
        user("Both?"),
        { role: "assistant", content: "Yes.", tool_calls: [call("a", '{"n":1}'), call("b", "{}")] },
        result("a"),
        result("b"),
        user("And?"),
      ],
    },
    {
      messages: [
        { role: "user" },
        {
          role: "assistant",
          content: [{ type: "text" }, { type: "tool_use", input: { n: 1 } }, { type: "tool_use" }],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "a" },
            { type: "tool_result", tool_use_id: "b" },
            { type: "text", text: "And?" },
          ],
        },
      ],
    },
  ],
  [
    "case 52: a result and a text of one user message become a tool message and a user message",
    TO_GPT,
    {
      messages: [
        user("Look it up."),
        { role: "assistant", content: [{ type: "tool_use", id: "a", name: "look_up", input: { n: 1 } }] },
        user([
          { type: "tool_result", tool_use_id: "a", content: "found" },
          { type: "text", text: "And now?" },
        ]),
      ],
    },
    {
      messages: [
        user("Look it up."),
        { role: "assistant", content: null, tool_calls: [call("a", '{"n":1}')] },
        { role: "tool", tool_call_id: "a", content: "found" },
        user("And now?"),
      ],
    },
  ],
  [
    "case 53: a call without arguments has an empty object",
    TO_CLAUDE,
    { messages: [user("Go."), { role: "assistant", tool_calls: [call("a", "")] }, result("a")] },
    { messages: [{}, { role: "assistant", content: [{ type: "tool_use", input: {} }] }, {}] },
  ],
  [
    "case 54: an assistant message with only tool calls has no empty text",
    TO_CLAUDE,
    {
      messages: [
        user("Go."),
        { role: "assistant", content: "", tool_calls: [call("a", "{}")] },
        result("a"),
        { role: "assistant", content: null, tool_calls: [call("b", "{}")] },
        result("b"),
      ],
    },
    {
      messages: [
        {},
        { content: [{ type: "tool_use", id: "a" }] },
        {},
        { content: [{ type: "tool_use", id: "b" }] },
        {},
      ],
    },
  ],
  [
    "case 55: parallel_tool_calls false becomes part of tool_choice",
    TO_CLAUDE,
    { tools: [chatTool], parallel_tool_calls: false },
    { tool_choice: { type: "auto", disable_parallel_tool_use: true }, parallel_tool_calls: undefined },
  ],
  [
    "case 55: parallel_tool_calls is left out when tool_choice is none",
    TO_CLAUDE,
    { tools: [chatTool], parallel_tool_calls: false, tool_choice: "none" },
    { tool_choice: { type: "none", disable_parallel_tool_use: undefined } },
  ],
  [
    "case 56: a required tool call disables thinking",
    { ...TO_CLAUDE, model: "claude-budget" },
    { tools: [chatTool], tool_choice: "required", reasoning_effort: "high" },
    { tool_choice: { type: "any" }, thinking: undefined },
  ],
  ["case 57: a temperature is at most 1", TO_CLAUDE, { temperature: 1.7 }, { temperature: 1 }],
  [
    "case 57: a model without sampling gets no temperature",
    { ...TO_CLAUDE, model: "claude-adaptive" },
    { temperature: 0.3, top_p: 0.9 },
    { temperature: undefined, top_p: undefined },
  ],
  ["case 57: no temperature is added", TO_CLAUDE, {}, { temperature: undefined, top_p: undefined }],
  [
    "case 58: thinking that leaves no room for an answer is left out",
    { ...TO_CLAUDE, model: "claude-budget" },
    { reasoning_effort: "low", max_tokens: 500 },
    { thinking: undefined, max_tokens: 500 },
  ],
  [
    "case 58: thinking is requested when the output limit leaves room",
    { ...TO_CLAUDE, model: "claude-budget" },
    { reasoning_effort: "low", max_tokens: 8_000 },
    { thinking: { type: "enabled", budget_tokens: expect.any(Number) }, max_tokens: 8_000 },
  ],
  [
    "case 59: a request without an output limit gets one",
    TO_CLAUDE,
    { max_tokens: undefined },
    { max_tokens: 1_000 },
  ],
  [
    "a cache_control is kept where the upstream supports it",
    TO_CLAUDE,
    {
      messages: [
        {
          role: "system",
          content: [{ type: "text", text: "Be short.", cache_control: { type: "ephemeral" } }],
        },
        user([{ type: "text", text: "Hi.", cache_control: { type: "ephemeral", ttl: "1h" } }]),
      ],
    },
    {
      system: [{ type: "text", text: "Be short.", cache_control: { type: "ephemeral" } }],
      messages: [user([{ type: "text", text: "Hi.", cache_control: { type: "ephemeral", ttl: "1h" } }])],
    },
  ],
  [
    "case 65: an image in the request stays an image",
    TO_CLAUDE,
    { messages: [image("data:image/png;base64,aGVsbG8=")] },
    {
      messages: [
        user([{ type: "image", source: { type: "base64", media_type: "image/png", data: "aGVsbG8=" } }]),
      ],
    },
  ],
  [
    "case 65: an image URL is forwarded, not fetched",
    TO_CLAUDE,
    { messages: [image("http://127.0.0.1:1/secret.png")] },
    { messages: [user([{ type: "image", source: { type: "url", url: "http://127.0.0.1:1/secret.png" } }])] },
  ],
  [
    "case 66: members without effect on the answer are left out",
    TO_CLAUDE,
    {
      seed: 7,
      presence_penalty: 1,
      frequency_penalty: 1,
      logit_bias: { 1: 2 },
      store: false,
      n: 1,
      logprobs: false,
    },
    {
      seed: undefined,
      presence_penalty: undefined,
      frequency_penalty: undefined,
      logit_bias: undefined,
      store: undefined,
      n: undefined,
      logprobs: undefined,
    },
  ],
  [
    "case 67: a stop sequence of white space is left out",
    TO_CLAUDE,
    { stop: ["\n"] },
    { stop_sequences: undefined },
  ],
  ["case 67: other stop sequences stay", TO_CLAUDE, { stop: ["\n", "END"] }, { stop_sequences: ["END"] }],
  [
    "case 74: a long user id is hashed",
    TO_GPT,
    { metadata: { user_id: JSON.stringify({ device: "d".repeat(64), session: "s".repeat(36) }) } },
    { user: expect.stringMatching(/^[0-9a-f]{32,64}$/), metadata: undefined },
  ],
];

/** Requests that no upstream of the model can represent, and the field that the error names. */
export const UNTRANSLATABLE_REQUESTS: readonly (readonly [
  name: string,
  pair: FormatPair,
  body: Body,
  path: string,
])[] = [
  [
    "case 65: an SVG image",
    TO_CLAUDE,
    { messages: [image("data:image/svg+xml;base64,aGVsbG8=")] },
    "messages[0].content[0]",
  ],
  ["case 66: two choices", TO_CLAUDE, { n: 2 }, "n"],
  ["case 66: log probabilities", TO_CLAUDE, { logprobs: true }, "logprobs"],
  [
    "a file that only OpenAI has",
    TO_CLAUDE,
    { messages: [user([{ type: "file", file: { file_id: "file-1" } }])] },
    "messages[0].content[0]",
  ],
  [
    "an image that only Anthropic has",
    TO_GPT,
    { messages: [user([{ type: "image", source: { type: "file", file_id: "file_1" } }])] },
    "messages[0].content[0]",
  ],
  [
    "MCP servers",
    TO_GPT,
    { mcp_servers: [{ type: "url", url: "https://x.example", name: "x" }] },
    "mcp_servers",
  ],
];
