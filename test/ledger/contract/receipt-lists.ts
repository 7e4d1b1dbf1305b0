import { describe, expect, test } from "bun:test";
import type { Page, PageRequest, Receipt, ReceiptFilter } from "../../../src/ledger/records.ts";
import { errorCodeOf, FACTS, holdIdOf, NOON_MS } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";
import { pagesOf } from "./walk-pages.ts";

/** Lists of receipts: their order, time ranges and filters. */
export function describeReceiptLists(env: LedgerEnv): void {
  const receipts = (filter: Partial<ReceiptFilter>, page: PageRequest = { size: 100 }) =>
    env.ledger.receipts({ walletId: env.walletId, ...filter }, page);
  const idsOf = ({ items }: Page<Receipt>) => items.map(({ holdId }) => holdId);
  const holdAt = (name: string, offsetMs: number) =>
    env.hold(name, 0n, { holdId: holdIdOf(name, NOON_MS + offsetMs) });

  describe("a list of receipts", () => {
    test("is sorted by the time in the ids, newest first, for any page size", async () => {
      const ids = Array.from({ length: 25 }, (_, i) => holdIdOf(`h${i}`, NOON_MS + ((i * 7) % 25)));
      await Promise.all(ids.map((holdId) => env.hold("", 0n, { holdId })));
      const newestFirst = ids.toSorted().reverse();
      for (const size of [1, 7, 24, 25, 26]) {
        const pages = await pagesOf((page) => receipts({}, page), size);
        expect(pages.flat().map(({ holdId }) => holdId)).toEqual(newestFirst);
        expect(pages.slice(0, -1).every((page) => page.length === size)).toBe(true);
      }
      expect((await receipts({}, { size: 25 })).nextToken).toBeUndefined();
    });

    test("has each receipt of the first page's time once, whatever is added meanwhile", async () => {
      const there: string[] = [];
      for (let i = 0; i < 12; i++) {
        await holdAt(`h${i}`, i * 10);
        there.push(holdIdOf(`h${i}`, NOON_MS + i * 10));
      }
      let more = 0;
      const pages = await pagesOf(
        (page) => receipts({}, page),
        3,
        async () => {
          more += 1;
          await holdAt(`newer${more}`, 1_000 + more);
          await holdAt(`older${more}`, -1_000 - more);
          await holdAt(`between${more}`, more * 20 + 5);
        },
      );
      const seen = pages.flat().map(({ holdId }) => holdId);
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen).toEqual(seen.toSorted().reverse());
      expect(there.filter((id) => !seen.includes(id))).toEqual([]);
    });

    test("includes the first millisecond of its range and excludes the last", async () => {
      for (const ms of [-1, 0, 1, 2, 3]) await holdAt(`h${ms}`, ms);
      const range = { fromMs: NOON_MS, toMs: NOON_MS + 2 };
      const expected = [holdIdOf("h1", NOON_MS + 1), holdIdOf("h0", NOON_MS)];
      expect(idsOf(await receipts(range))).toEqual(expected);
      const pages = await pagesOf((page) => receipts(range, page), 1);
      expect(pages.flat().map(({ holdId }) => holdId)).toEqual(expected);
      expect(idsOf(await receipts({ toMs: NOON_MS }))).toEqual([holdIdOf("h-1", NOON_MS - 1)]);
      expect(idsOf(await receipts({ fromMs: NOON_MS + 3 }))).toEqual([holdIdOf("h3", NOON_MS + 3)]);
      expect(idsOf(await receipts({ fromMs: NOON_MS, toMs: NOON_MS }))).toEqual([]);
      expect(await receipts({ fromMs: 0, toMs: 2 ** 47 })).toMatchObject({ items: { length: 5 } });
    });

    test("has exactly the receipts that match every condition", async () => {
      const { ledger, walletId } = env;
      await env.hold("open", 1n, { keyId: "k2" });
      await env.hold("paid", 1n, { facts: { surface: "messages", model: "demo" } });
      await env.hold("freed", 1n, { facts: { surface: "chat", model: "large" } });
      await env.hold("lost", 1n, { ttlMs: 1 });
      await env.settle("paid", 1n, { ...FACTS, upstream: "openai" });
      await env.release("freed", { outcome: "upstream_timeout", source: "none", attempts: [] });
      env.clock.nowMs += 1;
      await env.sweep();
      const { receiptId } = await env.charge("c1", 1n, { keyId: "k2" });
      const cases: [Partial<ReceiptFilter>, string[]][] = [
        [{}, ["open", "paid", "freed", "lost", receiptId]],
        [{ keyId: "k2" }, ["open", receiptId]],
        [{ surface: "messages" }, ["paid"]],
        [{ model: "large" }, ["freed"]],
        [{ upstream: "openai" }, ["paid"]],
        [{ upstream: "anthropic" }, [receiptId]],
        [{ state: "held" }, ["open"]],
        [{ state: "settled" }, ["paid", receiptId]],
        [{ state: "released" }, ["freed"]],
        [{ state: "expired" }, ["lost"]],
        [{ outcome: "ok" }, ["paid", receiptId]],
        [{ outcome: "upstream_timeout" }, ["freed"]],
        [{ failed: true }, ["freed", "lost"]],
        [{ failed: true, outcome: "ok" }, []],
        [{ failed: false }, ["open", "paid", "freed", "lost", receiptId]],
        [{ keyId: "k2", state: "settled", surface: "batch", model: "demo", outcome: "ok" }, [receiptId]],
        [{ keyId: "k1", state: "held" }, []],
        [{ keyId: "' OR 1=1 --" }, []],
        [{ surface: "%" }, []],
        [{ model: "" }, []],
        [{ walletId: "wallet-none" }, []],
      ];
      for (const [filter, names] of cases) {
        const expected = names.map((name) => (name === receiptId ? name : holdIdOf(name)));
        const all = await pagesOf((page) => ledger.receipts({ walletId, ...filter }, page), 100);
        const found = all.flat().map(({ holdId }) => holdId);
        expect([filter, found.sort()]).toEqual([filter, expected.sort()]);
        const pages = await pagesOf((page) => ledger.receipts({ walletId, ...filter }, page), 1);
        expect(pages.flat()).toHaveLength(expected.length);
      }
    });

    test("equals the reads of the single receipts", async () => {
      await env.hold("h1", 5n, { metadata: { a: 1 } });
      await env.settle("h1", 3n, FACTS, { b: 2 });
      await env.hold("h2", 5n);
      const { items } = await receipts({});
      for (const item of items) {
        expect(item).toEqual((await env.ledger.receipt(env.walletId, item.holdId)) as Receipt);
      }
      expect(items).toHaveLength(2);
    });

    test("has pages of a thousand receipts of the largest size", async () => {
      const text = "x".repeat(4_000);
      const metadata = { text };
      const names = Array.from({ length: 1_001 }, (_, i) => `h${i}`);
      await Promise.all(names.map((name) => env.hold(name, 0n, { metadata })));
      await Promise.all(names.map((name) => env.release(name, FACTS, { more: text })));
      const first = await receipts({}, { size: 1_000 });
      expect(first.items).toHaveLength(1_000);
      expect(first.items.every((item) => item.metadata?.more === text && item.metadata.text === text)).toBe(
        true,
      );
      const second = await receipts({}, { size: 1_000, token: first.nextToken });
      expect(second.items).toHaveLength(1);
      expect(second.nextToken).toBeUndefined();
    });

    test("rejects an invalid range or condition", async () => {
      const bad: unknown[] = [
        { fromMs: Number.NaN },
        { toMs: Number.POSITIVE_INFINITY },
        { fromMs: 0.5 },
        { fromMs: -1 },
        { toMs: 2 ** 53 },
      ];
      for (const filter of bad) {
        const asked = filter as Partial<ReceiptFilter>;
        expect([filter, await errorCodeOf(receipts(asked))]).toEqual([filter, "invalid_query"]);
      }
    });
  });
}
