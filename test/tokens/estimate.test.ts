import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { countPieces, estimateTokens } from "../../src/tokens/estimate.ts";

const inTime = () => false;

function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  countPieces(text, (piece) => pieces.push(piece), inTime);
  return pieces;
}

describe("estimateTokens", () => {
  test.each([
    ["", 0],
    ["a", 1],
    ["abcd", 1],
    ["abcde", 2],
    ["汉", 1],
    ["😀a", 2],
  ])("returns for %p %p tokens", (text, expected) => expect(estimateTokens(text)).toBe(expected));
});

describe("countPieces", () => {
  test("cuts a text into pieces of at most 256 characters that join to the text", () => {
    const texts = fc.string({ unit: "binary", maxLength: 3000, size: "max" });
    fc.assert(
      fc.property(texts, (text) => {
        const pieces = piecesOf(text);
        expect(pieces.join("")).toBe(text);
        expect(pieces.every((piece) => piece.length > 0 && piece.length <= 256)).toBe(true);
      }),
    );
  });

  test("never cuts a surrogate pair", () => {
    for (const shift of ["", "a"]) {
      expect(piecesOf(shift + "😀".repeat(1000)).every((piece) => piece.isWellFormed())).toBe(true);
    }
  });

  test("cuts before a space where there is one", () => {
    const pieces = piecesOf("some words of different lengths ".repeat(50));
    expect(pieces.slice(1).every((piece) => piece.startsWith(" "))).toBe(true);
  });

  test("estimates the rest of a text once it is late", () => {
    let looks = 0;
    const tokens = countPieces(
      "a".repeat(1024),
      () => 1,
      () => ++looks > 2,
    );
    expect(tokens).toBe(2 + 512 / 4);
  });
});
