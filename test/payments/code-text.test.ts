import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createCode, digestOfCode, hintOfCode, parseCode, printCode } from "../../src/payments/code-text.ts";

describe("the text of a redeem code", () => {
  test("has 20 symbols in four groups", () =>
    expect(printCode(createCode())).toMatch(/^[0-9A-HJKMNP-TV-Z]{5}(-[0-9A-HJKMNP-TV-Z]{5}){3}$/));

  test("uses every symbol about equally often", () => {
    const counts = new Map<string, number>();
    for (const symbol of Array.from({ length: 4_000 }, createCode).join("")) {
      counts.set(symbol, (counts.get(symbol) ?? 0) + 1);
    }
    expect(counts.size).toBe(32);
    // 80,000 symbols, 2,500 each: a count beyond 8 standard deviations is no chance.
    for (const count of counts.values()) expect(Math.abs(count - 2_500)).toBeLessThan(400);
  });

  test("is read in any case, with blanks and hyphens anywhere, and with I, L and O for 1 and 0", () => {
    const code = "01ABCDEFGHJKMNPQRS10";
    const typed = ["01abc-defgh-jkmnp-qrs10", " OIABC DEFGH\tJKMNP QRSLO\n", "olABC--DEFGHJKMNPQRS-iO"];
    for (const text of typed) expect(parseCode(text)).toBe(code);
  });

  test("survives printing and reading", () => {
    const code = fc.constant(undefined).map(() => createCode());
    fc.assert(fc.property(code, (made) => parseCode(printCode(made).toLowerCase()) === made));
  });

  test("is not read from any other text", () => {
    const code = createCode();
    const others = [
      "",
      code.slice(1),
      `${code}0`,
      `${code.slice(1)}U`,
      `${code.slice(1)}ı`,
      `${code.slice(1)}ſ`,
    ];
    for (const text of [...others, `${code.slice(1)}.`, `${code}'--;`, "%", "Ａ".repeat(20)]) {
      expect(parseCode(text)).toBeUndefined();
    }
  });

  test("is stored as a digest and a hint of 5 symbols", () => {
    const code = "7K3QM00XYZABCDE12345";
    expect(hintOfCode(code)).toBe("7K3QM");
    expect(digestOfCode(code)).toMatch(/^[0-9a-f]{64}$/);
  });
});
