import { describe, expect, test } from "bun:test";
import type { TransferRange } from "../../../src/ledger/records.ts";
import { errorCodeOf, FACTS, holdIdOf, NOON_MS } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";
import { pagesOf } from "./walk-pages.ts";

const HOUR_MS = 3_600_000;

/** The reads of the console: open holds, receipts of all wallets, ranges of the journal, roll-ups. */
export function describeConsoleReads(env: LedgerEnv): void {
  describe("the open holds", () => {
    test("are listed oldest first with what they have cost, and summed by wallet", async () => {
      await env.hold("new", 5n, { holdId: holdIdOf("new", NOON_MS + 9) });
      await env.hold("old", 7n, { holdId: holdIdOf("old", NOON_MS - 9), keyId: "k2" });
      await env.hold("done", 1n);
      await env.settle("done", 1n);
      await env.ledger.extend({
        walletId: env.walletId,
        holdId: holdIdOf("old", NOON_MS - 9),
        accrued: 3n,
        ttlMs: 90_000,
      });
      const { items } = await env.ledger.runningHolds(env.walletId, { size: 10 });
      expect(items).toMatchObject([
        { keyId: "k2", granted: 7n, accrued: 3n, model: "demo", expiresAtMs: NOON_MS + 90_000 },
        { keyId: "k1", granted: 5n, accrued: 0n, createdAtMs: NOON_MS },
      ]);
      for (const walletId of [env.walletId, undefined]) {
        const pages = await pagesOf((page) => env.ledger.runningHolds(walletId, page), 1);
        expect(pages.flat()).toEqual([...items]);
        expect(await env.ledger.runningTotals(walletId)).toEqual([
          { walletId: env.walletId, count: 2, granted: 12n, oldestCreatedAtMs: NOON_MS },
        ]);
      }
      expect((await env.balances()).held).toBe(12n);
      expect(await env.ledger.runningTotals("wallet-none")).toEqual([]);
    });
  });

  describe("receipts of all wallets", () => {
    test("are listed newest first and found by id, equal ids of two wallets too", async () => {
      const other = `${env.walletId}/other`;
      await env.ledger.createWallet(other);
      await env.hold("same", 0n);
      await env.hold("same", 0n, { walletId: other });
      await env.hold("newer", 0n, { holdId: holdIdOf("newer", NOON_MS + 1), walletId: other });
      const found = await env.ledger.receiptsById(holdIdOf("same"));
      const mine = found.filter(({ walletId }) => [env.walletId, other].includes(walletId));
      expect(mine.map(({ walletId }) => walletId)).toEqual([env.walletId, other]);
      expect(await env.ledger.receiptsById(holdIdOf("none"))).toEqual([]);
      expect(await env.ledger.receiptsById("no id")).toEqual([]);
      const filter = { walletId: undefined, state: "held" } as const;
      for (const size of [1, 2, 5]) {
        const listed = (await pagesOf((page) => env.ledger.receipts(filter, page), size)).flat();
        expect(listed.map(({ walletId }) => walletId)).toEqual([other, other, env.walletId]);
      }
    });

    test("are summed for a list of wallets alone", async () => {
      const others = [`${env.walletId}/b`, `${env.walletId}/c`];
      for (const [index, walletId] of [env.walletId, ...others].entries()) {
        await env.ledger.createWallet(walletId);
        await env.hold(`of ${walletId}`, BigInt(index), { walletId, minimum: 0n });
      }
      const usage = async (walletIds: readonly string[], walletId?: string) => {
        const { rows } = await env.ledger.usage({ walletId, walletIds, groupBy: ["wallet"] });
        return rows.map(({ group, requests }) => [group.wallet, requests]);
      };
      const wanted = [env.walletId, `${env.walletId}/c`, "wallet-none"];
      const expected = [
        [env.walletId, 1],
        [`${env.walletId}/c`, 1],
      ];
      expect(await usage(wanted)).toEqual(expected);
      while (await env.rollUp());
      expect(await usage(wanted)).toEqual(expected);
      const tooMany = Array.from({ length: 201 }, (_, index) => `w${index}`);
      expect(await errorCodeOf(usage(tooMany))).toBe("invalid_query");
      expect(await errorCodeOf(usage(["a\0"]))).toBe("invalid_query");
      expect(await errorCodeOf(usage([env.walletId], env.walletId))).toBe("invalid_query");
    });

    test("are summed by wallet", async () => {
      await env.charge("c1", 3n, { keyId: `key of ${env.walletId}` });
      const query = { walletId: undefined, keyId: `key of ${env.walletId}`, groupBy: ["wallet"] } as const;
      expect((await env.ledger.usage(query)).rows).toMatchObject([
        { group: { wallet: env.walletId }, requests: 1, captured: 3n },
      ]);
    });
  });

  test("receipts are found by a member of their metadata, as the receipt shows it", async () => {
    await env.hold("a", 0n, { metadata: { team: "red", size: 4, isTest: true } });
    await env.hold("b", 0n, { metadata: { team: "red" } });
    await env.settle("b", 0n, FACTS, { team: "blue" });
    const ids = async (name: string, value: string) => {
      const filter = { walletId: env.walletId, metadata: { name, value } };
      const pages = await pagesOf((page) => env.ledger.receipts(filter, page), 9);
      return pages.flat().map(({ holdId }) => holdId);
    };
    expect(await ids("team", "red")).toEqual([holdIdOf("a")]);
    expect(await ids("team", "blue")).toEqual([holdIdOf("b")]);
    expect(await ids("size", "4")).toEqual([holdIdOf("a")]);
    expect(await ids("isTest", "true")).toEqual([holdIdOf("a")]);
    for (const name of ["", '"', "$.team", "team'; --", "%", "0"]) expect(await ids(name, "red")).toEqual([]);
    expect(await errorCodeOf(ids("a\0", "red"))).toBe("invalid_query");
  });

  describe("a range of the journal", () => {
    test("has every transfer of its time, in either order and for any page size", async () => {
      for (let hour = 0; hour < 12; hour++) {
        env.clock.nowMs = NOON_MS + hour * HOUR_MS;
        await env.topUp(`t${hour}`, 1n);
      }
      const amounts = async (range: TransferRange, size = 5) => {
        const read = (page: { size: number }) => env.ledger.transfers(env.walletId, page, range);
        return (await pagesOf(read, size)).flat().map(({ transferId }) => transferId);
      };
      const [fromMs, toMs] = [NOON_MS + 3 * HOUR_MS, NOON_MS + 6 * HOUR_MS];
      for (const size of [1, 2, 50]) {
        expect(await amounts({ fromMs, toMs }, size)).toEqual(["t5", "t4", "t3"]);
        expect(await amounts({ fromMs, toMs, order: "oldest_first" }, size)).toEqual(["t3", "t4", "t5"]);
        expect(await amounts({ toMs: NOON_MS + 1 }, size)).toEqual(["t0", "funds"]);
        expect(await amounts({ fromMs: NOON_MS + 11 * HOUR_MS, order: "oldest_first" }, size)).toEqual([
          "t11",
        ]);
        expect(await amounts({ order: "oldest_first" }, size)).toHaveLength(13);
      }
      expect(await errorCodeOf(amounts({ fromMs: -1 }))).toBe("invalid_query");
    });

    test("adds up to the balance, as do the totals of the whole journal", async () => {
      await env.hold("h1", 30n);
      await env.settle("h1", 20n);
      await env.refund("r1", "h1", 5n);
      await env.charge("c1", 9n);
      const totals = await env.ledger.journalTotals(env.walletId);
      const derived = { derivesCharged: true };
      expect(await env.ledger.journalTotals(env.walletId, derived)).toEqual(totals);
      expect(totals).toEqual({ toppedUp: 100n, charged: 29n, refunded: 5n, expired: 0n, transfers: 4 });
      expect((await env.balances()).posted).toBe(totals.toppedUp - totals.charged + totals.refunded);
      const none = { toppedUp: 0n, charged: 0n, refunded: 0n, expired: 0n, transfers: 0 };
      expect(await env.ledger.journalTotals("wallet-none")).toEqual(none);
      expect(await env.ledger.journalTotals("wallet-none", derived)).toEqual(none);
      await env.ledger.createWallet(`${env.walletId}/new`);
      expect(await env.ledger.journalTotals(`${env.walletId}/new`, derived)).toEqual(none);
    });
  });

  test("lists and sums are the same before and after usage is summed up", async () => {
    const at = (name: string, hours: number) => ({ holdId: holdIdOf(name, NOON_MS + hours * HOUR_MS) });
    for (let hour = -20; hour <= 0; hour += 2) {
      await env.hold(`h${hour}`, 2n, { ...at(`h${hour}`, hour), keyId: hour % 3 === 0 ? "k3" : "k1" });
      const outcome = hour % 4 === 0 ? FACTS : { ...FACTS, outcome: "upstream_timeout", upstream: undefined };
      await env.ledger.settle({
        walletId: env.walletId,
        ...at(`h${hour}`, hour),
        amount: 1n,
        facts: outcome,
      });
    }
    await env.hold("lost", 2n, { ...at("lost", -21), ttlMs: 1 });
    env.clock.nowMs += 1;
    await env.sweep();
    const { walletId } = env;
    const read = async () => ({
      all: (await env.ledger.receipts({ walletId }, { size: 4 })).items,
      key: (await pagesOf((page) => env.ledger.receipts({ walletId, keyId: "k3" }, page), 2)).flat(),
      none: (await env.ledger.receipts({ walletId, keyId: "k9" }, { size: 4 })).items,
      late: (await env.ledger.receipts({ walletId, outcome: "upstream_timeout" }, { size: 9 })).items,
      failed: (await env.ledger.receipts({ walletId, failed: true }, { size: 9 })).items,
      usage: await env.ledger.usage({ walletId, groupBy: ["day", "key", "upstream", "outcome"] }),
      shifted: await env.ledger.usage({
        walletId,
        groupBy: ["day"],
        fromMs: NOON_MS - 48 * HOUR_MS,
        toMs: NOON_MS + HOUR_MS,
        offsetHours: -5,
      }),
    });
    const before = await read();
    env.clock.nowMs += 72 * HOUR_MS;
    while (await env.rollUp());
    const { closedToMs, isBackfilling } = await env.ledger.rollUps();
    expect(closedToMs).toBeGreaterThan(NOON_MS);
    expect(isBackfilling).toBe(false);
    expect(await read()).toEqual(before);
    expect(before.usage.rows).not.toHaveLength(0);
    expect(before.failed).toHaveLength(6);
  });

  test("an offset that is no whole hour of a zone is rejected", async () => {
    for (const offsetHours of [0.5, 15, -15, Number.NaN]) {
      const query = { walletId: env.walletId, groupBy: [], offsetHours };
      expect(await errorCodeOf(env.ledger.usage(query))).toBe("invalid_query");
    }
  });
}
