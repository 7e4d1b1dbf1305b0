import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { bytesOf, createByteCollector, decodeBlocks } from "../../src/domain/byte-blocks.ts";

describe("a byte collector", () => {
  test("returns the pieces in order, however they are cut", () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.integer({ min: 60_000, max: 200_000 }).map((length) => new Uint8Array(length).fill(length % 251)),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const collector = createByteCollector();
        for (const each of pieces) collector.add(each);
        const whole = Buffer.concat(pieces);
        expect(collector.bytes).toBe(whole.byteLength);
        const blocks = collector.take();
        expect(bytesOf(blocks)).toBe(whole.byteLength);
        expect(Buffer.concat(blocks).equals(whole)).toBe(true);
        expect(collector.bytes).toBe(0);
      }),
      { numRuns: 60 },
    );
  });

  test("does not copy a single piece unless its buffer is larger", () => {
    const shared = new Uint8Array(8).subarray(2, 6);
    const own = new Uint8Array(4);
    const takeOne = (piece: Uint8Array) => {
      const collector = createByteCollector();
      collector.add(piece);
      return collector.take()[0]?.buffer;
    };
    expect(takeOne(own)).toBe(own.buffer);
    expect(takeOne(shared)).not.toBe(shared.buffer);
  });

  test("needs fewer than 12 blocks for a million pieces of one byte", () => {
    const collector = createByteCollector();
    for (let left = 1_000_000; left > 0; left -= 1) collector.add(new Uint8Array([left & 0xff]));
    const blocks = collector.take();
    expect(blocks.length).toBeLessThan(12);
    expect(bytesOf(blocks.map(({ buffer }) => new Uint8Array(buffer)))).toBeLessThan(2_100_000);
  });
});

describe("decodeBlocks", () => {
  test("returns the whole text, even when a block ends within a character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), fc.array(fc.nat(80)), (text, cuts) => {
        const bytes = Buffer.from(text.toWellFormed());
        const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
        const blocks = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
        const whole = new TextDecoder().decode(bytes);
        expect(decodeBlocks(blocks, { fatal: true })).toBe(whole);
      }),
    );
  });

  test.each([
    ["a byte that starts no character", [new Uint8Array([0x61]), new Uint8Array([0xff])]],
    ["a character cut off by its block", [new Uint8Array([0x61, 0xc3]), new Uint8Array([0x61])]],
    ["an unfinished character", [new Uint8Array([0x61]), new Uint8Array([0xc3])]],
    ["a single unfinished block", [new Uint8Array([0xc3])]],
  ])("throws TypeError or inserts U+FFFD for %s", (_, blocks) => {
    expect(() => decodeBlocks(blocks, { fatal: true })).toThrow(TypeError);
    expect(decodeBlocks(blocks, { fatal: false })).toContain("\uFFFD");
  });
});
