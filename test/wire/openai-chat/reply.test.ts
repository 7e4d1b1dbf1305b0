import { describe, expect, test } from "bun:test";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { openaiChat } from "../../../src/wire/openai-chat/format.ts";
import { UpstreamFault } from "../../../src/wire/upstream-fault.ts";
import { requestOf } from "../play.ts";

const USAGE = { prompt_tokens: 10, completion_tokens: 3 };

function read(text: string) {
  return openaiChat.readWhole(requestOf(openaiChat, { stream: false }), text);
}

function bodyOf(message: object, finish: unknown = "stop", extra: object = {}): string {
  return JSON.stringify({
    id: "c",
    model: "theirs",
    choices: [{ index: 0, message, finish_reason: finish }],
    ...extra,
  });
}

function finishOf(text: string): unknown {
  return JSON.parse(read(text).text).choices[0].finish_reason;
}

describe("readWhole", () => {
  test("changes only the bytes of the model's name", () => {
    const text =
      '{\n "usage": {"prompt_tokens":10, "completion_tokens":3}, "x": 1.0,\n "choices" : [ {"message":{"content":"\\u0048i, model"},"finish_reason":"stop"} ], "model": "theirs"\n}\n';
    expect(read(text)).toEqual({
      text: text.replace('"theirs"', '"asked"'),
      isOutput: true,
      isReadable: true,
      generated: "Hi, model",
      usage: { ...NO_USAGE, inputTokens: 10, outputTokens: 3 },
    });
  });

  test.each<[string, object, string, boolean]>([
    ["text", { content: "Hi" }, "stop", true],
    ["an empty text", { content: "" }, "stop", false],
    ["null", { content: null }, "stop", false],
    ["reasoning alone", { content: "", reasoning_content: "hm" }, "length", false],
    ["a refusal", { content: null, refusal: "No" }, "stop", true],
    [
      "a tool call",
      { content: null, tool_calls: [{ id: "a", function: { name: "f", arguments: "" } }] },
      "tool_calls",
      true,
    ],
    ["a deprecated function_call", { content: null, function_call: { name: "f" } }, "function_call", true],
    ["a content filter", { content: null }, "content_filter", true],
  ])("reports whether an answer is readable: %s", (_, message, finish, isReadable) => {
    expect(read(bodyOf(message, finish)).isReadable).toBe(isReadable);
  });

  test("reads the generated text of every choice", () => {
    const message = {
      content: "b",
      reasoning: "a",
      tool_calls: [{ function: { name: "f", arguments: "{}" } }],
    };
    const choices = [
      { message, finish_reason: "tool_calls" },
      { message: { content: "c" }, finish_reason: "stop" },
    ];
    expect(read(JSON.stringify({ choices })).generated).toBe("abf{}c");
  });

  test("replaces finish reasons that clients do not know", () => {
    expect(finishOf(bodyOf({ content: "Hi" }, "end_turn"))).toBe("stop");
    expect(finishOf(bodyOf({ content: "Hi" }, "max_tokens"))).toBe("length");
    const called = { content: null, tool_calls: [{ id: "a", function: { name: "f", arguments: "" } }] };
    expect(finishOf(bodyOf(called, "stop"))).toBe("tool_calls");
  });

  test.each([
    ["HTML", "<html>canary</html>"],
    ["an empty text", ""],
    ["null", "null"],
    ["a list", "[]"],
    ["an error", '{"error":{"message":"canary"}}'],
    ["an error beside choices", bodyOf({ content: "Hi" }, "stop", { error: { message: "canary" } })],
    [
      "an error of the choice",
      '{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop","error":{"message":"canary"}}]}',
    ],
    [
      "millions of values",
      `{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}],"x":[${"0,".repeat(4_000_000)}0]}`,
    ],
    ["no choices", '{"id":"canary"}'],
    ["an empty list of choices", '{"choices":[]}'],
    ["a choice without a message", '{"choices":[{"finish_reason":"stop","text":"canary"}]}'],
    ["a choice that is not an object", '{"choices":["canary"]}'],
    ["no finish", bodyOf({ content: "Hi" }, null)],
    ["an error finish", bodyOf({ content: "Hi" }, "error")],
    ["a body that is cut off", bodyOf({ content: "Hi" }).slice(0, -9)],
  ])("throws an UpstreamFault without text of the upstream for %s", (_, text) => {
    expect(() => read(text)).toThrow(UpstreamFault);
    expect(() => read(text)).not.toThrow(/canary/);
  });
});

describe("usage", () => {
  const usageOf = (usage: unknown) => read(bodyOf({ content: "Hi" }, "stop", { usage })).usage;

  test.each<[string, unknown, object]>([
    [
      "subtracts cached and written tokens from the prompt",
      {
        prompt_tokens: 17,
        completion_tokens: 7,
        prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 },
      },
      { inputTokens: 10, cachedInputTokens: 4, cacheWriteTokens: 3, outputTokens: 7 },
    ],
    [
      "reads DeepSeek's name of cached tokens",
      { ...USAGE, prompt_cache_hit_tokens: 4 },
      { inputTokens: 6, cachedInputTokens: 4 },
    ],
    [
      "counts cached tokens under two names once",
      { ...USAGE, prompt_tokens_details: { cached_tokens: 4 }, prompt_cache_hit_tokens: 4 },
      { inputTokens: 6, cachedInputTokens: 4 },
    ],
    [
      "reads zero as reported",
      { prompt_tokens: 0, completion_tokens: 0 },
      { inputTokens: 0, outputTokens: 0 },
    ],
    ["reads null details as omitted", { ...USAGE, prompt_tokens_details: null }, { inputTokens: 10 }],
    [
      "keeps impossible numbers",
      { prompt_tokens: -5, completion_tokens: 1.5 },
      { inputTokens: -5, outputTokens: 1.5 },
    ],
    [
      "does not subtract more cached tokens than the prompt has",
      { ...USAGE, prompt_tokens_details: { cached_tokens: 11 } },
      { inputTokens: 10, cachedInputTokens: 11 },
    ],
    [
      "ignores cached tokens that are not a number",
      { ...USAGE, prompt_tokens_details: { cached_tokens: "4" } },
      { inputTokens: 10, cachedInputTokens: 0 },
    ],
    [
      "keeps one total if the other is missing",
      { prompt_tokens: 10 },
      { inputTokens: 10, outputTokens: Number.NaN },
    ],
    [
      "keeps one total if the other is not a number",
      { prompt_tokens: "10", completion_tokens: 3 },
      { inputTokens: Number.NaN, outputTokens: 3 },
    ],
  ])("%s", (_, usage, expected) => expect(usageOf(usage)).toMatchObject(expected));

  test.each([
    { usage: undefined },
    { usage: null },
    { usage: [] },
    { usage: "10" },
    { usage: {} },
    { usage: { prompt_tokens: "10", completion_tokens: null } },
  ])("is undefined in row %#", ({ usage }) => expect(usageOf(usage)).toBeUndefined());
});
