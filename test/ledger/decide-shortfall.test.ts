import { describe, expect, test } from "bun:test";
import { decideBatch, emptyWallet } from "./memory-store.ts";
import { holdIdOf, NOON_MS } from "./samples.ts";
import { AFTER_EXPIRY, create, extend, fund, hold, limit, settle, type Told } from "./told.ts";

const next = { holdId: holdIdOf("next") };
const third = { holdId: holdIdOf("third") };

/** What the last of some commands comes to, when all before it were taken. */
function outcomeOf(given: readonly Told[]) {
  const stored = emptyWallet();
  let nowMs = NOON_MS;
  let last: unknown;
  for (const each of given) {
    if (typeof each === "number") nowMs += each;
    else [last] = decideBatch(stored, [each], nowMs);
  }
  return last;
}

describe("a declined hold says what it needed and what there was", () => {
  const funded = [create, fund(100n)];

  test.each<[name: string, given: readonly Told[], refusal: string, shortfall: object]>([
    [
      "of a limit of which nothing is used",
      [...funded, limit(10n), hold(11n)],
      "spending_limit_exceeded",
      { needed: 11n, available: 10n, unheld: 10n },
    ],
    [
      "of a limit that is used in part and held in part",
      [...funded, limit(10n), hold(3n), settle(3n), hold(4n, next), hold(8n, third)],
      "spending_limit_exceeded",
      { needed: 8n, available: 3n, unheld: 7n },
    ],
    [
      "of a limit that is overdrawn",
      [...funded, limit(10n), hold(10n), settle(12n), hold(1n, next)],
      "spending_limit_exceeded",
      { needed: 1n, available: 0n, unheld: 0n },
    ],
    [
      "of the tightest of several limits",
      [...funded, limit(10n), limit(4n, { limitId: "l2" }), limit(7n, { limitId: "l3" }), hold(5n)],
      "spending_limit_exceeded",
      { needed: 5n, available: 4n, unheld: 4n },
    ],
    [
      "of the limit, where the wallet has even less",
      [create, fund(2n), limit(10n), hold(11n)],
      "spending_limit_exceeded",
      { needed: 11n, available: 10n, unheld: 10n },
    ],
    [
      "of the wallet, where the limit has enough",
      [...funded, limit(500n), hold(101n)],
      "insufficient_balance",
      { needed: 101n, available: 100n, unheld: 100n },
    ],
    [
      "of a wallet whose money is on hold",
      [...funded, hold(60n), hold(41n, next)],
      "balance_on_hold",
      { needed: 41n, available: 40n, unheld: 100n },
    ],
    [
      "of a wallet that is overdrawn",
      [...funded, hold(100n), settle(130n), hold(1n, next)],
      "insufficient_balance",
      { needed: 1n, available: 0n, unheld: 0n },
    ],
    [
      "of its minimum, not of its amount",
      [create, fund(5n), hold(50n, { minimum: 6n })],
      "insufficient_balance",
      { needed: 6n, available: 5n, unheld: 5n },
    ],
    [
      "after due holds made all the room they can",
      [...funded, hold(90n), extend(30n), AFTER_EXPIRY, hold(71n, next)],
      "insufficient_balance",
      { needed: 71n, available: 70n, unheld: 70n },
    ],
  ])("%s", (_, given, refusal, shortfall) => {
    expect(outcomeOf(given)).toEqual({ refusal, shortfall });
  });

  test("of anything else there are no amounts", () => {
    expect(outcomeOf([hold(1n)])).toEqual({ refusal: "wallet_not_found" });
  });
});
