import { describe, expect, test } from "bun:test";
import {
  printCount,
  printCountRequest,
  readCount,
} from "../../../src/wire/anthropic-messages/count-tokens.ts";
import { anthropicMessages } from "../../../src/wire/anthropic-messages/format.ts";

describe("printCountRequest", () => {
  test("replaces the model name and keeps every other byte", () => {
    const text =
      '{ "messages":[{"role":"user","content":"caf\\u00e9 \\/"}], "model" : "asked","thinking":{"type":"adaptive"},"x":1.0 }';
    const request = anthropicMessages.parseRequest(text);
    expect(printCountRequest(request, { model: "theirs" })).toBe(text.replace('"asked"', '"theirs"'));
  });
});

describe("readCount", () => {
  test("reads the count that printCount prints", () => {
    for (const tokens of [0, 1, 212_384]) expect(readCount(printCount(tokens))).toBe(tokens);
  });

  test("ignores other fields of an upstream's answer", () =>
    expect(readCount('{"input_tokens":7,"context_management":{"original_input_tokens":9}}')).toBe(7));

  test.each([
    "",
    "null",
    "[7]",
    "7",
    "{}",
    '{"input_tokens":null}',
    '{"input_tokens":"7"}',
    '{"input_tokens":-1}',
    '{"input_tokens":7.5}',
    '{"input_tokens":1e300}',
    '{"input_tokens":7',
    '{"type":"error","error":{"message":"no"}}',
    "[".repeat(60_000),
  ])("returns undefined for %p", (text) => expect(readCount(text)).toBeUndefined());
});
