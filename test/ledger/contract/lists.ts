import { describe, expect, test } from "bun:test";
import { holdIdOf, NOON_MS } from "../samples.ts";
import type { Books } from "./env.ts";
import { pagesOf } from "./walk-pages.ts";

/** Lists of transfers and of wallets: their order, and what they say. */
export function describeLists(books: Books): void {
  describe("a list of transfers", () => {
    test("is the wallet's journal, the newest first, over any number of pages", async () => {
      for (let i = 1; i <= 11; i++) await books.topUp(`t${i}`, BigInt(i));
      const pages = await pagesOf(
        (page) => books.ledger.transfers(books.walletId, page),
        5,
        () => books.topUp(`later${Math.random()}`, 1n),
      );
      const seqs = pages.flat().map(({ seq }) => seq);
      expect(seqs).toEqual(Array.from({ length: 12 }, (_, i) => 12 - i));
      expect(pages.flat()[0]).toEqual({
        seq: 12,
        transferId: "t11",
        kind: "top_up",
        amount: 11n,
        postedAfter: 166n,
        holdId: undefined,
        createdAtMs: NOON_MS,
      });
    });

    test("names every kind, with the sign of what it did to the wallet", async () => {
      await books.hold("h1", 9n);
      await books.settle("h1", 9n);
      await books.refund("r1", "h1", 4n);
      await books.charge("c1", 2n);
      await books.hold("h2", 9n);
      await books.extend("h2", 3n);
      books.clock.nowMs += 60_000;
      await books.sweep();
      await books.settle("h2", 5n);
      const { items } = await books.ledger.transfers(books.walletId, { size: 10 });
      expect(
        items.map((line) => [line.seq, line.kind, line.transferId, line.amount, line.postedAfter]),
      ).toEqual(
        [
          [7, "late_settlement", holdIdOf("h2"), -2n, 88n],
          [6, "expiry_capture", holdIdOf("h2"), -3n, 90n],
          [5, "charge", "c1", -2n, 93n],
          [4, "refund", "r1", 4n, 95n],
          [3, "settlement", holdIdOf("h1"), -9n, 91n],
          [2, "top_up", "funds", 100n, 100n],
        ].map(([seq, ...rest]) => [Number(seq) - 1, ...rest]),
      );
      expect(items.map(({ holdId }) => holdId)).toEqual([
        holdIdOf("h2"),
        holdIdOf("h2"),
        items[2]?.holdId,
        holdIdOf("h1"),
        holdIdOf("h1"),
        undefined,
      ]);
    });

    test("of a wallet that is not there is empty", async () => {
      expect(await books.ledger.transfers("wallet-none", { size: 5 })).toEqual({
        items: [],
        nextToken: undefined,
      });
    });
  });

  describe("a list of wallets", () => {
    test("is by id, byte for byte, over any number of pages", async () => {
      const prefix = `${books.walletId}/`;
      const names = [
        "B",
        "a",
        "_",
        "a-1",
        "a1",
        "A",
        "Ä",
        "ä",
        "z",
        "~",
        "\uff5e",
        "😀",
        "10",
        "9",
        "a b",
        "aB",
      ];
      const ids = names.map((name) => `${prefix}${name}`);
      for (const id of ids) await books.ledger.createWallet(id);
      const sorted = ids.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
      for (const size of [3, 1000]) {
        const pages = await pagesOf((page) => books.ledger.wallets(page), size);
        const mine = pages.flat().filter(({ walletId }) => walletId.startsWith(prefix));
        expect(mine.map(({ walletId }) => walletId)).toEqual(sorted);
      }
    });

    test("says of each what the wallet itself says", async () => {
      await books.hold("h1", 30n);
      await books.freeze();
      const all = (await pagesOf((page) => books.ledger.wallets(page), 100)).flat();
      const mine = all.find(({ walletId }) => walletId === books.walletId);
      expect(mine).toEqual({
        walletId: books.walletId,
        state: "frozen",
        balances: { posted: 100n, held: 30n, available: 70n },
        createdAtMs: NOON_MS,
      });
      expect(mine).toEqual(await books.ledger.wallet(books.walletId));
    });

    test("shows each once that was there at the first page, whatever comes meanwhile", async () => {
      const prefix = `${books.walletId}/`;
      for (let i = 10; i < 20; i++) await books.ledger.createWallet(`${prefix}${i}`);
      let more = 0;
      const pages = await pagesOf(
        (page) => books.ledger.wallets(page),
        4,
        () => {
          more += 1;
          return books.ledger.createWallet(`${prefix}1${more % 10}+${more}`);
        },
      );
      const seen = pages.flat().map(({ walletId }) => walletId);
      expect(new Set(seen).size).toBe(seen.length);
      const there = Array.from({ length: 10 }, (_, i) => `${prefix}${i + 10}`);
      expect(there.filter((id) => !seen.includes(id))).toEqual([]);
    });
  });
}
