import { describe, expect, test } from "bun:test";
import {
  balances,
  charge,
  create,
  DAY_MS,
  freeze,
  fund,
  give,
  hold,
  lastOf,
  limit,
  MOST,
  RECEIPT,
  refund,
  type Told,
} from "./given.ts";
import { emptyWallet } from "./memory-wallet.ts";
import { FACTS, holdIdOf, NOON_MS, WALLET } from "./samples.ts";

const walletId = WALLET;

describe("a charge", () => {
  const charged = [create, fund(100n), charge(30n)];

  test.each<[string, readonly Told[], unknown]>([
    ["is booked in full", charged, { balances: balances(70n, 0n), replayed: false, receiptId: RECEIPT }],
    ["may drive a wallet below zero", [create, charge(5n)], { balances: balances(-5n, 0n) }],
    ["leaves what is held alone", [create, fund(9n), hold(9n), charge(5n)], { balances: balances(4n, 9n) }],
    ["is not stopped by a limit", [create, fund(9n), limit(1n), charge(5n)], { replayed: false }],
    ["is booked on a frozen wallet too", [create, freeze, charge(5n)], { replayed: false }],
    ["counts once per id", [...charged, charge(30n)], { balances: balances(70n, 0n), replayed: true }],
    [
      "keeps its first receipt",
      [...charged, charge(30n, { receiptId: holdIdOf("x") })],
      { receiptId: RECEIPT },
    ],
    ["conflicts with its own id and another amount", [...charged, charge(31n)], "conflict"],
    ["conflicts with its own id and another key", [...charged, charge(30n, { keyId: "k2" })], "conflict"],
    [
      "may share its id with a top-up",
      [...charged, charge(1n, { chargeId: "t1", receiptId: holdIdOf("x") })],
      { replayed: false },
    ],
    ["can be the largest there is", [create, charge(MOST)], { balances: balances(-MOST, 0n) }],
    ["of nothing is none", [create, charge(0n)], "invalid_amount"],
    [
      "is refunded by its receipt",
      [...charged, refund(30n, "r1", RECEIPT)],
      { balances: balances(100n, 0n) },
    ],
    ["gives back no more than it took", [...charged, refund(31n, "r1", RECEIPT)], "refund_exceeds_charge"],
    [
      "leaves no hold to settle",
      [...charged, give("settle", { walletId, holdId: RECEIPT, amount: 9n, facts: FACTS })],
      "conflict",
    ],
    [
      "leaves no hold to release",
      [...charged, give("release", { walletId, holdId: RECEIPT, facts: FACTS })],
      "hold_settled",
    ],
    ["leaves its receipt's id to nobody", [...charged, hold(0n, { holdId: RECEIPT })], "conflict"],
  ])("%s", (_, given, result) => {
    const got = lastOf(given);
    if (typeof result === "string") expect(got).toBe(result);
    else expect(got).toMatchObject(result as object);
  });

  test("counts against the limits of its key and of the whole wallet, and a refund of it counts back", () => {
    const stored = emptyWallet();
    const limits = [
      limit(50n),
      limit(50n, { limitId: "all", keyId: undefined, period: "month" }),
      limit(50n, { limitId: "others", keyId: "k2" }),
    ];
    lastOf([create, fund(100n), ...limits, charge(30n), refund(10n, "r1", RECEIPT)], stored);
    expect([...stored.counters.values()].map(({ limitId, used, held }) => [limitId, used, held])).toEqual([
      ["all", 20n, 0n],
      ["l1", 20n, 0n],
    ]);
    expect(lastOf([hold(31n)], stored)).toBe("spending_limit_exceeded");
    expect(lastOf([hold(30n)], stored)).toMatchObject({ granted: 30n });
  });

  test("counts in the period it is booked in", () => {
    const given = [create, fund(100n), limit(30n), charge(30n)];
    const [late, next] = [DAY_MS / 2 - 1, DAY_MS / 2];
    expect(lastOf([...given, late, hold(1n)])).toBe("spending_limit_exceeded");
    expect(lastOf([...given, next, hold(1n)])).toMatchObject({ granted: 1n });
  });

  test("writes one transfer and a receipt that is settled", () => {
    const stored = emptyWallet();
    lastOf([create, charge(5n, { metadata: { job: 1 } })], stored);
    expect(stored.transfers).toEqual([
      {
        seq: 1,
        transferId: "c1",
        kind: 6,
        debitAccount: 1,
        creditAccount: 2,
        amount: 5n,
        postedAfter: -5n,
        holdId: RECEIPT,
        createdAtMs: NOON_MS,
      },
    ]);
    expect(stored.holds.get(RECEIPT)).toMatchObject({
      state: "settled",
      late: false,
      keyId: "k1",
      granted: 0n,
      captured: 5n,
      actual: 5n,
      resolvedAtMs: NOON_MS,
      facts: { surface: "batch", model: "demo" },
      metadata: '{"job":1}',
    });
    expect(stored.resolutions.get(RECEIPT)).toEqual({ facts: FACTS, metadata: undefined });
  });

  test("whose receipt is no longer kept is known by its amount", () => {
    const stored = emptyWallet();
    lastOf(charged, stored);
    stored.holds.delete(RECEIPT);
    expect(lastOf([charge(30n, { keyId: "k2" })], stored)).toMatchObject({
      replayed: true,
      receiptId: RECEIPT,
    });
    expect(lastOf([charge(31n)], stored)).toBe("conflict");
  });
});
