import { expect } from "bun:test";
import type { ProtocolPair } from "../../support/protocol-pairs/protocol-pair.ts";
import { type Body, call, chatTool, image, result, TO_CLAUDE, TO_GPT, user } from "./requests.ts";

/** What a client asks, and what its upstream must be sent: `undefined` is a member that must not be there. */
export const TRANSLATED_REQUESTS: readonly (readonly [
  name: string,
  pair: ProtocolPair,
  body: Body,
  sent: Body,
])[] = [
  [
    "case 51: tool messages after one turn become one user message",
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
    "case 54: a turn of calls alone has no empty text",
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
    "case 55: calls one by one are asked for within the choice of tools",
    TO_CLAUDE,
    { tools: [chatTool], parallel_tool_calls: false },
    { tool_choice: { type: "auto", disable_parallel_tool_use: true }, parallel_tool_calls: undefined },
  ],
  [
    "case 55: and are not, where there is no choice",
    TO_CLAUDE,
    { tools: [chatTool], parallel_tool_calls: false, tool_choice: "none" },
    { tool_choice: { type: "none", disable_parallel_tool_use: undefined } },
  ],
  [
    "case 56: a tool that must be called leaves no room for thinking",
    { ...TO_CLAUDE, model: "claude-budget" },
    { tools: [chatTool], tool_choice: "required", reasoning_effort: "high" },
    { tool_choice: { type: "any" }, thinking: undefined },
  ],
  ["case 57: a temperature ends at 1", TO_CLAUDE, { temperature: 1.7 }, { temperature: 1 }],
  [
    "case 57: no temperature for a model that takes none",
    { ...TO_CLAUDE, model: "claude-adaptive" },
    { temperature: 0.3, top_p: 0.9 },
    { temperature: undefined, top_p: undefined },
  ],
  [
    "case 57: none is added where there was none",
    TO_CLAUDE,
    {},
    { temperature: undefined, top_p: undefined },
  ],
  [
    "case 58: thinking that leaves no room for an answer is left out",
    { ...TO_CLAUDE, model: "claude-budget" },
    { reasoning_effort: "low", max_tokens: 500 },
    { thinking: undefined, max_tokens: 500 },
  ],
  [
    "case 58: and is asked for where there is room",
    { ...TO_CLAUDE, model: "claude-budget" },
    { reasoning_effort: "low", max_tokens: 8_000 },
    { thinking: { type: "enabled", budget_tokens: expect.any(Number) }, max_tokens: 8_000 },
  ],
  [
    "case 59: an answer without a limit gets one",
    TO_CLAUDE,
    { max_tokens: undefined },
    { max_tokens: 1_000 },
  ],
  [
    "a mark of what to cache, where the upstream takes it",
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
    "case 65: an image within the request is an image",
    TO_CLAUDE,
    { messages: [image("data:image/png;base64,aGVsbG8=")] },
    {
      messages: [
        user([{ type: "image", source: { type: "base64", media_type: "image/png", data: "aGVsbG8=" } }]),
      ],
    },
  ],
  [
    "case 65: an image elsewhere is not fetched",
    TO_CLAUDE,
    { messages: [image("http://127.0.0.1:1/secret.png")] },
    { messages: [user([{ type: "image", source: { type: "url", url: "http://127.0.0.1:1/secret.png" } }])] },
  ],
  [
    "case 66: what nobody misses is left out",
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
  ["case 67: a stop of white space is left out", TO_CLAUDE, { stop: ["\n"] }, { stop_sequences: undefined }],
  ["case 67: the others stay", TO_CLAUDE, { stop: ["\n", "END"] }, { stop_sequences: ["END"] }],
  [
    "case 74: a user that is no short name is hashed",
    TO_GPT,
    { metadata: { user_id: JSON.stringify({ device: "d".repeat(64), session: "s".repeat(36) }) } },
    { user: expect.stringMatching(/^[0-9a-f]{32,64}$/), metadata: undefined },
  ],
];

/** What no upstream of the model understands, and the field that is named. */
export const UNTRANSLATABLE_REQUESTS: readonly (readonly [
  name: string,
  pair: ProtocolPair,
  body: Body,
  path: string,
])[] = [
  [
    "case 65: a drawing",
    TO_CLAUDE,
    { messages: [image("data:image/svg+xml;base64,aGVsbG8=")] },
    "messages[0].content[0]",
  ],
  ["case 66: two answers", TO_CLAUDE, { n: 2 }, "n"],
  ["case 66: probabilities", TO_CLAUDE, { logprobs: true }, "logprobs"],
  ["a search of the web", TO_CLAUDE, { web_search_options: {} }, "web_search_options"],
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
    "servers of tools",
    TO_GPT,
    { mcp_servers: [{ type: "url", url: "https://x.example", name: "x" }] },
    "mcp_servers",
  ],
];
