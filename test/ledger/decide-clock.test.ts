import { describe, expect, test } from "bun:test";
import { create, DAY_MS, expire, fund, give, hold, lastOf, release, type Told } from "./given.ts";
import { emptyWallet } from "./memory-wallet.ts";
import { holdIdOf, NOON_MS } from "./samples.ts";

/** The time until which the hold lives after some commands. */
function livesUntil(given: readonly Told[]): number | undefined {
  const stored = emptyWallet();
  lastOf(given, stored);
  return stored.holds.get(holdIdOf("h1"))?.expiresAtMs;
}

describe("an expiry of a hold that was taken under a clock which ran ahead", () => {
  const ahead = (ms: number): readonly Told[] => [create, fund(100n), ms, hold(60n), -ms];

  test("gives it its time to live from now on, and ends it then", () => {
    // A hold's id may be a day off, so that it can be taken half a day ahead of its own time.
    const given = [...ahead(DAY_MS / 2), expire];
    expect(lastOf(given)).toMatchObject({ state: "held", replayed: true, balances: { held: 60n } });
    expect(livesUntil(given)).toBe(NOON_MS + 60_000);
    expect(livesUntil([...given, 5_000, expire])).toBe(NOON_MS + 60_000);
    expect(lastOf([...given, 59_999, expire])).toMatchObject({ state: "held" });
    expect(lastOf([...given, 60_000, expire])).toMatchObject({ state: "expired", balances: { held: 0n } });
  });

  test("does nothing where the clock was ahead by no more than clocks may be apart", () => {
    expect(livesUntil([...ahead(60_000), expire])).toBe(NOON_MS + 120_000);
    expect(livesUntil([...ahead(60_001), expire])).toBe(NOON_MS + 60_000);
  });

  test("leaves what has ended as it is", () => {
    const ended = [create, fund(100n), DAY_MS / 2, hold(60n), release, -DAY_MS / 2];
    expect(livesUntil([...ended, expire])).toBe(NOON_MS + DAY_MS / 2 + 60_000);
  });

  test("leaves a hold as it is that was taken in time and lives long", () => {
    const longer = give("extend", { walletId: "acme", holdId: holdIdOf("h1"), accrued: 0n, ttlMs: DAY_MS });
    expect(livesUntil([create, fund(100n), hold(60n), longer, expire])).toBe(NOON_MS + DAY_MS);
  });
});
