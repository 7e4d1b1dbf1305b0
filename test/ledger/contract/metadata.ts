import { describe, expect, test } from "bun:test";
import type { Metadata } from "../../../src/ledger/ledger.ts";
import { FACTS } from "../samples.ts";
import type { Books } from "./env.ts";

/** An object with so many objects, the last of them `core`, within each other. */
function nested(depth: number, core: unknown = {}): Metadata {
  let object = core;
  for (let level = 1; level < depth; level++) object = { d: object };
  return object as Metadata;
}

/** The caller's own object, from the hold and from its end. */
export function describeMetadata(books: Books): void {
  describe("metadata", () => {
    const odd: readonly [string, Metadata][] = [
      ["of nothing", {}],
      ["with numbers for names, and none", { "10": 1, "9": 2, "": 3, " ": 4 }],
      ["with every kind of value", { s: "x", n: -1.5e-7, t: true, z: null, a: [[], {}], o: { o: { o: 1 } } }],
      ["with large numbers", { n: Number.MAX_SAFE_INTEGER, m: 1e308, z: 0 }],
      ["with a NUL and controls", { text: 'a\0b\u0001\u007f\u0085\n\t"\\' }],
      ["with emoji and signs that join", { "😀": "👨‍👩‍👧 é e\u0301 \u202e" }],
      ["with names that objects are born with", { constructor: 2, toString: 3, hasOwnProperty: null }],
      ["with names that only look dangerous", { a: '"__proto__":', __proto: 1, "\\": '\\"[[{' }],
      ["nested thirty deep", nested(30)],
      [
        "that looks like a token or a template",
        { type_url: "x", "@type": "y", value: { kind: "$1 %s {0}" } },
      ],
    ];

    test.each(odd)("%s is kept as it was", async (_, metadata) => {
      await books.hold("h1", 1n, { metadata });
      expect((await books.receipt("h1"))?.metadata).toEqual(metadata);
      expect(await books.hold("h1", 1n, { metadata })).toMatchObject({ replayed: true });
    });

    test.each(odd)("%s is added at the settlement as it was", async (_, metadata) => {
      await books.hold("h1", 1n, { metadata: { first: 1 } });
      await books.settle("h1", 1n, FACTS, metadata);
      const names = Object.keys((await books.receipt("h1"))?.metadata ?? {}).sort();
      expect(names).toEqual(["first", ...Object.keys(metadata)].sort());
      expect((await books.receipt("h1"))?.metadata).toEqual(expect.objectContaining(metadata));
    });

    test("is kept in well-formed text, whatever stands in place of what is not", async () => {
      const metadata = { text: "a\ud800b" };
      await books.hold("h1", 1n, { metadata });
      const { text } = (await books.receipt("h1"))?.metadata ?? {};
      expect(["a\ud800b", "a\ufffdb"]).toContain(text as string);
      expect(await books.hold("h1", 1n, { metadata })).toMatchObject({ replayed: true });
    });

    test("says the same in whatever order it names things", async () => {
      await books.hold("h1", 1n, { metadata: { a: { x: 1, y: [1, 2] }, b: 2 } });
      const metadata = { b: 2, a: { y: [1, 2], x: 1 } };
      expect(await books.hold("h1", 1n, { metadata })).toMatchObject({ replayed: true });
      const other = { b: 2, a: { y: [2, 1], x: 1 } };
      expect(await books.refusal(() => books.hold("h1", 1n, { metadata: other }))).toBe("conflict");
    });

    test("of the settlement is laid over the hold's", async () => {
      await books.hold("h1", 1n, { metadata: { a: 1, b: { x: 1, y: 2 }, c: 3 } });
      await books.settle("h1", 1n, FACTS, { b: { z: 3 }, c: null, d: 4 });
      expect((await books.receipt("h1"))?.metadata).toEqual({ a: 1, b: { z: 3 }, c: null, d: 4 });
    });

    test("may come with the settlement or the release alone", async () => {
      await books.hold("h1", 1n);
      await books.hold("h2", 1n);
      await books.settle("h1", 1n, FACTS, { a: 1 });
      await books.release("h2", FACTS, { b: 2 });
      expect((await books.receipt("h1"))?.metadata).toEqual({ a: 1 });
      expect((await books.receipt("h2"))?.metadata).toEqual({ b: 2 });
    });

    test("of the settlement never changes what the hold is compared with", async () => {
      await books.hold("h1", 1n, { metadata: { a: 1 } });
      await books.settle("h1", 1n, FACTS, { a: 2 });
      expect(await books.hold("h1", 1n, { metadata: { a: 1 } })).toMatchObject({ replayed: true });
      expect(await books.refusal(() => books.hold("h1", 1n, { metadata: { a: 2 } }))).toBe("conflict");
    });

    test("comes with a late settlement after an expiry", async () => {
      await books.hold("h1", 1n, { metadata: { a: 1 } });
      books.clock.nowMs += 60_000;
      await books.sweep();
      await books.settle("h1", 1n, FACTS, { b: 2 });
      expect((await books.receipt("h1"))?.metadata).toEqual({ a: 1, b: 2 });
    });

    test("may have 4 KiB in print, each, and not one byte more", async () => {
      const full = { text: "é".repeat((4096 - '{"text":""}'.length - 1) / 2), x: undefined };
      const exact = { text: `${full.text}x` };
      const over = { text: `${full.text}é` };
      expect(Buffer.byteLength(JSON.stringify(exact))).toBe(4096);
      expect(Buffer.byteLength(JSON.stringify(over))).toBe(4097);
      await books.hold("h1", 1n, { metadata: exact });
      for (const metadata of [over, { text: "x".repeat(1_000_000) }]) {
        const refusals = await books.refusals([
          () => books.hold("h2", 1n, { metadata }),
          () => books.settle("h1", 1n, FACTS, metadata),
          () => books.release("h1", FACTS, metadata),
          () => books.charge("c1", 1n, { metadata }),
        ]);
        expect(refusals).toEqual(Array(4).fill("invalid_metadata"));
      }
      await books.settle("h1", 1n, FACTS, exact);
      expect(await books.receipt("h1")).toMatchObject({ metadata: exact });
    });

    test("that JSON cannot say is refused", async () => {
      const circle: Record<string, unknown> = {};
      circle.self = circle;
      await books.hold("open", 1n);
      const values: unknown[] = [
        { n: 1n },
        circle,
        [],
        [1],
        "text",
        7,
        null,
        () => {},
        { toJSON: () => "x" },
        nested(31),
        nested(500),
        { list: nested(29, [[]]) },
        JSON.parse('{"a":{"__proto__":1}}'),
      ];
      for (const value of values) {
        const metadata = value as Metadata;
        const refusals = await books.refusals([
          () => books.hold("h1", 1n, { metadata }),
          () => books.settle("open", 1n, FACTS, metadata),
          () => books.charge("c1", 1n, { metadata }),
        ]);
        expect([value, ...refusals]).toEqual([value, ...Array(3).fill("invalid_metadata")]);
      }
    });
  });
}
