import { describe, expect, test } from "bun:test";
import { ANSWER_MAX, EVENT_MAX, parseJsonObject } from "../../src/wire/json/read.ts";

describe("parseJsonObject", () => {
  test.each([
    ["30,001 members", `{${members(30_001)}}`],
    ["100,001 values", `{"a":[${"0,".repeat(100_001)}0]}`],
    ["half a million escapes", `{"a":"${"\\n".repeat(500_001)}"}`],
    ["a number of 40,000 digits", `{"a":${"1".repeat(40_000)}}`],
  ])("rejects a text with %s by default", (_, text) => expect(parseJsonObject(text)).toBeUndefined());

  test.each([
    ["250,001 members", `{${members(250_001)}}`],
    ["a million values", `{"a":[${"0,".repeat(1_000_001)}0]}`],
    ["half a million escapes", `{"a":"${"\\n".repeat(500_001)}"}`],
  ])("rejects a stream event with %s", (_, text) => expect(parseJsonObject(text, EVENT_MAX)).toBeUndefined());

  test("accepts an image of megabytes and a long text with line feeds", () => {
    const text = JSON.stringify({ image: "A".repeat(12_000_000), text: "a line\n".repeat(400_000) });
    expect(parseJsonObject(text)?.image).toHaveLength(12_000_000);
  });

  test("accepts a whole answer with millions of log probabilities", () => {
    const text = `{"a":[${"0,".repeat(3_000_000)}0]}`;
    expect(parseJsonObject(text, ANSWER_MAX)?.a).toHaveLength(3_000_001);
  });
});

function members(count: number): string {
  return Array.from({ length: count }, (_, index) => `"k${index}":1`).join(",");
}
