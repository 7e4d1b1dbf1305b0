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
  freeze,
  fund,
  type Given,
  hold,
  lastDecision,
  limit,
  MOST,
  refund,
  release,
  settle,
} from "./given.ts";
import { emptyWallet } from "./memory-wallet.ts";
import { FACTS, holdIdOf, NOON_MS, WALLET } from "./samples.ts";

const [walletId, holdId, facts] = [WALLET, holdIdOf("h1"), FACTS];

describe("a hold is declined", () => {
  const long = "x".repeat(129);
  const spent = [create, fund(100n), hold(100n, { holdId: holdIdOf("other") })];

  test.each<[string, readonly Given[], string]>([
    ["for an empty id, even with a negative amount", [hold(-1n, { holdId: "" })], "invalid_id"],
    ["for an id of 129 characters", [hold(1n, { keyId: long })], "invalid_id"],
    ["for an id that is not a UUID", [hold(1n, { holdId: "h1" })], "invalid_id"],
    ["for a UUID in capitals", [hold(1n, { holdId: holdId.toUpperCase() })], "invalid_id"],
    ["for a UUID of another version", [hold(1n, { holdId: holdId.replace("-7", "-4") })], "invalid_id"],
    ["for an id with a control character", [hold(1n, { keyId: "a\u0000b" })], "invalid_id"],
    ["for an id that is not well-formed text", [hold(1n, { keyId: "\ud800" })], "invalid_id"],
    ["for a negative amount, even without a wallet", [hold(-1n)], "invalid_amount"],
    ["for a negative minimum", [hold(1n, { minimum: -1n })], "invalid_amount"],
    ["for an amount above the maximum", [hold(MOST + 1n)], "invalid_amount"],
    ["for a minimum above the amount", [hold(1n, { minimum: 2n })], "invalid_amount"],
    ["for a time to live of 0", [hold(1n, { ttlMs: 0 })], "invalid_amount"],
    ["for a time to live of NaN", [hold(1n, { ttlMs: Number.NaN })], "invalid_amount"],
    [
      "for a surface with a control character",
      [hold(1n, { facts: { surface: "\u0000", model: "" } })],
      "invalid_facts",
    ],
    ["for metadata above 4 KiB", [hold(1n, { metadata: { a: "é".repeat(2048) } })], "invalid_metadata"],
    ["without a wallet", [hold(1n)], "wallet_not_found"],
    [
      "for an id that was used with another amount",
      [...spent, hold(99n, { holdId: holdIdOf("other") })],
      "conflict",
    ],
    [
      "for an id that was used by another key",
      [...spent, hold(100n, { holdId: holdIdOf("other"), keyId: "k2" })],
      "conflict",
    ],
    ["by a limit before by the wallet", [create, limit(4n), hold(5n)], "spending_limit_exceeded"],
    [
      "by a limit whose remainder is on hold",
      [create, fund(100n), limit(5n), hold(5n, { holdId: holdIdOf("other") }), hold(1n)],
      "spending_limit_exceeded",
    ],
    ["as balance_on_hold for money that is on hold", [...spent, hold(100n)], "balance_on_hold"],
    [
      "as insufficient_balance for more than the balance with the holds",
      [...spent, hold(101n)],
      "insufficient_balance",
    ],
    ["for one nano more than the balance", [create, fund(99n), hold(100n)], "insufficient_balance"],
    [
      "even for an amount of 0 while the balance is negative",
      [create, fund(5n), hold(5n), settle(6n), hold(0n, { holdId: holdIdOf("next") })],
      "insufficient_balance",
    ],
  ])("%s", (_, given, declined) => {
    expect(lastDecision(given)).toBe(declined);
  });

  test("on a frozen wallet, unless it is a replay", () => {
    const held = [create, fund(10n), hold(5n), freeze];
    expect(lastDecision([...held, hold(5n, { holdId: holdIdOf("next") })])).toBe("wallet_frozen");
    expect(lastDecision([...held, hold(5n)])).toMatchObject({ granted: 5n, replayed: true });
    expect(lastDecision([...held, settle(7n)])).toMatchObject({ captured: 7n });
  });

  test.each<[string, number, string | undefined]>([
    ["a day old", DAY_MS, undefined],
    ["more than a day old", DAY_MS + 1, "invalid_id"],
    ["a day ahead", -DAY_MS, undefined],
    ["more than a day ahead", -DAY_MS - 1, "invalid_id"],
  ])("for an id more than a day off, not for one that is %s", (_, ageMs, declined) => {
    const aged = hold(0n, { holdId: holdIdOf("aged", NOON_MS - ageMs) });
    expect(lastDecision([create, aged])).toEqual(declined ?? expect.objectContaining({ granted: 0n }));
  });

  test("for an old id only the first time: a repeated hold is a replay at any time", () => {
    const taken = [create, fund(10n), hold(5n), 9 * DAY_MS];
    expect(lastDecision([...taken, hold(5n)])).toMatchObject({ granted: 5n, replayed: true });
    expect(lastDecision([...taken, hold(6n)])).toBe("conflict");
  });
});

