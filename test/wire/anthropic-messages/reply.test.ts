import { describe, expect, test } from "bun:test";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { anthropicMessages } from "../../../src/wire/anthropic-messages/format.ts";
import { UpstreamFault } from "../../../src/wire/upstream-fault.ts";
import { requestOf } from "../play.ts";

function read(text: string) {
  return anthropicMessages.readWhole(requestOf(anthropicMessages, { stream: false }), text);
}

function bodyOf(content: unknown, extra: object = {}): string {
  return JSON.stringify({
    id: "m",
    type: "message",
    model: "theirs",
    content,
    stop_reason: "end_turn",
    ...extra,
  });
}

describe("a whole message that passes through", () => {
  test("gets the client's model name and keeps every other byte", () => {
    const text =
      '{ "type":"message","content":[ {"type":"thinking","thinking":"\\u0068m","signature":"c2ln/+=="},{"type":"text","text":"Hi"} ],\n"model" : "theirs","stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":3} }\n';
    expect(read(text)).toEqual({
      text: text.replace('"theirs"', '"asked"'),
      isOutput: true,
      isReadable: true,
      generated: "hmHi",
      usage: { ...NO_USAGE, inputTokens: 10, outputTokens: 3 },
    });
  });

  test.each<[string, unknown[], object, boolean]>([
    ["text", [{ type: "text", text: "Hi" }], {}, true],
    ["no blocks", [], {}, false],
    ["empty text", [{ type: "text", text: "" }], {}, false],
    [
      "thinking alone",
      [
        { type: "thinking", thinking: "hm" },
        { type: "redacted_thinking", data: "eA==" },
      ],
      { stop_reason: "max_tokens" },
      false,
    ],
    ["a tool call", [{ type: "tool_use", name: "f", input: {} }], { stop_reason: "tool_use" }, true],
    ["a refusal without text", [], { stop_reason: "refusal" }, true],
  ])("is classified as readable or not for %s", (_, content, extra, isReadable) => {
    expect(read(bodyOf(content, extra)).isReadable).toBe(isReadable);
  });

  test("counts a tool input as generated, and the result of a server tool not", () => {
    const content = [
      { type: "server_tool_use", name: "search", input: { q: "word" } },
      { type: "web_search_tool_result", content: [{ title: "found" }] },
    ];
    const { generated } = read(bodyOf(content));
    expect(generated).toContain("word");
    expect(generated).not.toContain("found");
  });

  test.each([
    ["HTML", "<html>canary</html>"],
    ["nothing", ""],
    ["an error", '{"type":"error","error":{"type":"api_error","message":"canary"}}'],
    ["an error as a string", '{"error":"canary","content":[]}'],
    ["no content", '{"type":"message","id":"canary"}'],
    ["content as a string", bodyOf("canary")],
    ["no stop reason", bodyOf([{ type: "text", text: "canary" }], { stop_reason: null })],
    ["an error as the stop reason", bodyOf([{ type: "text", text: "canary" }], { stop_reason: "error" })],
  ])("%s is a fault that does not quote the upstream", (_, text) => {
    expect(() => read(text)).toThrow(UpstreamFault);
    expect(() => read(text)).not.toThrow(/canary/);
  });
});

describe("the usage of a whole message", () => {
  const usageOf = (usage: unknown) => read(bodyOf([{ type: "text", text: "Hi" }], { usage })).usage;
  const basic = { input_tokens: 10, output_tokens: 7 };

  test.each<[string, object, object]>([
    [
      "keeps cached tokens apart from input tokens",
      { ...basic, cache_read_input_tokens: 4, cache_creation_input_tokens: 3 },
      { inputTokens: 10, cachedInputTokens: 4, cacheWriteTokens: 3, cacheWrite1hTokens: 0, outputTokens: 7 },
    ],
    [
      "splits cache writes by their lifetime",
      {
        ...basic,
        cache_creation_input_tokens: 9,
        cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 5 },
      },
      { cacheWriteTokens: 4, cacheWrite1hTokens: 5 },
    ],
    [
      "takes the split of cache writes without their sum",
      { ...basic, cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 5 } },
      { cacheWriteTokens: 4, cacheWrite1hTokens: 5 },
    ],
    [
      "counts a sum without a split as five-minute writes",
      { ...basic, cache_creation_input_tokens: 9, cache_creation: null },
      { cacheWriteTokens: 9, cacheWrite1hTokens: 0 },
    ],
    [
      "counts a split that exceeds the sum",
      {
        ...basic,
        cache_creation_input_tokens: 10,
        cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 500 },
      },
      { inputTokens: 10, cacheWriteTokens: 4, cacheWrite1hTokens: 500 },
    ],
    [
      "ignores cached tokens that are no count",
      { ...basic, cache_read_input_tokens: "4", cache_creation_input_tokens: -1 },
      { inputTokens: 10, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 7 },
    ],
    [
      "keeps one total when the other is missing",
      { input_tokens: 10 },
      { inputTokens: 10, outputTokens: Number.NaN },
    ],
    [
      "passes implausible totals through",
      { input_tokens: -1, output_tokens: 0.5 },
      { inputTokens: -1, outputTokens: 0.5 },
    ],
  ])("%s", (_, usage, expected) => expect(usageOf(usage)).toMatchObject(expected));

  test.each([
    { usage: undefined },
    { usage: null },
    { usage: [] },
    { usage: {} },
    { usage: { input_tokens: "10" } },
  ])("is undefined without a readable total, row %#", ({ usage }) => expect(usageOf(usage)).toBeUndefined());
});
