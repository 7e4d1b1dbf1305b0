import { describe, expect, test } from "bun:test";
import { AFTER_EXPIRY, create, extend, fund, type Given, hold, limit, settle } from "./given.ts";
import { decideBatch, emptyWallet } from "./memory-wallet.ts";
import { holdIdOf, NOON_MS } from "./samples.ts";

const next = { holdId: holdIdOf("next") };
const third = { holdId: holdIdOf("third") };

/** Returns the decision of the last command. */
function decisionOf(given: readonly Given[]) {
  const stored = emptyWallet();
  let nowMs = NOON_MS;
  let last: unknown;
  for (const each of given) {
    if (typeof each === "number") nowMs += each;
    else [last] = decideBatch(stored, [each], nowMs);
  }
  return last;
}

describe("the shortfall of a declined hold", () => {
  const funded = [create, fund(100n)];

  test.each<[name: string, given: readonly Given[], declined: string, shortfall: object]>([
    [
      "has the amounts of an unused limit",
      [...funded, limit(10n), hold(11n)],
      "spending_limit_exceeded",
      { needed: 11n, available: 10n, unheld: 10n },
    ],
    [
      "has the amounts of a limit that is partly used and partly held",
      [...funded, limit(10n), hold(3n), settle(3n), hold(4n, next), hold(8n, third)],
      "spending_limit_exceeded",
      { needed: 8n, available: 3n, unheld: 7n },
    ],
    [
      "has zeros for an overdrawn limit",
      [...funded, limit(10n), hold(10n), settle(12n), hold(1n, next)],
      "spending_limit_exceeded",
      { needed: 1n, available: 0n, unheld: 0n },
    ],
    [
      "has the amounts of the tightest of several limits",
      [...funded, limit(10n), limit(4n, { limitId: "l2" }), limit(7n, { limitId: "l3" }), hold(5n)],
      "spending_limit_exceeded",
      { needed: 5n, available: 4n, unheld: 4n },
    ],
    [
      "has the amounts of the limit even when the wallet has less",
      [create, fund(2n), limit(10n), hold(11n)],
      "spending_limit_exceeded",
      { needed: 11n, available: 10n, unheld: 10n },
    ],
    [
      "has the amounts of the wallet when the limit has enough",
      [...funded, limit(500n), hold(101n)],
      "insufficient_balance",
      { needed: 101n, available: 100n, unheld: 100n },
    ],
    [
      "has the amounts of a wallet whose money is on hold",
      [...funded, hold(60n), hold(41n, next)],
      "balance_on_hold",
      { needed: 41n, available: 40n, unheld: 100n },
    ],
    [
      "has zeros for an overdrawn wallet",
      [...funded, hold(100n), settle(130n), hold(1n, next)],
      "insufficient_balance",
      { needed: 1n, available: 0n, unheld: 0n },
    ],
    [
      "needs the minimum, not the amount",
      [create, fund(5n), hold(50n, { minimum: 6n })],
      "insufficient_balance",
      { needed: 6n, available: 5n, unheld: 5n },
    ],
    [
      "has the amounts left after due holds expired",
      [...funded, hold(90n), extend(30n), AFTER_EXPIRY, hold(71n, next)],
      "insufficient_balance",
      { needed: 71n, available: 70n, unheld: 70n },
    ],
  ])("%s", (_, given, declined, shortfall) =>
    expect(decisionOf(given)).toMatchObject({ declined, shortfall }),
  );

  test("is absent from a decline that is not for lack of money", () =>
    expect(decisionOf([hold(1n)])).toEqual({ declined: "wallet_not_found" }));
});
