import { describe, expect, test } from "bun:test";
import type { Metadata } from "../../../src/ledger/records.ts";
import { FACTS } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";

/** Objects nested `depth` levels deep around `core`. */
function nested(depth: number, core: unknown = {}): Metadata {
  let object = core;
  for (let level = 1; level < depth; level++) object = { d: object };
  return object as Metadata;
}

/** Metadata of holds, settlements, releases and charges. */
export function describeMetadata(env: LedgerEnv): void {
  describe("metadata", () => {
    const odd: readonly [string, Metadata][] = [
      ["without members", {}],
      ["with numeric, empty and blank names", { "10": 1, "9": 2, "": 3, " ": 4 }],
      ["with every kind of value", { s: "x", n: -1.5e-7, t: true, z: null, a: [[], {}], o: { o: { o: 1 } } }],
      ["with large numbers", { n: Number.MAX_SAFE_INTEGER, m: 1e308, z: 0 }],
      ["with NUL and control characters", { text: 'a\0b\u0001\u007f\u0085\n\t"\\' }],
      ["with emoji and combining characters", { "😀": "👨‍👩‍👧 é e\u0301 \u202e" }],
      ["with names of Object's own members", { constructor: 2, toString: 3, hasOwnProperty: null }],
      ["with names and texts that resemble __proto__", { a: '"__proto__":', __proto: 1, "\\": '\\"[[{' }],
      ["nested thirty levels deep", nested(30)],
      [
        "with texts that resemble tokens or templates",
        { type_url: "x", "@type": "y", value: { kind: "$1 %s {0}" } },
      ],
    ];

    test.each(odd)("%s is stored unchanged by a hold", async (_, metadata) => {
      await env.hold("h1", 1n, { metadata });
      expect((await env.receipt("h1"))?.metadata).toEqual(metadata);
      expect(await env.hold("h1", 1n, { metadata })).toMatchObject({ replayed: true });
    });

    test.each(odd)("%s is stored unchanged by a settlement", async (_, metadata) => {
      await env.hold("h1", 1n, { metadata: { first: 1 } });
      await env.settle("h1", 1n, FACTS, metadata);
      const names = Object.keys((await env.receipt("h1"))?.metadata ?? {}).sort();
      expect(names).toEqual(["first", ...Object.keys(metadata)].sort());
      expect((await env.receipt("h1"))?.metadata).toEqual(expect.objectContaining(metadata));
    });

    test("is stored as well-formed text, with replacements for lone surrogates", async () => {
      const metadata = { text: "a\ud800b" };
      await env.hold("h1", 1n, { metadata });
      const { text } = (await env.receipt("h1"))?.metadata ?? {};
      expect(["a\ud800b", "a\ufffdb"]).toContain(text as string);
      expect(await env.hold("h1", 1n, { metadata })).toMatchObject({ replayed: true });
    });

    test("is equal in any order of its names", async () => {
      await env.hold("h1", 1n, { metadata: { a: { x: 1, y: [1, 2] }, b: 2 } });
      const metadata = { b: 2, a: { y: [1, 2], x: 1 } };
      expect(await env.hold("h1", 1n, { metadata })).toMatchObject({ replayed: true });
      const other = { b: 2, a: { y: [2, 1], x: 1 } };
      expect(await env.errorCode(() => env.hold("h1", 1n, { metadata: other }))).toBe("conflict");
    });

    test("of the settlement overrides the hold's", async () => {
      await env.hold("h1", 1n, { metadata: { a: 1, b: { x: 1, y: 2 }, c: 3 } });
      await env.settle("h1", 1n, FACTS, { b: { z: 3 }, c: null, d: 4 });
      expect((await env.receipt("h1"))?.metadata).toEqual({ a: 1, b: { z: 3 }, c: null, d: 4 });
    });

    test("may be given by the settlement or the release alone", async () => {
      await env.hold("h1", 1n);
      await env.hold("h2", 1n);
      await env.settle("h1", 1n, FACTS, { a: 1 });
      await env.release("h2", FACTS, { b: 2 });
      expect((await env.receipt("h1"))?.metadata).toEqual({ a: 1 });
      expect((await env.receipt("h2"))?.metadata).toEqual({ b: 2 });
    });

    test("of the settlement does not affect the replay of the hold", async () => {
      await env.hold("h1", 1n, { metadata: { a: 1 } });
      await env.settle("h1", 1n, FACTS, { a: 2 });
      expect(await env.hold("h1", 1n, { metadata: { a: 1 } })).toMatchObject({ replayed: true });
      expect(await env.errorCode(() => env.hold("h1", 1n, { metadata: { a: 2 } }))).toBe("conflict");
    });

    test("is stored by a late settlement", async () => {
      await env.hold("h1", 1n, { metadata: { a: 1 } });
      env.clock.nowMs += 60_000;
      await env.sweep();
      await env.settle("h1", 1n, FACTS, { b: 2 });
      expect((await env.receipt("h1"))?.metadata).toEqual({ a: 1, b: 2 });
    });

    test("of each command may have 4 KiB as text and no more", async () => {
      const full = { text: "é".repeat((4096 - '{"text":""}'.length - 1) / 2), x: undefined };
      const exact = { text: `${full.text}x` };
      const over = { text: `${full.text}é` };
      expect(Buffer.byteLength(JSON.stringify(exact))).toBe(4096);
      expect(Buffer.byteLength(JSON.stringify(over))).toBe(4097);
      await env.hold("h1", 1n, { metadata: exact });
      for (const metadata of [over, { text: "x".repeat(1_000_000) }]) {
        const errorCodes = await env.errorCodes([
          () => env.hold("h2", 1n, { metadata }),
          () => env.settle("h1", 1n, FACTS, metadata),
          () => env.release("h1", FACTS, metadata),
          () => env.charge("c1", 1n, { metadata }),
        ]);
        expect(errorCodes).toEqual(Array(4).fill("invalid_metadata"));
      }
      await env.settle("h1", 1n, FACTS, exact);
      expect(await env.receipt("h1")).toMatchObject({ metadata: exact });
    });

    test("that is not a valid JSON object is declined", async () => {
      const cycle: Record<string, unknown> = {};
      cycle.self = cycle;
      await env.hold("open", 1n);
      const values: unknown[] = [
        { n: 1n },
        cycle,
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
        const errorCodes = await env.errorCodes([
          () => env.hold("h1", 1n, { metadata }),
          () => env.settle("open", 1n, FACTS, metadata),
          () => env.charge("c1", 1n, { metadata }),
        ]);
        expect([value, ...errorCodes]).toEqual([value, ...Array(3).fill("invalid_metadata")]);
      }
    });
  });
}
