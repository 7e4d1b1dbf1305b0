import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  NANOS_MAX,
  parseMarkup,
  parsePrice,
  parseUsd,
  picosToNanos,
  printMarkup,
  printPrice,
  printUsd,
  scalePicos,
} from "../../src/domain/money.ts";

describe("amounts", () => {
  test("an amount survives printing and parsing", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: NANOS_MAX }), (nanos) => {
        expect(parseUsd(printUsd(nanos))).toBe(nanos);
      }),
    );
  });

  test("a price survives printing and parsing", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 9_999_999_999_999_999n }), (price) => {
        expect(parsePrice(printPrice(price))).toBe(price);
      }),
    );
  });

  test("a negative amount is printed with its sign and cannot be parsed", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: NANOS_MAX }), (nanos) => {
        const printed = printUsd(-nanos);
        expect(printed).toBe(`-${printUsd(nanos)}`);
        expect(() => parseUsd(printed)).toThrow(RangeError);
      }),
    );
  });

  test.each([
    [0n, "0.00"],
    [1n, "0.000000001"],
    [12_500n, "0.0000125"],
    [5_000_000_000n, "5.00"],
    [5_100_000_000n, "5.10"],
    [-12_500n, "-0.0000125"],
    [NANOS_MAX, "4000000000.00"],
  ])("%p nano-USD are printed as %p", (nanos, printed) => expect(printUsd(nanos)).toBe(printed));

  test.each([
    "",
    " 5",
    "5 ",
    "+5",
    "-5",
    ".5",
    "5.",
    "5,00",
    "1e3",
    "0x10",
    "٥",
    "NaN",
    "0.0000000001",
    "4000000000.000000001",
    "10000000000",
    "5\n",
  ])("the text %p is rejected as an amount", (text) => expect(() => parseUsd(text)).toThrow(RangeError));

  test("a price with more than six decimals is rejected", () => {
    expect(parsePrice("0.000001")).toBe(1n);
    expect(() => parsePrice("0.0000001")).toThrow(RangeError);
  });

  test.each(["0.0001", "0.99", "1.00", "1.15", "12.3456", "1000.00"])(
    "the markup %p survives printing",
    (text) => expect(printMarkup(parseMarkup(text))).toBe(text),
  );

  test.each(["0", "0.0000", "0.00001", "1000.0001", "-1", "", "1e1"])(
    "the text %p is rejected as a markup",
    (text) => expect(() => parseMarkup(text)).toThrow(RangeError),
  );

  test("a price times a markup is rounded up by less than one pico, and never above int64", () => {
    expect(scalePicos(NANOS_MAX, parseMarkup("1000"))).toBe(NANOS_MAX);
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 15n }),
        fc.bigInt({ min: 1n, max: 10_000_000n }),
        (price, markup) => {
          const excess = scalePicos(price, markup) * 10_000n - price * markup;
          expect(excess >= 0n && excess < 10_000n).toBe(price * markup <= NANOS_MAX * 10_000n);
        },
      ),
    );
  });

  test("picos are rounded up by less than one nano", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), (picos) => {
        const excess = picosToNanos(picos) * 1_000n - picos;
        expect(excess >= 0n && excess < 1_000n).toBe(true);
      }),
    );
  });
});
