import { describe, expect, test } from "bun:test";
import type { Page, PageRequest, Receipt, ReceiptFilter } from "../../../src/ledger/ledger.ts";
import { FACTS, holdIdOf, NOON_MS, refusalOf } from "../samples.ts";
import type { Books } from "./env.ts";
import { pagesOf } from "./walk-pages.ts";

/** Lists of receipts: their order, their ranges and conditions. */
export function describeReceiptLists(books: Books): void {
  const receipts = (filter: Partial<ReceiptFilter>, page: PageRequest = { size: 100 }) =>
    books.ledger.receipts({ walletId: books.walletId, ...filter }, page);
  const idsOf = ({ items }: Page<Receipt>) => items.map(({ holdId }) => holdId);
  const holdAt = (name: string, offsetMs: number) =>
    books.hold(name, 0n, { holdId: holdIdOf(name, NOON_MS + offsetMs) });

  describe("a list of receipts", () => {
    test("is by the time in the ids, the newest first, over any number of pages", async () => {
      const ids = Array.from({ length: 25 }, (_, i) => holdIdOf(`h${i}`, NOON_MS + ((i * 7) % 25)));
      await Promise.all(ids.map((holdId) => books.hold("", 0n, { holdId })));
      const newestFirst = ids.toSorted().reverse();
      for (const size of [1, 7, 24, 25, 26]) {
        const pages = await pagesOf((page) => receipts({}, page), size);
        expect(pages.flat().map(({ holdId }) => holdId)).toEqual(newestFirst);
        expect(pages.slice(0, -1).every((page) => page.length === size)).toBe(true);
      }
      expect((await receipts({}, { size: 25 })).nextToken).toBeUndefined();
    });

    test("shows each once that was there at the first page, whatever comes meanwhile", async () => {
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

    test("begins and ends with the range asked for: from its first millisecond, before its last", async () => {
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

    test("holds what every condition asks for, and nothing else", async () => {
      const { ledger, walletId } = books;
      await books.hold("open", 1n, { keyId: "k2" });
      await books.hold("paid", 1n, { facts: { surface: "messages", model: "demo" } });
      await books.hold("freed", 1n, { facts: { surface: "chat", model: "large" } });
      await books.hold("lost", 1n, { ttlMs: 1 });
      await books.settle("paid", 1n, { ...FACTS, upstream: "openai" });
      await books.release("freed", { outcome: "upstream_timeout", source: "none", attempts: [] });
      books.clock.nowMs += 1;
      await books.sweep();
      const { receiptId } = await books.charge("c1", 1n, { keyId: "k2" });
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
        [{ keyId: "k2", state: "settled", surface: "batch", model: "demo", outcome: "ok" }, [receiptId]],
        [{ keyId: "k1", state: "held" }, []],
        [{ keyId: "' OR 1=1 --" }, []],
        [{ surface: "%" }, []],
        [{ model: "" }, []],
        [{ walletId: "wallet-none" }, []],
      ];
      for (const [filter, names] of cases) {
        const expected = names.map((name) => (name === receiptId ? name : holdIdOf(name)));
        const found = [...idsOf(await ledger.receipts({ walletId, ...filter }, { size: 100 }))];
        expect([filter, found.sort()]).toEqual([filter, expected.sort()]);
        const pages = await pagesOf((page) => ledger.receipts({ walletId, ...filter }, page), 1);
        expect(pages.flat()).toHaveLength(expected.length);
      }
    });

    test("says the same of each as the receipt itself", async () => {
      await books.hold("h1", 5n, { metadata: { a: 1 } });
      await books.settle("h1", 3n, FACTS, { b: 2 });
      await books.hold("h2", 5n);
      const { items } = await receipts({});
      for (const item of items) {
        expect(item).toEqual((await books.ledger.receipt(books.walletId, item.holdId)) as Receipt);
      }
      expect(items).toHaveLength(2);
    });

    test("gives a page of a thousand, however much each has to say", async () => {
      const text = "x".repeat(4_000);
      const metadata = { text };
      const names = Array.from({ length: 1_001 }, (_, i) => `h${i}`);
      await Promise.all(names.map((name) => books.hold(name, 0n, { metadata })));
      await Promise.all(names.map((name) => books.release(name, FACTS, { more: text })));
      const first = await receipts({}, { size: 1_000 });
      expect(first.items).toHaveLength(1_000);
      expect(first.items.every((item) => item.metadata?.more === text && item.metadata.text === text)).toBe(
        true,
      );
      const second = await receipts({}, { size: 1_000, token: first.nextToken });
      expect(second.items).toHaveLength(1);
      expect(second.nextToken).toBeUndefined();
    });

    test("refuses a range or a condition that cannot be", async () => {
      const bad: unknown[] = [
        { fromMs: Number.NaN },
        { toMs: Number.POSITIVE_INFINITY },
        { fromMs: 0.5 },
        { fromMs: -1 },
        { toMs: 2 ** 53 },
      ];
      for (const filter of bad) {
        const asked = filter as Partial<ReceiptFilter>;
        expect([filter, await refusalOf(receipts(asked))]).toEqual([filter, "invalid_query"]);
      }
    });
  });
}
