import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { costOf, type Price, scalePrice } from "../../src/domain/model.ts";
import {
  answeredUnit,
  dearestUnit,
  findUnpriced,
  printUnitPrice,
  type UnitKind,
  type UnitPrice,
} from "../../src/domain/units.ts";
import { NO_USAGE } from "../../src/domain/usage.ts";

const PLAIN: UnitPrice = {
  name: "image",
  picos: 80n,
  variants: [
    { size: "1024x1024", quality: undefined, picos: 40n },
    { size: "1024x1792", quality: undefined, picos: 60n },
    { size: "1024x1024", quality: "hd", picos: 80n },
  ],
};
const NAMED: UnitPrice = {
  name: "image",
  picos: 30n,
  variants: [
    { size: "1024x1024", quality: "low", picos: 10n },
    { size: "1024x1024", quality: "high", picos: 30n },
  ],
};

describe("the price of an image", () => {
  test.each<[UnitPrice, UnitKind, bigint]>([
    [PLAIN, { size: "1024x1024" }, 40n],
    [PLAIN, { size: "1024x1024", quality: "standard" }, 40n],
    [PLAIN, { size: "1024x1024", quality: "hd" }, 80n],
    [PLAIN, { size: "1024x1024", quality: "auto" }, 80n],
    [PLAIN, {}, 60n],
    [PLAIN, { size: "auto", quality: "auto" }, 80n],
    [NAMED, { size: "1024x1024" }, 30n],
    [NAMED, { quality: "low" }, 10n],
  ])("is held at its dearest: %p, %p", (price, kind, dearest) => {
    expect(findUnpriced(price, kind)).toBeUndefined();
    expect(dearestUnit(price, kind)).toBe(dearest);
  });

  test.each<[UnitPrice, UnitKind, "size" | "quality"]>([
    [PLAIN, { size: "512x512" }, "size"],
    [PLAIN, { size: "512x512", quality: "hd" }, "size"],
    [PLAIN, { size: "1024x1792", quality: "hd" }, "quality"],
    [PLAIN, { quality: "ultra" }, "quality"],
    [NAMED, { size: "1024x1024", quality: "standard" }, "quality"],
  ])("is missing by the name of the field: %p, %p", (price, kind, field) => {
    expect(findUnpriced(price, kind)).toBe(field);
  });

  test("is that of the reported kind, and never of one that the request excluded", () => {
    const reported = { size: "1024x1024", quality: "hd" };
    expect(answeredUnit(PLAIN, { quality: "auto" }, reported).picos).toBe(80n);
    expect(answeredUnit(PLAIN, { size: "1024x1024" }, reported).picos).toBe(40n);
    expect(answeredUnit(PLAIN, {}, { size: "9x9" }).picos).toBe(40n);
  });

  test("is that of the first kind that the request allowed, as far as the answer names none", () => {
    const [plain, tall, hd] = PLAIN.variants ?? [];
    if (!plain || !tall || !hd) throw new Error("The price has three kinds");
    const price: UnitPrice = { ...PLAIN, variants: [hd, plain, tall] };
    const any = { size: "auto", quality: "auto" };
    expect(answeredUnit(price, any, {}).picos).toBe(80n);
    expect(answeredUnit(price, any, undefined).picos).toBe(80n);
    expect(answeredUnit(price, any, { size: "1024x1024" }).picos).toBe(80n);
    expect(answeredUnit(price, any, { size: "1024x1024", quality: "standard" }).picos).toBe(40n);
    expect(answeredUnit(price, any, { size: "1024x1792" }).picos).toBe(60n);
    expect(answeredUnit(price, { size: "1024x1024" }, {}).picos).toBe(40n);
  });

  test("is never above what is held", () => {
    const sizes = fc.constantFrom(undefined, "auto", "1024x1024", "1024x1792", "512x512");
    const qualities = fc.constantFrom(undefined, "auto", "standard", "hd", "low", "high");
    const kind = fc.record({ size: sizes, quality: qualities });
    fc.assert(
      fc.property(fc.constantFrom(PLAIN, NAMED), kind, kind, (price, asked, reported) => {
        if (findUnpriced(price, asked) !== undefined) return;
        expect(answeredUnit(price, asked, reported).picos).toBeLessThanOrEqual(dearestUnit(price, asked));
      }),
    );
  });

  test("is printed exactly, with its kinds", () => {
    expect(printUnitPrice(PLAIN)).toEqual({
      unit: "image",
      usd: "0.00000000008",
      kinds: { "1024x1024": "0.00000000004", "1024x1792": "0.00000000006", "1024x1024 hd": "0.00000000008" },
    });
  });
});

test("units cost their number times their price, rounded up once, at any markup", () => {
  const free = { input: 0n, output: 0n, cachedInput: 0n, cacheWrite: 0n, cacheWrite1h: 0n };
  fc.assert(
    fc.property(
      fc.nat(1_000_000),
      fc.bigInt(0n, 10n ** 12n),
      fc.bigInt(1n, 100_000n),
      (units, picos, markup) => {
        const price: Price = { ...free, unit: { name: "second", picos } };
        const scaled = (picos * markup + 9_999n) / 10_000n;
        expect(costOf({ ...NO_USAGE, units }, price)).toBe((BigInt(units) * picos + 999n) / 1_000n);
        expect(costOf({ ...NO_USAGE, units }, scalePrice(price, markup))).toBe(
          (BigInt(units) * scaled + 999n) / 1_000n,
        );
      },
    ),
  );
});
