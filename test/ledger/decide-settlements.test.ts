import { describe, expect, test } from "bun:test";
import {
  AFTER_EXPIRY,
  balances,
  charge,
  command,
  create,
  DAY_MS,
  expire,
  extend,
  fund,
  type Given,
  hold,
  lastDecision,
  limit,
  MOST,
  release,
  settle,
} from "./given.ts";
import { emptyWallet } from "./memory-wallet.ts";
import { FACTS, holdIdOf, NOON_MS, WALLET } from "./samples.ts";

const [walletId, holdId, facts] = [WALLET, holdIdOf("h1"), FACTS];

describe("a settlement", () => {
  const held = [create, fund(100n), hold(10n)];

  test.each<[string, readonly Given[], object]>([
    [
      "books less than was held and frees the rest",
      [...held, settle(4n)],
      { captured: 4n, balances: balances(96n, 0n) },
    ],
    ["of 0 settles the hold", [...held, settle(0n)], { state: "settled", captured: 0n, replayed: false }],
    ["books more than was held", [...held, settle(150n)], { captured: 150n, balances: balances(-50n, 0n) }],
    ["repeated is booked once", [...held, settle(4n), settle(4n)], { captured: 4n, replayed: true }],
    [
      "after an expiry books only the difference",
      [...held, extend(3n), AFTER_EXPIRY, expire, settle(8n)],
      { state: "settled", captured: 8n, balances: balances(92n, 0n), replayed: false },
    ],
    [
      "after an expiry that captured more returns no money",
      [...held, extend(8n), AFTER_EXPIRY, expire, settle(3n)],
      { state: "settled", captured: 8n, balances: balances(92n, 0n) },
    ],
    [
      "after such an expiry is a replay by its own amount",
      [...held, extend(8n), AFTER_EXPIRY, expire, settle(3n), settle(3n)],
      { captured: 8n, replayed: true },
    ],
    [
      "past the hold's time but before an expiry is an ordinary settlement",
      [...held, extend(8n), 2 * AFTER_EXPIRY, settle(3n)],
      { state: "settled", captured: 3n },
    ],
  ])("%s", (_, given, result) => expect(lastDecision(given)).toMatchObject(result));

  test.each<[string, readonly Given[], string]>([
    ["of a negative cost", [...held, settle(-1n)], "invalid_amount"],
    ["of a cost above the maximum", [...held, settle(MOST + 1n)], "invalid_amount"],
    ["without a wallet", [settle(1n)], "wallet_not_found"],
    ["without a hold", [create, settle(1n)], "hold_not_found"],
    ["after a release", [...held, release, settle(1n)], "hold_released"],
    ["with another amount than before", [...held, settle(4n), settle(5n)], "conflict"],
    [
      "to the minimum balance, which declines a next hold",
      [
        create,
        hold(0n, { holdId: holdIdOf("x") }),
        command("settle", { walletId, holdId: holdIdOf("x"), amount: MOST, facts }),
        hold(0n),
      ],
      "insufficient_balance",
    ],
    [
      "below the minimum balance",
      [
        create,
        hold(0n),
        hold(0n, { holdId: holdIdOf("x") }),
        command("settle", { walletId, holdId: holdIdOf("x"), amount: MOST, facts }),
        settle(1n),
      ],
      "balance_overflow",
    ],
  ])("is declined: %s", (_, given, declined) => expect(lastDecision(given)).toBe(declined));

  test("after an expiry marks the hold late", () => {
    const stored = emptyWallet();
    lastDecision([...held, AFTER_EXPIRY, expire, settle(8n)], stored);
    expect(stored.holds.get(holdId)).toMatchObject({ late: true, state: "settled", captured: 8n });
    expect(stored.transfers.map(({ kind, amount }) => [kind, amount])).toEqual([
      [1, 100n],
      [4, 8n],
    ]);
  });
});

describe("a release", () => {
  const held = [create, fund(100n), hold(10n)];

  test.each<[string, readonly Given[], unknown]>([
    [
      "frees the whole hold, also its accrued amount",
      [...held, extend(5n), release],
      { captured: 0n, balances: balances(100n, 0n), replayed: false },
    ],
    ["repeated is a replay", [...held, release, release], { state: "released", replayed: true }],
    [
      "leaves an expired hold unchanged",
      [...held, extend(5n), AFTER_EXPIRY, expire, release],
      { state: "expired", captured: 5n, replayed: true },
    ],
  ])("%s", (_, given, result) => expect(lastDecision(given)).toMatchObject(result as object));

  test("is declined after a settlement and without a hold or wallet", () => {
    expect(lastDecision([...held, settle(1n), release])).toBe("hold_settled");
    expect(lastDecision([create, release])).toBe("hold_not_found");
    expect(lastDecision([release])).toBe("wallet_not_found");
  });
});

