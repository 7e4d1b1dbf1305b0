import { describe, expect, test } from "bun:test";
import {
  balances,
  charge,
  command,
  create,
  DAY_MS,
  freeze,
  fund,
  type Given,
  hold,
  lastDecision,
  limit,
  MOST,
  RECEIPT,
  refund,
  settle,
} from "./given.ts";
import { emptyWallet } from "./memory-wallet.ts";
import { FACTS, holdIdOf, NOON_MS, WALLET } from "./samples.ts";

const walletId = WALLET;

describe("a charge", () => {
  const charged = [create, fund(100n), charge(30n)];

  test.each<[string, readonly Given[], unknown]>([
    ["is booked in full", charged, { balances: balances(70n, 0n), replayed: false, receiptId: RECEIPT }],
    ["may make the balance negative", [create, charge(5n)], { balances: balances(-5n, 0n) }],
    ["leaves open holds unchanged", [create, fund(9n), hold(9n), charge(5n)], { balances: balances(4n, 9n) }],
    ["is not declined by a limit", [create, fund(9n), limit(1n), charge(5n)], { replayed: false }],
    ["is booked on a frozen wallet", [create, freeze, charge(5n)], { replayed: false }],
    ["is booked once per id", [...charged, charge(30n)], { balances: balances(70n, 0n), replayed: true }],
    [
      "keeps its first receipt id",
      [...charged, charge(30n, { receiptId: holdIdOf("x") })],
      { receiptId: RECEIPT },
    ],
    ["conflicts when its id is repeated with another amount", [...charged, charge(31n)], "conflict"],
    [
      "conflicts when its id is repeated with another key",
      [...charged, charge(30n, { keyId: "k2" })],
      "conflict",
    ],
    [
      "may share its id with a top-up",
      [...charged, charge(1n, { chargeId: "t1", receiptId: holdIdOf("x") })],
      { replayed: false },
    ],
    ["can have the largest amount", [create, charge(MOST)], { balances: balances(-MOST, 0n) }],
    ["of 0 is declined", [create, charge(0n)], "invalid_amount"],
    [
      "is refunded by its receipt id",
      [...charged, refund(30n, "r1", RECEIPT)],
      { balances: balances(100n, 0n) },
    ],
    [
      "cannot be refunded above its amount",
      [...charged, refund(31n, "r1", RECEIPT)],
      "refund_exceeds_charge",
    ],
    [
      "cannot be settled with another amount",
      [...charged, command("settle", { walletId, holdId: RECEIPT, amount: 9n, facts: FACTS })],
      "conflict",
    ],
    [
      "cannot be released",
      [...charged, command("release", { walletId, holdId: RECEIPT, facts: FACTS })],
      "hold_settled",
    ],
    ["reserves its receipt's id", [...charged, hold(0n, { holdId: RECEIPT })], "conflict"],
  ])("%s", (_, given, result) => expectDecision(given, result));

  test("counts against the limits of its key and of the whole wallet, and its refund is subtracted", () => {
    const stored = emptyWallet();
    const limits = [
      limit(50n),
      limit(50n, { limitId: "all", keyId: undefined, period: "month" }),
      limit(50n, { limitId: "others", keyId: "k2" }),
    ];
    lastDecision([create, fund(100n), ...limits, charge(30n), refund(10n, "r1", RECEIPT)], stored);
    expect([...stored.counters.values()].map(({ counterId, used, held }) => [counterId, used, held])).toEqual(
      [
        ["all", 20n, 0n],
        ["l1", 20n, 0n],
      ],
    );
    expect(lastDecision([hold(31n)], stored)).toBe("spending_limit_exceeded");
    expect(lastDecision([hold(30n)], stored)).toMatchObject({ granted: 30n });
  });

  test("counts in the period it is booked in", () => {
    const given = [create, fund(100n), limit(30n), charge(30n)];
    const [late, next] = [DAY_MS / 2 - 1, DAY_MS / 2];
    expect(lastDecision([...given, late, hold(1n)])).toBe("spending_limit_exceeded");
    expect(lastDecision([...given, next, hold(1n)])).toMatchObject({ granted: 1n });
  });

  test("writes one transfer and a settled receipt", () => {
    const stored = emptyWallet();
    lastDecision([create, charge(5n, { metadata: { job: 1 } })], stored);
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

  test("without its receipt is a replay by its amount alone", () => {
    const stored = emptyWallet();
    lastDecision(charged, stored);
    stored.holds.delete(RECEIPT);
    expect(lastDecision([charge(30n, { keyId: "k2" })], stored)).toMatchObject({
      replayed: true,
      receiptId: RECEIPT,
    });
    expect(lastDecision([charge(31n)], stored)).toBe("conflict");
  });
});

describe("top-ups and refunds", () => {
  const charged = [create, fund(100n), limit(20n), hold(10n), settle(8n)];

  test.each<[string, readonly Given[], unknown]>([
    [
      "a top-up counts once per id",
      [create, fund(5n), fund(5n)],
      { balances: balances(5n, 0n), replayed: true },
    ],
    ["a top-up id with another amount conflicts", [create, fund(5n), fund(6n)], "conflict"],
    ["a correction of a top-up's id and amount conflicts", [create, fund(5n), fund(-5n)], "conflict"],
    ["a top-up of 0 is declined", [create, fund(0n)], "invalid_amount"],
    [
      "a correction below the least balance is declined",
      [create, fund(-MOST), command("top_up", { walletId, topUpId: "t2", amount: -1n })],
      "balance_overflow",
    ],
    [
      "a top-up above the maximum balance is declined",
      [create, fund(MOST), command("top_up", { walletId, topUpId: "t2", amount: 1n })],
      "balance_overflow",
    ],
    [
      "a refund adds to the balance",
      [...charged, refund(3n)],
      { balances: balances(95n, 0n), replayed: false },
    ],
    [
      "a refund counts once per id",
      [...charged, refund(3n), refund(3n)],
      { balances: balances(95n, 0n), replayed: true },
    ],
    ["a refund id with another amount conflicts", [...charged, refund(3n), refund(2n)], "conflict"],
    [
      "two refunds above the charge are declined",
      [...charged, refund(5n), refund(4n, "r2")],
      "refund_exceeds_charge",
    ],
    [
      "three refunds above the charge are declined",
      [...charged, refund(3n), refund(3n, "r2"), refund(3n, "r3")],
      "refund_exceeds_charge",
    ],
    [
      "a refund of an open hold is declined",
      [create, fund(9n), hold(9n), refund(1n)],
      "refund_exceeds_charge",
    ],
    ["a refund without a hold is declined", [create, refund(1n)], "hold_not_found"],
    [
      "a refund lowers the limit's counter",
      [...charged, refund(8n), hold(20n, { holdId: holdIdOf("next") })],
      { granted: 20n },
    ],
    [
      "without the refund the limit declines the hold",
      [...charged, hold(20n, { holdId: holdIdOf("next") })],
      "spending_limit_exceeded",
    ],
  ])("%s", (_, given, result) => expectDecision(given, result));

  test("a refund and a top-up may share an id", () =>
    expect(lastDecision([...charged, refund(3n, "t1")])).toMatchObject({ replayed: false }));
});

/** Expects a declined command by its reason, and an accepted one by members of its result. */
function expectDecision(given: readonly Given[], result: unknown): void {
  const got = lastDecision(given);
  if (typeof result === "string") expect(got).toBe(result);
  else expect(got).toMatchObject(result as object);
}
