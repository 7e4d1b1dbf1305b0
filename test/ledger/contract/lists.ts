import { describe, expect, test } from "bun:test";
import type { PageRequest, TransferKindName } from "../../../src/ledger/records.ts";
import { errorCodeOf, holdIdOf, NOON_MS } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";
import { pagesOf } from "./walk-pages.ts";

/** Lists of transfers and of wallets: their order and their items. */
export function describeLists(env: LedgerEnv): void {
  describe("a list of transfers", () => {
    test("is the wallet's journal, newest first, for any page size", async () => {
      for (let i = 1; i <= 11; i++) await env.topUp(`t${i}`, BigInt(i));
      const pages = await pagesOf(
        (page) => env.ledger.transfers(env.walletId, page),
        5,
        () => env.topUp(`later${Math.random()}`, 1n),
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

    test("has every kind, with the sign of its change of the balance", async () => {
      await env.hold("h1", 9n);
      await env.settle("h1", 9n);
      await env.refund("r1", "h1", 4n);
      await env.charge("c1", 2n);
      await env.hold("h2", 9n);
      await env.extend("h2", 3n);
      env.clock.nowMs += 60_000;
      await env.sweep();
      await env.settle("h2", 5n);
      const { items } = await env.ledger.transfers(env.walletId, { size: 10 });
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

    test("has the wanted kinds alone, on any page, and its tokens are of these kinds", async () => {
      for (const name of ["a", "b", "c"]) {
        await env.hold(name, 9n);
        await env.settle(name, 2n);
        await env.refund(`r-${name}`, name, 1n);
        await env.charge(`c-${name}`, 1n);
      }
      await env.topUp("more", 5n);
      await env.ledger.topUp({ walletId: env.walletId, topUpId: "less", amount: -3n });
      const listed = async (kinds: readonly TransferKindName[], size = 2) => {
        const read = (page: PageRequest) => env.ledger.transfers(env.walletId, page, { kinds });
        return (await pagesOf(read, size)).flat().map(({ transferId }) => transferId);
      };
      for (const size of [1, 2, 9]) {
        expect(await listed(["refund"], size)).toEqual(["r-c", "r-b", "r-a"]);
        expect(await listed(["charge", "refund"], size)).toEqual(["c-c", "r-c", "c-b", "r-b", "c-a", "r-a"]);
        expect(await listed(["top_up"], size)).toEqual(["more", "funds"]);
        expect(await listed(["correction"], size)).toEqual(["less"]);
        expect(await listed(["settlement"], size)).toEqual(["c", "b", "a"].map((name) => holdIdOf(name)));
        expect(await listed(["expiry_capture", "late_settlement"], size)).toEqual([]);
        expect(await listed([], size)).toHaveLength(12);
      }
      const page = { size: 1 };
      const { nextToken: token } = await env.ledger.transfers(env.walletId, page, { kinds: ["refund"] });
      const foreign = env.ledger.transfers(env.walletId, { ...page, token }, { kinds: ["charge"] });
      expect(await errorCodeOf(foreign)).toBe("invalid_query");
      const unknown = { kinds: ["gift" as TransferKindName] };
      expect(await errorCodeOf(env.ledger.transfers(env.walletId, page, unknown))).toBe("invalid_query");
    });

    test("of an unknown wallet is empty", async () => {
      expect(await env.ledger.transfers("wallet-none", { size: 5 })).toEqual({
        items: [],
        nextToken: undefined,
      });
    });
  });

  describe("a list of wallets", () => {
    test("is sorted by the bytes of the ids, for any page size", async () => {
      const prefix = `${env.walletId}/`;
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
      for (const id of ids) await env.ledger.createWallet(id);
      const sorted = ids.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
      for (const size of [3, 1000]) {
        const pages = await pagesOf((page) => env.ledger.wallets(page), size);
        const mine = pages.flat().filter(({ walletId }) => walletId.startsWith(prefix));
        expect(mine.map(({ walletId }) => walletId)).toEqual(sorted);
      }
    });

    test("equals the reads of the single wallets", async () => {
      await env.hold("h1", 30n);
      await env.freeze();
      const all = (await pagesOf((page) => env.ledger.wallets(page), 100)).flat();
      const mine = all.find(({ walletId }) => walletId === env.walletId);
      expect(mine).toEqual({
        walletId: env.walletId,
        state: "frozen",
        balances: { posted: 100n, held: 30n, available: 70n },
        creditLimit: 0n,
        createdAtMs: NOON_MS,
        newestHoldAtMs: NOON_MS,
      });
      expect(mine).toEqual(await env.ledger.wallet(env.walletId));
    });

    test("has each wallet of the first page's time once, whatever is created meanwhile", async () => {
      const prefix = `${env.walletId}/`;
      for (let i = 10; i < 20; i++) await env.ledger.createWallet(`${prefix}${i}`);
      let more = 0;
      const pages = await pagesOf(
        (page) => env.ledger.wallets(page),
        4,
        () => {
          more += 1;
          return env.ledger.createWallet(`${prefix}1${more % 10}+${more}`);
        },
      );
      const seen = pages.flat().map(({ walletId }) => walletId);
      expect(new Set(seen).size).toBe(seen.length);
      const there = Array.from({ length: 10 }, (_, i) => `${prefix}${i + 10}`);
      expect(there.filter((id) => !seen.includes(id))).toEqual([]);
    });
  });
}