describe("a repeated hold id conflicts", () => {
  const taken = { minimum: 2n, metadata: { job: 1 } };

  test.each<[string, object]>([
    ["another minimum", { minimum: 3n }],
    ["another key", { keyId: "k2" }],
    ["another time to live", { ttlMs: 59_999 }],
    ["another surface", { facts: { surface: "messages", model: "demo" } }],
    ["another model", { facts: { surface: "chat", model: "other" } }],
    ["other metadata", { metadata: { job: 2 } }],
    ["more metadata", { metadata: { job: 1, more: 2 } }],
    ["no metadata", { metadata: undefined }],
  ])("for a hold with %s", (_, change) => {
    const given = [create, fund(9n), hold(9n, taken)];
    expect(lastDecision([...given, hold(9n, taken)])).toMatchObject({ replayed: true });
    expect(lastDecision([...given, hold(9n, { ...taken, ...change })])).toBe("conflict");
  });
});

test("a hold whose metadata has its names in another order is a replay", () => {
  const [one, other] = [
    { a: 1, b: { c: [1, 2], d: 2 } },
    { b: { d: 2, c: [1, 2] }, a: 1 },
  ];
  expect(lastDecision([create, hold(0n, { metadata: one }), hold(0n, { metadata: other })])).toMatchObject({
    replayed: true,
  });
  const unlike = { b: { d: 2, c: [2, 1] }, a: 1 };
  expect(lastDecision([create, hold(0n, { metadata: one }), hold(0n, { metadata: unlike })])).toBe(
    "conflict",
  );
});

