import { describe, expect, test } from "bun:test";
import { anthropicMessages } from "../../../src/wire/anthropic-messages/format.ts";
import { errorOf } from "../play.ts";

const MESSAGES = [{ role: "user", content: "hi" }];
const DATA = "A".repeat(30_000);
const IMAGE = { type: "image", source: { type: "base64", media_type: "image/png", data: DATA } };

function parse(members: object) {
  return anthropicMessages.parseRequest(JSON.stringify({ model: "m", messages: MESSAGES, ...members }));
}

function inputOf(...content: unknown[]) {
  return parse({ messages: [{ role: "user", content }] }).input;
}

describe("parseRequest", () => {
  test("reads the facts that the gateway needs", () => {
    const thinking = { type: "enabled", budget_tokens: 31_999 };
    expect(parse({ max_tokens: 32_000, stream: true, thinking })).toMatchObject({
      model: "m",
      stream: true,
      outputTokensMax: 32_000,
      thinkingTokens: 31_999,
      choices: 1,
      wantsUsage: true,
    });
  });

  test("accepts a request without an output limit", () => expect(parse({}).outputTokensMax).toBeUndefined());

  test("accepts a coding agent's request with system messages, adaptive thinking and context management", () => {
    const request = parse({
      system: [
        { type: "text", text: "x-header: 1" },
        { type: "text", text: "rules", cache_control: { type: "ephemeral" } },
      ],
      messages: [...MESSAGES, { role: "system", content: "environment" }],
      max_tokens: 32_000,
      thinking: { type: "adaptive", display: "omitted" },
      context_management: { edits: [] },
      output_config: { effort: "high" },
      metadata: { user_id: '{"device":"d"}' },
      tools: [{ name: "Bash", description: "run", input_schema: { type: "object" }, defer_loading: true }],
      stream: true,
    });
    expect(request).toMatchObject({ thinkingTokens: 0, input: { images: 0, unbounded: false } });
    for (const word of ["rules", "environment", "hi", "Bash", "run"])
      expect(request.promptText()).toContain(word);
  });

  test.each<[string, object]>([
    ["max_tokens", { max_tokens: -1 }],
    ["max_tokens", { max_tokens: "9" }],
    ["thinking", { thinking: "on" }],
    ["tools", { tools: {} }],
    ["messages[0].role", { messages: [{ content: "hi" }] }],
  ])("throws wrong_shape for %s in %j", (path, members) => {
    const error = errorOf(anthropicMessages, { model: "m", messages: MESSAGES, ...members });
    expect(error.kind).toBe("wrong_shape");
    expect(error.publicMessage).toEndWith(`: ${path}`);
  });

  test.each<[string, object]>([
    ["service_tier", { service_tier: "priority", speed: "fast" }],
    ["speed", { speed: "turbo" }],
    ["inference_geo", { inference_geo: "eu" }],
  ])("throws unpriced_field for %s when it changes the price", (path, members) => {
    const error = errorOf(anthropicMessages, { model: "m", messages: MESSAGES, ...members });
    expect(error.kind).toBe("unpriced_field");
    expect(error.publicMessage).toEndWith(`: ${path}`);
  });
});

