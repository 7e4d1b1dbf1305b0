import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { auditSqlite } from "../../src/ledger/audit.ts";
import { FACTS, holdOf, NOON_MS, type OpenLedger, openLedger, refusalOf, WALLET } from "./samples.ts";

const walletId = WALLET;
let open: OpenLedger;

beforeEach(async () => {
  open = await openLedger(100n);
});

afterEach(async () => {
  expect(auditSqlite(open.database, open.clock.nowMs)).toMatchObject({ findings: [], warnings: [] });
  await open.close();
});

describe("a ledger in a SQLite file", () => {
  test("keeps a receipt of everything it was told", async () => {
    const { ledger, clock } = open;
    await ledger.hold(holdOf(20n, { minimum: 5n, metadata: { team: "Zürich", tags: [1, null] } }));
    expect(await ledger.receipt(walletId, "h1")).toMatchObject({ state: "held", outcome: undefined });
    clock.nowMs += 900;
    await ledger.settle({ walletId, holdId: "h1", amount: 12n, facts: FACTS });
    await ledger.refund({ walletId, refundId: "r1", holdId: "h1", amount: 2n });
    expect(await ledger.receipt(walletId, "h1")).toEqual({
      holdId: "h1",
      walletId,
      keyId: "k1",
      state: "settled",
      late: false,
      granted: 20n,
      captured: 12n,
      refunded: 2n,
      createdAtMs: NOON_MS,
      resolvedAtMs: NOON_MS + 900,
      request: { surface: "chat", model: "demo" },
      outcome: FACTS,
      metadata: { team: "Zürich", tags: [1, null] },
    });
    expect(await ledger.balances(walletId)).toEqual({ posted: 90n, held: 0n, available: 90n });
  });

  test("keeps amounts that no number holds exactly", async () => {
    const most = 4n * 10n ** 18n - 101n;
    await open.ledger.topUp({ walletId, topUpId: "large", amount: most });
    expect(await open.ledger.balances(walletId)).toMatchObject({ posted: most + 100n });
    await open.ledger.hold(holdOf(most));
    const facts = {
      ...FACTS,
      price: { input: 2n ** 60n + 1n, output: 0n, cachedInput: 0n, cacheWrite: 0n, cacheWrite1h: 0n },
    };
    await open.ledger.settle({ walletId, holdId: "h1", amount: most, facts });
    expect(await open.ledger.receipt(walletId, "h1")).toMatchObject({ captured: most, outcome: facts });
  });

  test("lists at most the last eight attempts, and what was not known as not known", async () => {
    await open.ledger.hold(holdOf(1n));
    const attempts = Array.from({ length: 11 }, (_, ms) => ({ upstream: "up", status: 502, ms }));
    const facts = { outcome: "upstream_unavailable", source: "none", totalMs: 8, attempts } as const;
    await open.ledger.release({ walletId, holdId: "h1", facts });
    const outcome = (await open.ledger.receipt(walletId, "h1"))?.outcome;
    expect(outcome?.attempts.map(({ ms }) => ms)).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
    expect(outcome).toMatchObject({ price: undefined, usage: undefined, firstOutputMs: undefined });
  });

  test("knows no receipt and no balances of what is not there", async () => {
    expect(await open.ledger.receipt(walletId, "none")).toBeUndefined();
    expect(await open.ledger.receipt("none", "h1")).toBeUndefined();
    expect(await refusalOf(open.ledger.balances("none"))).toBe("wallet_not_found");
  });

  test("shows a key its own limits and the wallet's, in their current period", async () => {
    const { ledger, clock } = open;
    await ledger.setSpendLimit({ walletId, limitId: "day", keyId: "k1", period: "day", amount: 30n });
    await ledger.setSpendLimit({ walletId, limitId: "ever", keyId: undefined, period: "total", amount: 90n });
    await ledger.setSpendLimit({ walletId, limitId: "other", keyId: "k2", period: "week", amount: 1n });
    await ledger.hold(holdOf(10n));
    await ledger.settle({ walletId, holdId: "h1", amount: 7n, facts: FACTS });
    await ledger.hold(holdOf(5n, { holdId: "h2" }));
    const midnight = NOON_MS + 43_200_000;
    expect(await ledger.spendLimits(walletId, "k1")).toEqual([
      {
        walletId,
        limitId: "day",
        keyId: "k1",
        period: "day",
        amount: 30n,
        used: 7n,
        held: 5n,
        resetsAtMs: midnight,
      },
      {
        walletId,
        limitId: "ever",
        keyId: undefined,
        period: "total",
        amount: 90n,
        used: 7n,
        held: 5n,
        resetsAtMs: undefined,
      },
    ]);
    clock.nowMs = midnight;
    const [day, ever] = await ledger.spendLimits(walletId, "k1");
    expect([day?.used, day?.held, ever?.used]).toEqual([0n, 0n, 7n]);
    await ledger.release({ walletId, holdId: "h2", facts: FACTS });
  });

  test("obeys a limit that is set in the same batch as the hold", async () => {
    const { ledger } = open;
    await ledger.setSpendLimit({ walletId, limitId: "l", keyId: "k1", period: "month", amount: 50n });
    await ledger.hold(holdOf(40n));
    await ledger.settle({ walletId, holdId: "h1", amount: 40n, facts: FACTS });
    const lowered = ledger.setSpendLimit({
      walletId,
      limitId: "l",
      keyId: "k1",
      period: "month",
      amount: 45n,
    });
    const refused = refusalOf(ledger.hold(holdOf(6n, { holdId: "h2" })));
    const granted = ledger.hold(holdOf(5n, { holdId: "h3" }));
    await lowered;
    expect(await refused).toBe("spending_limit_exceeded");
    expect(await granted).toMatchObject({ granted: 5n });
    await ledger.release({ walletId, holdId: "h3", facts: FACTS });
  });

  test("does not move a limit from one key to another", async () => {
    const limit = { walletId, limitId: "l", keyId: "k1", period: "day", amount: 5n } as const;
    await open.ledger.setSpendLimit(limit);
    expect(await refusalOf(open.ledger.setSpendLimit({ ...limit, keyId: "k2" }))).toBe("conflict");
  });

  test("admits exactly ten of a thousand holds where there is room for ten", async () => {
    const holds = Array.from({ length: 1000 }, (_, i) => open.ledger.hold(holdOf(10n, { holdId: `p${i}` })));
    const results = await Promise.allSettled(holds);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
    expect(await open.ledger.balances(walletId)).toEqual({ posted: 100n, held: 100n, available: 0n });
  });

  test("gives 64 settlements of one hold one effect and 64 equal answers", async () => {
    await open.ledger.hold(holdOf(10n));
    const settled = await Promise.all(
      Array.from({ length: 64 }, () =>
        open.ledger.settle({ walletId, holdId: "h1", amount: 9n, facts: FACTS }),
      ),
    );
    expect(settled.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(
      new Set(settled.map(({ state, captured, balances }) => `${state} ${captured} ${balances.posted}`)),
    ).toEqual(new Set(["settled 9 91"]));
  });

  test("lets exactly one of a settlement and a release win", async () => {
    await open.ledger.hold(holdOf(10n));
    const release = open.ledger.release({ walletId, holdId: "h1", facts: FACTS });
    const settle = refusalOf(open.ledger.settle({ walletId, holdId: "h1", amount: 9n, facts: FACTS }));
    expect(await release).toMatchObject({ state: "released" });
    expect(await settle).toBe("hold_released");
  });

  test("never lets anyone change or remove a transfer", () => {
    const { client } = open.database;
    expect(() => client.run("UPDATE transfers SET amount = 1")).toThrow("append-only");
    expect(() => client.run("DELETE FROM transfers")).toThrow("append-only");
  });

  test("keeps everything over a restart", async () => {
    await open.ledger.hold(holdOf(30n));
    const { createSqliteLedger } = await import("../../src/ledger/sqlite.ts");
    const again = createSqliteLedger({ database: open.database, now: () => open.clock.nowMs });
    expect(await again.settle({ walletId, holdId: "h1", amount: 31n, facts: FACTS })).toMatchObject({
      balances: { posted: 69n, held: 0n, available: 69n },
    });
    await again.close();
    expect(await open.ledger.balances(walletId)).toMatchObject({ posted: 69n });
  });
});

describe("sweeping", () => {
  test("captures what was accrued and frees the rest, once", async () => {
    const { ledger, clock } = open;
    await ledger.hold(holdOf(40n));
    await ledger.hold(holdOf(40n, { holdId: "h2", ttlMs: 90_000 }));
    await ledger.extend({ walletId, holdId: "h1", accrued: 15n, ttlMs: 60_000 });
    expect(await ledger.sweep()).toBe(0);
    clock.nowMs += 60_000;
    expect(await Promise.all([ledger.sweep(), ledger.sweep()])).toEqual([1, 1]);
    expect(await ledger.balances(walletId)).toEqual({ posted: 85n, held: 40n, available: 45n });
    const receipt = await ledger.receipt(walletId, "h1");
    expect(receipt).toMatchObject({
      state: "expired",
      captured: 15n,
      outcome: { source: "expired", totalMs: 60_000 },
    });
    clock.nowMs += 60_000;
    expect(await ledger.sweep()).toBe(1);
    expect(await ledger.sweep()).toBe(0);
  });

  test("is not waited for by a hold that needs the money of one that is due", async () => {
    const { ledger, clock } = open;
    await ledger.setSpendLimit({ walletId, limitId: "l", keyId: undefined, period: "week", amount: 100n });
    await ledger.hold(holdOf(100n, { holdId: "lost" }));
    await ledger.extend({ walletId, holdId: "lost", accrued: 30n, ttlMs: 60_000 });
    clock.nowMs += 60_000;
    expect(await refusalOf(ledger.hold(holdOf(71n)))).toBe("spending_limit_exceeded");
    expect(await ledger.receipt(walletId, "lost")).toMatchObject({ state: "held" });
    expect(await ledger.hold(holdOf(70n))).toMatchObject({ granted: 70n });
    expect(await ledger.receipt(walletId, "lost")).toMatchObject({ state: "expired", captured: 30n });
  });

  test("is followed by the true cost, of which only the rest is booked", async () => {
    const { ledger, clock } = open;
    await ledger.hold(holdOf(40n));
    await ledger.extend({ walletId, holdId: "h1", accrued: 15n, ttlMs: 60_000 });
    clock.nowMs += 60_000;
    await ledger.sweep();
    await ledger.settle({ walletId, holdId: "h1", amount: 42n, facts: FACTS });
    expect(await ledger.receipt(walletId, "h1")).toMatchObject({ late: true, captured: 42n, outcome: FACTS });
    expect(await ledger.balances(walletId)).toEqual({ posted: 58n, held: 0n, available: 58n });
  });
});
