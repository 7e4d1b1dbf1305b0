import { describe, expect, test } from "bun:test";
import { anthropicMessages } from "../../../src/wire/anthropic-messages/protocol.ts";
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

describe("readWhole", () => {
  test("changes the model's name and not a byte besides", () => {
    const text =
      '{ "type":"message","content":[ {"type":"thinking","thinking":"\\u0068m","signature":"c2ln/+=="},{"type":"text","text":"Hi"} ],\n"model" : "theirs","stop_reason":"end_turn","usage":{"input_tokens":10,"output_tokens":3} }\n';
    expect(read(text)).toEqual({
      text: text.replace('"theirs"', '"asked"'),
      isOutput: true,
      isReadable: true,
      generated: "hmHi",
      usage: {
        inputTokens: 10,
        cachedInputTokens: 0,
        cacheWriteTokens: 0,
        cacheWrite1hTokens: 0,
        outputTokens: 3,
      },
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
  ])("%s: readable or not", (_, content, extra, isReadable) => {
    expect(read(bodyOf(content, extra)).isReadable).toBe(isReadable);
  });

  test("reads a tool's input as generated, and what a server tool found as not", () => {
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
    ["an error of another kind", '{"error":"canary","content":[]}'],
    ["no content", '{"type":"message","id":"canary"}'],
    ["content that is no list", bodyOf("canary")],
    ["no stop reason", bodyOf([{ type: "text", text: "canary" }], { stop_reason: null })],
    ["an error as the stop reason", bodyOf([{ type: "text", text: "canary" }], { stop_reason: "error" })],
  ])("%s is a fault, and says nothing of what the upstream said", (_, text) => {
    expect(() => read(text)).toThrow(UpstreamFault);
    expect(() => read(text)).not.toThrow(/canary/);
  });
});

describe("usage", () => {
  const usageOf = (usage: unknown) => read(bodyOf([{ type: "text", text: "Hi" }], { usage })).usage;
  const basic = { input_tokens: 10, output_tokens: 7 };

  test.each<[string, object, object]>([
    [
      "cached tokens are apart from the input's",
      { ...basic, cache_read_input_tokens: 4, cache_creation_input_tokens: 3 },
      { inputTokens: 10, cachedInputTokens: 4, cacheWriteTokens: 3, cacheWrite1hTokens: 0, outputTokens: 7 },
    ],
    [
      "cache writes are split by how long they live",
      {
        ...basic,
        cache_creation_input_tokens: 9,
        cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 5 },
      },
      { cacheWriteTokens: 4, cacheWrite1hTokens: 5 },
    ],
    [
      "the split alone is enough",
      { ...basic, cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 5 } },
      { cacheWriteTokens: 4, cacheWrite1hTokens: 5 },
    ],
    [
      "the sum alone is short-lived",
      { ...basic, cache_creation_input_tokens: 9, cache_creation: null },
      { cacheWriteTokens: 9, cacheWrite1hTokens: 0 },
    ],
    [
      "a split of more than the sum counts as it is",
      {
        ...basic,
        cache_creation_input_tokens: 10,
        cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 500 },
      },
      { inputTokens: 10, cacheWriteTokens: 4, cacheWrite1hTokens: 500 },
    ],
    [
      "cached tokens that are no number leave the totals as they are",
      { ...basic, cache_read_input_tokens: "4", cache_creation_input_tokens: -1 },
      { inputTokens: 10, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 7 },
    ],
    [
      "a missing total leaves the other one as it is",
      { input_tokens: 10 },
      { inputTokens: 10, outputTokens: Number.NaN },
    ],
    [
      "absurd numbers are passed on as they are",
      { input_tokens: -1, output_tokens: 0.5 },
      { inputTokens: -1, outputTokens: 0.5 },
    ],
  ])("%s", (_, usage, expected) => {
    expect(usageOf(usage)).toMatchObject(expected);
  });

  test.each([
    { usage: undefined },
    { usage: null },
    { usage: [] },
    { usage: {} },
    { usage: { input_tokens: "10" } },
  ])("row %# is none that can be read", ({ usage }) => {
    expect(usageOf(usage)).toBeUndefined();
  });
});
