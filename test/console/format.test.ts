import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  formatAligned,
  formatCents,
  formatCompact,
  formatCount,
  formatDuration,
  formatExact,
  formatMs,
  formatPercent,
  formatUsdNumber,
  plural,
  readUsd,
} from "../../src/console/format.ts";
import { printUsd } from "../../src/domain/money.ts";

describe("amounts", () => {
  test.each([
    ["0.0000125", "$0.000013"],
    ["12.5", "$12.500000"],
    ["0.00", "$0.000000"],
    ["0.000000499", "<$0.000001"],
    ["-1234.5", "−$1,234.500000"],
  ])("%s USD has 6 decimals in a column: %s", (usd, shown) => {
    expect(formatAligned(readUsd(usd))).toBe(shown);
  });

  test.each([
    [1.4e-8, "$0.000000014"],
    [-0.00123, "−$0.0012"],
    [0, "$0.00"],
    [0.015, "$0.015"],
    [0.02, "$0.02"],
    [0.0996, "$0.10"],
    [1234.567, "$1,234.57"],
  ])("the computed amount %p is never shown in the scientific form", (value, shown) => {
    expect(formatUsdNumber(value)).toBe(shown);
  });

  test("a number agrees with its noun", () => {
    expect([0, 1, 1_000].map((count) => plural(count, "request"))).toEqual([
      "0 requests",
      "1 request",
      "1,000 requests",
    ]);
  });

  test.each([
    ["0.00", "$0.00"],
    ["5.00", "$5.00"],
    ["1234567.895", "$1,234,567.90"],
    ["0.005", "$0.01"],
    ["0.004999999", "<$0.01"],
    ["0.000000001", "<$0.01"],
    ["-0.000000001", "−<$0.01"],
    ["-0.005", "−$0.01"],
    ["-12.344999999", "−$12.34"],
  ])("%s USD is shown as %s", (usd, shown) => expect(formatCents(readUsd(usd))).toBe(shown));

  test("the exact amount keeps every nano", () => {
    expect(formatExact(1_000_000_000_000_000_001n)).toBe("$1,000,000,000.000000001");
    expect(formatExact(-12_500n)).toBe("−$0.0000125");
  });

  test("every amount of the API is read back as it was printed", () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -4_000_000_000_000_000_000n, max: 4_000_000_000_000_000_000n }),
        (nanos) => {
          expect(readUsd(printUsd(nanos))).toBe(nanos);
        },
      ),
    );
  });

  test.each(["", "-", "--1", "1e3", "NaN", "1.0000000001", "$1"])("%p is no amount", (text) => {
    expect(() => readUsd(text)).toThrow(RangeError);
  });
});

describe("counts and durations", () => {
  test.each([
    [null, "–"],
    [0, "0\u00a0ms"],
    [999.4, "999\u00a0ms"],
    [999.6, "1.00\u00a0s"],
    [1_000, "1.00\u00a0s"],
    [9_996, "10.0\u00a0s"],
    [12_340, "12.3\u00a0s"],
    [59_960, "1\u00a0min 0\u00a0s"],
    [119_700, "2\u00a0min 0\u00a0s"],
    [200_000, "3\u00a0min 20\u00a0s"],
  ])("%p ms is shown as %s", (ms, shown) => expect(formatMs(ms)).toBe(shown));

  test.each([
    [-5, "0 s"],
    [45_000, "45 s"],
    [125_000, "2 min"],
    [3_600_000, "1 h"],
    [11_100_000, "3 h 5 min"],
    [4 * 86_400_000 + 7_200_000, "4 d 2 h"],
  ])("a duration of %p ms is shown as %s", (ms, shown) => expect(formatDuration(ms)).toBe(shown));

  test("counts are grouped, shortened and shared in one way everywhere", () => {
    expect(formatCount(1_234_567)).toBe("1,234,567");
    expect(formatCompact(12_340)).toBe("12.3K");
    expect(formatPercent(0.125)).toBe("12.5%");
  });
});
