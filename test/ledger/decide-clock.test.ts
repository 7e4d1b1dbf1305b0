import { describe, expect, test } from "bun:test";
import { command, create, DAY_MS, expire, fund, type Given, hold, lastDecision, release } from "./given.ts";
import { emptyWallet } from "./memory-wallet.ts";
import { holdIdOf, NOON_MS } from "./samples.ts";

/** Returns the expiry time of the hold after some commands. */
function expiresAtOf(given: readonly Given[]): number | undefined {
  const stored = emptyWallet();
  lastDecision(given, stored);
  return stored.holds.get(holdIdOf("h1"))?.expiresAtMs;
}

describe("an expiry of a hold taken while the clock ran ahead", () => {
  const ahead = (ms: number): readonly Given[] => [create, fund(100n), ms, hold(60n), -ms];

  test("gives it its time to live from now on and then expires it", () => {
    // A hold's id may be a day off, so that it can be taken half a day ahead of its own time.
    const given = [...ahead(DAY_MS / 2), expire];
    expect(lastDecision(given)).toMatchObject({ state: "held", replayed: true, balances: { held: 60n } });
    expect(expiresAtOf(given)).toBe(NOON_MS + 60_000);
    expect(expiresAtOf([...given, 5_000, expire])).toBe(NOON_MS + 60_000);
    expect(lastDecision([...given, 59_999, expire])).toMatchObject({ state: "held" });
    expect(lastDecision([...given, 60_000, expire])).toMatchObject({
      state: "expired",
      balances: { held: 0n },
    });
  });

  test("changes nothing when the clock was ahead by at most the tolerated skew", () => {
    expect(expiresAtOf([...ahead(60_000), expire])).toBe(NOON_MS + 120_000);
    expect(expiresAtOf([...ahead(60_001), expire])).toBe(NOON_MS + 60_000);
  });

  test("leaves a resolved hold unchanged", () => {
    const ended = [create, fund(100n), DAY_MS / 2, hold(60n), release, -DAY_MS / 2];
    expect(expiresAtOf([...ended, expire])).toBe(NOON_MS + DAY_MS / 2 + 60_000);
  });

  test("leaves a hold unchanged that was taken in time and extended far", () => {
    const longer = command("extend", {
      walletId: "acme",
      holdId: holdIdOf("h1"),
      accrued: 0n,
      ttlMs: DAY_MS,
    });
    expect(expiresAtOf([create, fund(100n), hold(60n), longer, expire])).toBe(NOON_MS + DAY_MS);
  });
});
