import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { O200K_TOKEN_SPLIT_REGEX } from "gpt-tokenizer/encodingParams/constants";
import { countByVocabulary, NO_TOKEN, readVocabulary } from "../../src/tokens/vocabulary.ts";

const FILE = readFileSync(new URL(import.meta.resolve("gpt-tokenizer/data/o200k_base.tiktoken")));
const vocabulary = readVocabulary(FILE);
const count = countByVocabulary(vocabulary, O200K_TOKEN_SPLIT_REGEX);
const exact = (text: string) => countTokens(text, { disallowedSpecial: new Set() });

describe("readVocabulary", () => {
  test("gives every token the rank of its line", () => {
    const lines = FILE.toString().trimEnd().split("\n");
    expect(lines).toHaveLength(199_998);
    const wrong = lines.filter((line, rank) => {
      const bytes = Buffer.from(line.split(" ")[0] ?? "", "base64");
      return vocabulary.rankOf(bytes, 0, bytes.length) !== rank;
    });
    expect(wrong).toEqual([]);
  });

  test("gives no rank to bytes that are no token", () => {
    const bytes = Buffer.from("zzqqxxzzqqxx");
    expect(vocabulary.rankOf(bytes, 0, bytes.length)).toBe(NO_TOKEN);
    expect(vocabulary.rankOf(bytes, 3, 3)).toBe(NO_TOKEN);
  });

  test.each([["IQ== 1\n"], ["IQ== 0\nIg== 0\n"], ["IQ==\n"]])(
    "throws RangeError for a file with other ranks: %j",
    (text) => expect(() => readVocabulary(Buffer.from(text))).toThrow(RangeError),
  );
});

describe("countByVocabulary", () => {
  test("counts any text as the library does", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), (text) => {
        expect(count(text)).toBe(exact(text));
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ["no text", ""],
    ["500 times one letter", "a".repeat(500)],
    ["letters without words", "qzxjwvkqzxjvwkqjzx".repeat(20)],
    ["Chinese", "今天天气很好，我们去公园散步吧。".repeat(5)],
    ["emoji of several parts", "👩‍👩‍👧‍👦🏳️‍🌈".repeat(10)],
    ["spaces and line feeds", "  \n\t \r\n\n   x "],
    ["a special token", "a <|endoftext|> b <|im_start|>"],
    ["contractions", "I'll they'RE o'clock it's"],
    ["code", readFileSync(import.meta.path, "utf8")],
  ])("counts %s as the library does", (_name, text) => expect(count(text)).toBe(exact(text)));
});