describe("the input size", () => {
  test("counts inline images apart from the text, even in tool results", () => {
    const input = inputOf(IMAGE, {
      type: "tool_result",
      tool_use_id: "t",
      content: [IMAGE, { type: "text", text: "x" }],
    });
    expect(input).toMatchObject({ images: 2, unbounded: false });
    expect(input.textBytes).toBeLessThan(500);
  });

  test("counts an image by address or by file id", () => {
    const input = inputOf(
      { type: "image", source: { type: "url", url: "https://example.com" } },
      { type: "image", source: { type: "file", file_id: "f" } },
    );
    expect(input).toMatchObject({ images: 2, unbounded: false });
  });

  test("never excludes data that a model reads as text", () => {
    const blocks = [
      { type: "text", text: DATA },
      { type: "text", text: "hi", source: IMAGE.source },
      { type: "tool_use", id: "t", name: "f", input: { content: [IMAGE] } },
      { type: "tool_result", tool_use_id: "t", content: DATA },
      { type: "document", source: { type: "text", media_type: "image/png", data: DATA } },
    ];
    for (const block of blocks) {
      const input = inputOf(block);
      expect(input.textBytes).toBeGreaterThan(30_000);
      expect(input).toMatchObject({ images: 0, unbounded: false });
    }
  });

  test.each<[string, object]>([
    [
      "an inline document",
      { type: "document", source: { type: "base64", media_type: "application/pdf", data: "AA" } },
    ],
    ["a remote document", { type: "document", source: { type: "url", url: "https://example.com" } }],
    ["a document by id", { type: "document", source: { type: "file", file_id: "f" } }],
    [
      "a document in a tool result",
      { type: "tool_result", content: [{ type: "document", source: { type: "url" } }] },
    ],
    [
      "an image of a document type",
      { type: "image", source: { type: "base64", media_type: "application/pdf", data: "AA" } },
    ],
    ["a container upload", { type: "container_upload", file_id: "f" }],
    ["a fetched page", { type: "web_fetch_tool_result", content: {} }],
    ["an unknown block", { type: "hologram" }],
    [
      "deeply nested results",
      {
        type: "tool_result",
        content: [
          {
            type: "tool_result",
            content: [
              {
                type: "tool_result",
                content: [{ type: "tool_result", content: [{ type: "tool_result", content: [] }] }],
              },
            ],
          },
        ],
      },
    ],
  ])("is unbounded with %s", (_, block) => expect(inputOf(block).unbounded).toBe(true));

  test.each<[string, object]>([
    ["an MCP server", { mcp_servers: [{ url: "https://example.com" }] }],
    ["a new container", { container: { skills: [] } }],
    ["a document in the system prompt", { system: [{ type: "document", source: { type: "url" } }] }],
  ])("is unbounded with %s", (_, members) => expect(parse(members).input.unbounded).toBe(true));

  test("reports a tool that runs at the upstream", () => {
    const tools = [{ type: "web_search_20250305", name: "web_search" }];
    expect(parse({ tools }).input).toMatchObject({ serverTools: true, unbounded: false });
  });

  test("reports the tools of an MCP server as running at the upstream", () =>
    expect(parse({ mcp_servers: [{ url: "https://example.com" }] }).input.serverTools).toBe(true));

  test.each([
    [[{ type: "compact_20260112" }], 2],
    [[{ type: "clear_tool_uses_20250919" }], 1],
    [[], 1],
  ])("with the context edits %j counts %p readings", (edits, readings) => {
    expect(parse({ context_management: { edits } }).input.readings).toBe(readings);
  });

  test("is bounded for documents whose text is in the body", () => {
    const content = [{ type: "text", text: "x" }, IMAGE];
    expect(inputOf({ type: "document", source: { type: "content", content } })).toMatchObject({
      images: 1,
      unbounded: false,
    });
  });
});

describe("printUpstreamRequest", () => {
  const print = (text: string) =>
    anthropicMessages.printUpstreamRequest(anthropicMessages.parseRequest(text), {
      model: "up",
      outputTokensMax: 50,
      outputLimitField: "max_completion_tokens",
    });

  test("replaces the model and the output limit and keeps every other byte", () => {
    const text =
      '{"thinking":{"type":"enabled","budget_tokens":1024},\n"model":"m","max_tokens":100,"messages":[ {"role":"user"} ]}';
    expect(print(text)).toBe(text.replace('"m"', '"up"').replace(":100", ":50"));
  });

  test("adds an output limit that is missing or null", () => {
    expect(JSON.parse(print('{"model":"m","messages":[{"role":"user"}]}'))).toMatchObject({ max_tokens: 50 });
    expect(JSON.parse(print('{"model":"m","max_tokens":null,"messages":[{"role":"user"}]}'))).toMatchObject({
      max_tokens: 50,
    });
  });

  test("sends a repeated field once, with the value that was checked", () => {
    const body = print('{"speed":"fast","model":"m","messages":[{"role":"user"}],"speed":"standard"}');
    expect(body).toBe('{"speed":"standard","model":"up","messages":[{"role":"user"}],"max_tokens":50}');
  });
});