describe("a hold grants", () => {
  test.each<[string, readonly Given[], bigint]>([
    ["the whole amount when it equals the balance", [create, fund(5n), hold(5n)], 5n],
    ["the balance when that is at least the minimum", [create, fund(5n), hold(9n, { minimum: 5n })], 5n],
    ["the remainder of the limit", [create, fund(50n), limit(7n), hold(9n, { minimum: 7n })], 7n],
    ["0 when 0 is wanted of an empty wallet", [create, hold(0n)], 0n],
    [
      "the remainder of the tightest limit",
      [
        create,
        fund(50n),
        limit(8n),
        limit(6n, { limitId: "l2", keyId: undefined, period: "total" }),
        hold(9n, { minimum: 0n }),
      ],
      6n,
    ],
    [
      "the amount regardless of another key's limit",
      [create, fund(9n), limit(0n, { keyId: "k2" }), hold(9n)],
      9n,
    ],
    [
      "the money of a due hold before any sweep",
      [create, fund(10n), hold(10n, { holdId: holdIdOf("lost") }), AFTER_EXPIRY, hold(10n)],
      10n,
    ],
    [
      "only the part of a due hold that was not accrued",
      [
        create,
        fund(10n),
        hold(10n),
        extend(4n),
        AFTER_EXPIRY,
        hold(10n, { holdId: holdIdOf("next"), minimum: 1n }),
      ],
      6n,
    ],
  ])("%s", (_, given, granted) => {
    expect(lastDecision(given)).toMatchObject({ granted, replayed: false });
  });

  test("the first amount again when repeated, also after the settlement", () => {
    const given = [create, fund(5n), hold(9n, { minimum: 2n }), settle(5n), hold(9n, { minimum: 2n })];
    expect(lastDecision(given)).toEqual({ granted: 5n, balances: balances(0n, 0n), replayed: true });
  });

  test("no money of a hold that is due in a millisecond", () => {
    const given = [create, fund(10n), hold(10n, { holdId: holdIdOf("other") }), AFTER_EXPIRY - 1, hold(10n)];
    expect(lastDecision(given)).toBe("balance_on_hold");
  });
});

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
  ])("%s", (_, given, result) => {
    expect(lastDecision(given)).toMatchObject(result);
  });

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
  ])("is declined: %s", (_, given, declined) => {
    expect(lastDecision(given)).toBe(declined);
  });

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
  ])("%s", (_, given, result) => {
    expect(lastDecision(given)).toMatchObject(result as object);
  });

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
  ])("does not reopen a hold that is %s", (_, given, declined) => {
    expect(lastDecision(given)).toBe(declined);
  });
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
    expect([...stored.counters.values()].map(({ limitId, used, held }) => [limitId, used, held])).toEqual([
      ["l1", 2n, 0n],
      ["l2", 2n, 0n],
    ]);
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

describe("top-ups and refunds", () => {
  const charged = [create, fund(100n), limit(20n), hold(10n), settle(8n)];

  test.each<[string, readonly Given[], unknown]>([
    [
      "a top-up counts once per id",
      [create, fund(5n), fund(5n)],
      { balances: balances(5n, 0n), replayed: true },
    ],
    ["a top-up id with another amount conflicts", [create, fund(5n), fund(6n)], "conflict"],
    ["a top-up of 0 is declined", [create, fund(0n)], "invalid_amount"],
    ["a negative top-up is declined", [create, fund(-5n)], "invalid_amount"],
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

  test("a refund and a top-up may share an id", () => {
    expect(lastDecision([...charged, refund(3n, "t1")])).toMatchObject({ replayed: false });
  });
});

describe("a spending limit", () => {
  test("counts spending from before it was lowered", () => {
    const given = [
      create,
      fund(100n),
      limit(20n),
      hold(10n),
      settle(10n),
      limit(15n),
      hold(6n, { holdId: holdIdOf("next") }),
    ];
    expect(lastDecision(given)).toBe("spending_limit_exceeded");
  });

  test("starts at 0 in each period", () => {
    const spent = [create, fund(100n), limit(10n), hold(10n), settle(10n)];
    expect(lastDecision([...spent, DAY_MS / 2 - 1, hold(1n, { holdId: holdIdOf("next") })])).toBe(
      "spending_limit_exceeded",
    );
    expect(lastDecision([...spent, DAY_MS / 2, hold(10n, { holdId: holdIdOf("next") })])).toMatchObject({
      granted: 10n,
    });
  });

  test("counts a hold in the period it was taken in, even when it is settled late", () => {
    const stored = emptyWallet();
    lastDecision([create, fund(100n), limit(10n), hold(10n), 3 * DAY_MS, expire, settle(9n)], stored);
    expect([...stored.counters.values()].filter(({ used }) => used > 0n)).toEqual([
      { limitId: "l1", periodStartMs: NOON_MS - DAY_MS / 2, used: 9n, held: 0n },
    ]);
  });

  test("may be exceeded by an actual cost and then declines every hold", () => {
    const given = [
      create,
      fund(100n),
      limit(10n),
      hold(10n),
      settle(30n),
      hold(0n, { holdId: holdIdOf("next") }),
    ];
    expect(lastDecision(given)).toBe("spending_limit_exceeded");
  });

  test("does not move from one key to another", () => {
    expect(lastDecision([create, limit(10n), limit(10n, { keyId: "k2" })])).toBe("conflict");
  });
});
