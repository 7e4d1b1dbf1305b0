import { beforeEach, describe, expect, test } from "bun:test";
import { parseUsd } from "../../src/domain/money.ts";
import { printOverview, readOverview, runwayOf } from "../../src/payments/overview.ts";
import { proveWallet, type WalletProof } from "../../src/payments/proof.ts";
import { DIALECTS, storageForTests } from "../accounts/temp-storage.ts";

const DAY_MS = 86_400_000;
const FACTS = { surface: "chat", model: "m" };
const OUTCOME = { outcome: "ok", source: "reported", attempts: [] } as const;

describe.each(DIALECTS)("a wallet in %s", (dialect) => {
  const storage = storageForTests(dialect);
  let walletId: string;
  beforeEach(async () => {
    walletId = (await storage.newAccount()).id;
  });

  const topUp = (usd: string, topUpId = crypto.randomUUID()) =>
    storage.ledger.topUp({ walletId, topUpId, amount: parseUsd(usd) });

  async function hold(usd: string): Promise<string> {
    const holdId = Bun.randomUUIDv7("hex", storage.clock.nowMs);
    const amount = parseUsd(usd);
    const request = { walletId, holdId, keyId: "k", amount, minimum: amount, ttlMs: 60_000, facts: FACTS };
    await storage.ledger.hold(request);
    return holdId;
  }

  async function spend(usd: string): Promise<string> {
    const holdId = await hold(usd);
    await storage.ledger.settle({ walletId, holdId, amount: parseUsd(usd), facts: OUTCOME });
    return holdId;
  }

  const overviewNow = async () =>
    printOverview(await readOverview(storage.ledger, walletId, storage.clock.nowMs));

  test("shows posted − held + credit = available, and what moved it", async () => {
    await topUp("10");
    const spent = await spend("1.5");
    await storage.ledger.refund({ walletId, refundId: "r", holdId: spent, amount: parseUsd("0.25") });
    await hold("2");
    storage.clock.nowMs += 1_000;
    await hold("0.5");
    expect(await overviewNow()).toEqual({
      posted_usd: "8.75",
      held_usd: "2.50",
      credit_usd: "0.00",
      available_usd: "6.25",
      running: 2,
      oldest_hold_at: "2026-06-01T00:00:00.000Z",
      spent_today_usd: "1.25",
      spent_month_usd: "1.25",
      runway_days: 5,
      totals: { topped_up_usd: "10.00", charged_usd: "1.50", refunded_usd: "0.25", expired_usd: "0.00" },
      credits: [expect.objectContaining({ source: "purchase", left_usd: "8.75", expires_at: null })],
      next_end: null,
      state: "active",
    });
  });

  test("counts today and this month in UTC, and its runway over 7 days", async () => {
    storage.clock.nowMs = Date.UTC(2026, 5, 30, 12);
    await topUp("100");
    await spend("8");
    storage.clock.nowMs = Date.UTC(2026, 6, 1, 12);
    await spend("4");
    storage.clock.nowMs = Date.UTC(2026, 6, 3, 12);
    await spend("2");
    // The wallet is 32 days old: 14 USD in 7 days, 86 USD are left.
    expect(await overviewNow()).toMatchObject({
      spent_today_usd: "2.00",
      spent_month_usd: "6.00",
      runway_days: 43,
    });
    storage.clock.nowMs += 30 * DAY_MS;
    expect(await overviewNow()).toMatchObject({ spent_month_usd: "0.00", runway_days: null });
  });

  test("an empty wallet has neither runway nor transfers", async () => {
    expect(await overviewNow()).toMatchObject({ available_usd: "0.00", running: 0, runway_days: null });
    expect(await proveWallet(storage.ledger, walletId)).toMatchObject({
      posted: 0n,
      computedPosted: 0n,
      heldSum: 0n,
      isProven: true,
    });
  });

  test("an unknown wallet is refused", async () => {
    const unknown = { code: "wallet_not_found" };
    await expect(proveWallet(storage.ledger, "nothing")).rejects.toMatchObject(unknown);
    await expect(readOverview(storage.ledger, "nothing", Date.now())).rejects.toMatchObject(unknown);
  });

  test("is proven while requests run and end", async () => {
    await topUp("1000");
    let isRunning = true;
    const traffic = async () => {
      while (isRunning) await spend("0.000000007");
    };
    // Traffic ends with the test, whatever its result.
    const stop = async () => {
      isRunning = false;
      await Promise.all(busy);
    };
    const busy = [traffic(), traffic()];
    const proofs: WalletProof[] = [];
    for (let round = 0; round < 20; round += 1) proofs.push(await proveWallet(storage.ledger, walletId));
    await stop();
    expect(proofs.map(({ isProven }) => isProven)).toEqual(proofs.map(() => true));
    expect(proofs.map(({ posted }) => posted)).toEqual(proofs.map(({ computedPosted }) => computedPosted));
    const held = await hold("3");
    expect(await proveWallet(storage.ledger, walletId)).toMatchObject({
      openHolds: 1,
      heldSum: parseUsd("3"),
      held: parseUsd("3"),
      isBusy: false,
      isProven: true,
    });
    await storage.ledger.release({ walletId, holdId: held, facts: OUTCOME });
  });

  test("is not proven when a transfer or a hold is missing", async () => {
    await topUp("5");
    await hold("1");
    const real = storage.ledger;
    const withoutHold = { ...real, runningTotals: async () => [] };
    expect(await proveWallet(withoutHold, walletId)).toMatchObject({ isProven: false, isBusy: false });
    const withoutNano = {
      ...real,
      journalTotals: async (id: string) => ({
        ...(await real.journalTotals(id)),
        toppedUp: parseUsd("5") - 1n,
      }),
    };
    expect(await proveWallet(withoutNano, walletId)).toMatchObject({ isProven: false });
    expect(await proveWallet(real, walletId)).toMatchObject({ isProven: true });
  });
});

describe("the runway", () => {
  const usd = parseUsd;
  test.each([
    ["70", "70", 7 * DAY_MS, 7],
    ["1", "3", DAY_MS, 0.3],
    ["0", "3", DAY_MS, 0],
    ["5", "0", DAY_MS, undefined],
  ])("of %s USD after %s USD in %i ms is %p days", (available, spent, spanMs, days) => {
    expect(runwayOf({ available: usd(available), spent: usd(spent), spanMs })).toBe(days);
  });

  test("of a wallet below zero is over", () =>
    expect(runwayOf({ available: -1n, spent: 1n, spanMs: DAY_MS })).toBe(0));

  test("after more refunds than charges is unknown", () =>
    expect(runwayOf({ available: 1n, spent: -1n, spanMs: DAY_MS })).toBeUndefined());
});
