import { describe, expect, test } from "bun:test";
import {
  parseAmount,
  parseCount,
  parseDays,
  parseEmail,
  parseName,
  parseNames,
  parsePositiveAmount,
  parseTime,
} from "../../src/cli/options.ts";

describe("option values", () => {
  test.each([
    [parseAmount, "0", 0n],
    [parsePositiveAmount, "0.000000001", 1n],
    [parseCount, "0", 0],
    [parseCount, "100000000", 100_000_000],
    [parseDays, "36500", 36_500],
    [parseName, "  Acme & Söhne ", "Acme & Söhne"],
    [parseName, "شركة 👨‍👩‍👧", "شركة 👨‍👩‍👧"],
    [parseEmail, "a+b@acme.example", "a+b@acme.example"],
    [parseNames, "a, b/c,a", ["a", "b/c"]],
    [parseTime, "2024-02-29", Date.UTC(2024, 1, 29)],
    [parseTime, "2026-10-25T02:30+02:00", Date.UTC(2026, 9, 25, 0, 30)],
  ])("%p parses %p", (parse: (text: string) => unknown, text, value) => expect(parse(text)).toEqual(value));

  test.each([
    [parseAmount, "-1"],
    [parseAmount, "1e3"],
    [parseAmount, "5,00"],
    [parsePositiveAmount, "0.00"],
    [parseCount, "-1"],
    [parseCount, "1.5"],
    [parseCount, "0x10"],
    [parseCount, "9007199254740993"],
    [parseDays, "0"],
    [parseDays, "36501"],
    [parseName, "   "],
    [parseName, "a\nb"],
    [parseName, "a\u202eb"],
    [parseName, "a\u2028b"],
    [parseName, "x".repeat(101)],
    [parseEmail, "a@b@c"],
    [parseEmail, "a b@c"],
    [parseNames, "a,,b"],
    [parseNames, ""],
    [parseTime, "2026-02-29"],
    [parseTime, "2026-02-30T08:00Z"],
    [parseTime, "2026-04-31T08:00+02:00"],
    [parseTime, "2026-11-22T08:00"],
    [parseTime, "1969-12-31"],
  ])("%p rejects %p", (parse: (text: string) => unknown, text) => {
    expect(() => parse(text)).toThrow("Expected");
  });
});