describe("a heartbeat", () => {
  const held = [create, fund(100n), hold(10n)];

  test("never lowers the accrued amount, and an expiry captures the highest", () => {
    const given = [...held, extend(7n), extend(2n), AFTER_EXPIRY, expire];
    expect(lastDecision(given)).toMatchObject({
      state: "expired",
      captured: 7n,
      balances: balances(93n, 0n),
    });
  });

  test("extends a hold by its time to live from the heartbeat on", () => {
    expect(lastDecision([...held, 59_999, extend(0n), 59_999, expire])).toMatchObject({ state: "held" });
    expect(lastDecision([...held, 59_999, extend(0n), 60_000, expire])).toMatchObject({ state: "expired" });
  });

  test("never shortens a hold's life", () => {
    const short = command("extend", { walletId, holdId, accrued: 0n, ttlMs: 1 });
    expect(lastDecision([...held, short, 59_999, expire])).toMatchObject({ state: "held" });
  });

  test.each<[string, readonly Given[], string]>([
    ["expired", [...held, AFTER_EXPIRY, expire, extend(1n)], "hold_expired"],
    ["settled", [...held, settle(1n), extend(1n)], "hold_settled"],
    ["released", [...held, release, extend(1n)], "hold_released"],
  ])("does not reopen a hold that is %s", (_, given, declined) => expect(lastDecision(given)).toBe(declined));
});

describe("an expiry", () => {
  const other = { holdId: holdIdOf("other") };
  const deepIn = [create, fund(9n), hold(9n), hold(0n, other), settle(MOST, other)];

  test("clamps an accrued amount that would overflow the balance", () => {
    const expired = [...deepIn, extend(MOST), AFTER_EXPIRY, expire];
    expect(lastDecision(expired)).toMatchObject({
      state: "expired",
      captured: 9n,
      balances: balances(-MOST, 0n),
    });
    expect(lastDecision([...expired, settle(9n)])).toMatchObject({ state: "settled", captured: 9n });
    expect(lastDecision([...expired, settle(10n)])).toBe("balance_overflow");
  });

  test("clamps an accrued amount that would overflow a limit's counter", () => {
    const counted = [create, fund(MOST), limit(MOST), hold(9n), charge(MOST - 2n), extend(7n)];
    expect(lastDecision([...counted, AFTER_EXPIRY, expire])).toMatchObject({
      state: "expired",
      captured: 2n,
    });
  });

  test("is booked as an expiry capture on the limits of each hold", () => {
    const stored = emptyWallet();
    const [first, second] = [holdIdOf("first"), holdIdOf("second")];
    const heartbeat = { walletId, accrued: 2n, ttlMs: 60_000 };
    const given = [
      create,
      fund(10n),
      limit(9n),
      limit(9n, { limitId: "l2", keyId: "k2" }),
      hold(5n, { holdId: first }),
      hold(5n, { holdId: second, keyId: "k2" }),
      ...[first, second].map((id) => command("extend", { ...heartbeat, holdId: id })),
      AFTER_EXPIRY,
      hold(6n, { keyId: "k3" }),
    ];
    expect(lastDecision(given, stored)).toMatchObject({ granted: 6n, balances: balances(6n, 6n) });
    expect([...stored.counters.values()].map(({ counterId, used, held }) => [counterId, used, held])).toEqual(
      [
        ["l1", 2n, 0n],
        ["l2", 2n, 0n],
      ],
    );
    expect(stored.transfers.map(({ kind, amount, transferId }) => [kind, amount, transferId])).toEqual([
      [1, 10n, "t1"],
      [3, 2n, first],
      [3, 2n, second],
    ]);
  });

  test("of several holds clamps each to the balance that the others left", () => {
    const stored = emptyWallet();
    const lost = ["a", "b", "c"].map((name) => holdIdOf(name));
    const heartbeat = { walletId, accrued: 4n, ttlMs: 60_000 };
    lastDecision(
      [
        create,
        fund(10n),
        hold(0n, other),
        ...lost.map((id) => hold(3n, { holdId: id })),
        ...lost.map((id) => command("extend", { ...heartbeat, holdId: id })),
        settle(MOST, other),
        AFTER_EXPIRY,
        hold(0n),
      ],
      stored,
    );
    expect(lost.map((id) => stored.holds.get(id)?.state)).toEqual(["held", "held", "held"]);
    const expiries = lost.map((id) => command("expire", { walletId, holdId: id }));
    lastDecision([AFTER_EXPIRY, ...expiries], stored);
    expect(lost.map((id) => stored.holds.get(id)?.captured)).toEqual([4n, 4n, 2n]);
  });
});

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
    const longer = command("extend", { walletId, holdId, accrued: 0n, ttlMs: DAY_MS });
    expect(expiresAtOf([create, fund(100n), hold(60n), longer, expire])).toBe(NOON_MS + DAY_MS);
  });
});

/** Returns the expiry time of the hold after some commands. */
function expiresAtOf(given: readonly Given[]): number | undefined {
  const stored = emptyWallet();
  lastDecision(given, stored);
  return stored.holds.get(holdIdOf("h1"))?.expiresAtMs;
}
