import { beforeEach, describe, expect, test } from "bun:test";
import { parseUsd, printUsd } from "../../src/domain/money.ts";
import { type Ledger, LedgerError } from "../../src/ledger/ledger.ts";
import {
  payIn,
  type SignedBy,
  type SignedReversal,
  type SignedTopUp,
  takeBack,
} from "../../src/payments/signed-payments.ts";
import { sweepPayments } from "../../src/payments/sweep.ts";
import { DIALECTS, storageForTests } from "../accounts/temp-storage.ts";
import { createCapturedLog } from "../support/captured-log.ts";

const HOUR_MS = 3_600_000;

describe.each(DIALECTS)("payments by signed calls in %s", (dialect) => {
  const storage = storageForTests(dialect);
  let accountId: string;
  let by: SignedBy;
  beforeEach(async () => {
    accountId = (await storage.newAccount()).id;
    const id = `c${crypto.randomUUID().slice(0, 8)}`;
    const caller = { id, secrets: [], callMax: parseUsd("50"), dayMax: parseUsd("100") };
    by = { caller, actor: { kind: "payment_caller", id, name: id } };
  });

  /** A ledger that is away for the next `count` bookings; `books` when it books them and its answer is lost. */
  function awayFor(count: number, { books = false } = {}): Pick<Ledger, "topUp"> {
    let left = count;
    return {
      async topUp(request) {
        if (left <= 0) return storage.ledger.topUp(request);
        left -= 1;
        if (books) await storage.ledger.topUp(request);
        throw new LedgerError("unavailable");
      },
    };
  }

  const topUpOf = (id: string, more: Partial<SignedTopUp> = {}): SignedTopUp => ({
    id,
    accountId,
    amount: parseUsd("10"),
    source: "purchase",
    expiresAtMs: undefined,
    reason: undefined,
    ...more,
  });
  const reversalOf = (id: string, paymentId: string, usd: string): SignedReversal => ({
    ...{ id, paymentId, amount: parseUsd(usd), reason: undefined },
  });
  const postedNow = async () => printUsd((await storage.ledger.balances(accountId)).posted);
  const sweep = () => sweepPayments({ ...storage, log: createCapturedLog() });

  test.each([false, true])(
    "a payment whose booking failed is credited once by the sweep (booked: %p)",
    async (books) => {
      const parts = { ...storage, ledger: awayFor(1, { books }) };
      await expect(payIn(parts, by, topUpOf("p1"))).rejects.toThrow(LedgerError);
      expect(await sweep()).toBe(1);
      expect(await postedNow()).toBe("10.00");
      expect(await sweep()).toBe(0);
      expect((await payIn(storage, by, topUpOf("p1"))).isReplay).toBe(true);
      expect(await postedNow()).toBe("10.00");
    },
  );

  test("a repeated call credits a payment whose booking failed", async () => {
    const parts = { ...storage, ledger: awayFor(1) };
    await expect(payIn(parts, by, topUpOf("p1"))).rejects.toThrow(LedgerError);
    expect((await payIn(parts, by, topUpOf("p1"))).isReplay).toBe(true);
    expect(await postedNow()).toBe("10.00");
  });

  test("a payment that is not booked is booked before it is taken back", async () => {
    const parts = { ...storage, ledger: awayFor(1) };
    await expect(payIn(parts, by, topUpOf("p1"))).rejects.toThrow(LedgerError);
    await takeBack(parts, by, reversalOf("r1", "p1", "10"));
    expect(await postedNow()).toBe("0.00");
    const { items } = await storage.ledger.transfers(accountId, { size: 10 });
    expect(items.map(({ kind }) => kind)).toEqual(["correction", "top_up"]);
  });

  test("a reversal whose booking failed is booked once by the sweep", async () => {
    await payIn(storage, by, topUpOf("p1"));
    const parts = { ...storage, ledger: awayFor(1, { books: true }) };
    await expect(takeBack(parts, by, reversalOf("r1", "p1", "4"))).rejects.toThrow(LedgerError);
    expect(await sweep()).toBe(1);
    expect((await takeBack(storage, by, reversalOf("r1", "p1", "4"))).left).toBe(parseUsd("6"));
    expect(await postedNow()).toBe("6.00");
  });

  test("a reversal takes the credit of its payment, not the one that ends first", async () => {
    await payIn(storage, by, topUpOf("first", { expiresAtMs: storage.now() + HOUR_MS }));
    await payIn(storage, by, topUpOf("second"));
    await takeBack(storage, by, reversalOf("r1", "second", "7"));
    const { items } = await storage.ledger.credits(accountId, { size: 10 });
    const left = items.map(({ creditId, left: rest }) => [creditId.split(":")[2], printUsd(rest)]);
    expect(left.sort()).toEqual([
      ["first", "10.00"],
      ["second", "3.00"],
    ]);
  });

  test("a reversal of spent money makes the balance negative", async () => {
    await payIn(storage, by, topUpOf("p1"));
    await storage.ledger.topUp({ walletId: accountId, topUpId: "spent", amount: -parseUsd("8") });
    await takeBack(storage, by, reversalOf("r1", "p1", "10"));
    expect(await postedNow()).toBe("-8.00");
  });

  test("a credit that ended before it was booked is left out of the sweep after a day", async () => {
    const parts = { ...storage, ledger: awayFor(1) };
    const ends = topUpOf("p1", { expiresAtMs: storage.now() + HOUR_MS });
    await expect(payIn(parts, by, ends)).rejects.toThrow(LedgerError);
    const startMs = storage.clock.nowMs;
    const log = createCapturedLog();
    storage.clock.nowMs = startMs + 2 * HOUR_MS;
    await sweepPayments({ ...storage, log });
    expect(log.text()).toContain("payment not credited");
    storage.clock.nowMs = startMs + 30 * HOUR_MS;
    const later = createCapturedLog();
    await sweepPayments({ ...storage, log: later });
    expect(later.text()).toBe("");
    storage.clock.nowMs = startMs;
  });

  test("the maximum of a day begins anew at midnight UTC", async () => {
    const payUntilFull = async (day: string) => {
      for (const at of [1, 2]) await payIn(storage, by, topUpOf(`${day}-${at}`, { amount: parseUsd("50") }));
      await expect(payIn(storage, by, topUpOf(`${day}-3`, { amount: 1n }))).rejects.toThrow("not_permitted");
    };
    const startMs = storage.clock.nowMs;
    await payUntilFull("monday");
    storage.clock.nowMs = Date.UTC(2026, 5, 2) - 1;
    await expect(payIn(storage, by, topUpOf("late", { amount: 1n }))).rejects.toThrow("not_permitted");
    storage.clock.nowMs = Date.UTC(2026, 5, 2);
    await payUntilFull("tuesday");
    storage.clock.nowMs = startMs;
    expect(await postedNow()).toBe("200.00");
  });
});
