import { describe, expect, test } from "bun:test";
import {
  balances,
  command,
  create,
  fund,
  type Given,
  hold,
  lastDecision,
  limit,
  MOST,
  refund,
  settle,
} from "./given.ts";
import { holdIdOf, WALLET } from "./samples.ts";

const walletId = WALLET;

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
  ])("%s", (_, given, result) => {
    const got = lastDecision(given);
    if (typeof result === "string") expect(got).toBe(result);
    else expect(got).toMatchObject(result as object);
  });

  test("a refund and a top-up may share an id", () =>
    expect(lastDecision([...charged, refund(3n, "t1")])).toMatchObject({ replayed: false }));
});
