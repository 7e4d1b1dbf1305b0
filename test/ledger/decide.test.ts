import { describe, expect, test } from "bun:test";
import {
  AFTER_EXPIRY,
  balances,
  charge,
  create,
  DAY_MS,
  expire,
  extend,
  freeze,
  fund,
  give,
  hold,
  lastOf,
  limit,
  MOST,
  refund,
  release,
  settle,
  type Told,
} from "./given.ts";
import { emptyWallet } from "./memory-wallet.ts";
import { FACTS, holdIdOf, NOON_MS, WALLET } from "./samples.ts";

const [walletId, holdId, facts] = [WALLET, holdIdOf("h1"), FACTS];

describe("a hold is refused, the first reason first,", () => {
  const long = "x".repeat(129);
  const spent = [create, fund(100n), hold(100n, { holdId: holdIdOf("other") })];

  test.each<[string, readonly Told[], string]>([
    ["for an empty id, even with a bad amount", [hold(-1n, { holdId: "" })], "invalid_id"],
    ["for an id of 129 characters", [hold(1n, { keyId: long })], "invalid_id"],
    ["for an id that is no UUID", [hold(1n, { holdId: "h1" })], "invalid_id"],
    ["for a UUID in capitals", [hold(1n, { holdId: holdId.toUpperCase() })], "invalid_id"],
    ["for a UUID of another version", [hold(1n, { holdId: holdId.replace("-7", "-4") })], "invalid_id"],
    ["for an id with a control character", [hold(1n, { keyId: "a\u0000b" })], "invalid_id"],
    ["for an id that is not well-formed text", [hold(1n, { keyId: "\ud800" })], "invalid_id"],
    ["for a negative amount, even without a wallet", [hold(-1n)], "invalid_amount"],
    ["for a negative minimum", [hold(1n, { minimum: -1n })], "invalid_amount"],
    ["for more than can be kept", [hold(MOST + 1n)], "invalid_amount"],
    ["for a minimum above the amount", [hold(1n, { minimum: 2n })], "invalid_amount"],
    ["for a life of no time", [hold(1n, { ttlMs: 0 })], "invalid_amount"],
    ["for a life that is not a number", [hold(1n, { ttlMs: Number.NaN })], "invalid_amount"],
    [
      "for a surface with a control character",
      [hold(1n, { facts: { surface: "\u0000", model: "" } })],
      "invalid_facts",
    ],
    ["for metadata above 4 KiB", [hold(1n, { metadata: { a: "é".repeat(2048) } })], "invalid_metadata"],
    ["for want of a wallet", [hold(1n)], "wallet_not_found"],
    [
      "for an id that is taken with another amount",
      [...spent, hold(99n, { holdId: holdIdOf("other") })],
      "conflict",
    ],
    [
      "for an id that is taken by another key",
      [...spent, hold(100n, { holdId: holdIdOf("other"), keyId: "k2" })],
      "conflict",
    ],
    ["by a limit before the wallet", [create, limit(4n), hold(5n)], "spending_limit_exceeded"],
    [
      "by a limit whose room is only on hold",
      [create, fund(100n), limit(5n), hold(5n, { holdId: holdIdOf("other") }), hold(1n)],
      "spending_limit_exceeded",
    ],
    ["for money that is only on hold", [...spent, hold(100n)], "balance_on_hold"],
    ["for money that is not there, held or not", [...spent, hold(101n)], "insufficient_balance"],
    ["for one nano too little", [create, fund(99n), hold(100n)], "insufficient_balance"],
    [
      "even for nothing, once a cost has driven the wallet below zero",
      [create, fund(5n), hold(5n), settle(6n), hold(0n, { holdId: holdIdOf("next") })],
      "insufficient_balance",
    ],
  ])("%s", (_, given, refusal) => {
    expect(lastOf(given)).toBe(refusal);
  });

  test("for a frozen wallet, unless the hold was taken before", () => {
    const held = [create, fund(10n), hold(5n), freeze];
    expect(lastOf([...held, hold(5n, { holdId: holdIdOf("next") })])).toBe("wallet_frozen");
    expect(lastOf([...held, hold(5n)])).toMatchObject({ granted: 5n, replayed: true });
    expect(lastOf([...held, settle(7n)])).toMatchObject({ captured: 7n });
  });

  test.each<[string, number, string | undefined]>([
    ["a day old", DAY_MS, undefined],
    ["more than a day old", DAY_MS + 1, "invalid_id"],
    ["a day ahead", -DAY_MS, undefined],
    ["more than a day ahead", -DAY_MS - 1, "invalid_id"],
  ])("for an id that is %s, or not", (_, ageMs, refusal) => {
    const aged = hold(0n, { holdId: holdIdOf("aged", NOON_MS - ageMs) });
    expect(lastOf([create, aged])).toEqual(refusal ?? expect.objectContaining({ granted: 0n }));
  });

  test("for an old id only while it is new: the same hold again is a replay whenever it comes", () => {
    const taken = [create, fund(10n), hold(5n), 9 * DAY_MS];
    expect(lastOf([...taken, hold(5n)])).toMatchObject({ granted: 5n, replayed: true });
    expect(lastOf([...taken, hold(6n)])).toBe("conflict");
  });
});

describe("a hold's id is taken", () => {
  const taken = { minimum: 2n, metadata: { job: 1 } };

  test.each<[string, object]>([
    ["another minimum", { minimum: 3n }],
    ["another key", { keyId: "k2" }],
    ["another life", { ttlMs: 59_999 }],
    ["another surface", { facts: { surface: "messages", model: "demo" } }],
    ["another model", { facts: { surface: "chat", model: "other" } }],
    ["other metadata", { metadata: { job: 2 } }],
    ["more metadata", { metadata: { job: 1, more: 2 } }],
    ["no metadata", { metadata: undefined }],
  ])("for a hold with %s", (_, change) => {
    const given = [create, fund(9n), hold(9n, taken)];
    expect(lastOf([...given, hold(9n, taken)])).toMatchObject({ replayed: true });
    expect(lastOf([...given, hold(9n, { ...taken, ...change })])).toBe("conflict");
  });
});

test("a hold whose metadata comes in another order is the same hold", () => {
  const [one, other] = [
    { a: 1, b: { c: [1, 2], d: 2 } },
    { b: { d: 2, c: [1, 2] }, a: 1 },
  ];
  expect(lastOf([create, hold(0n, { metadata: one }), hold(0n, { metadata: other })])).toMatchObject({
    replayed: true,
  });
  const unlike = { b: { d: 2, c: [2, 1] }, a: 1 };
  expect(lastOf([create, hold(0n, { metadata: one }), hold(0n, { metadata: unlike })])).toBe("conflict");
});

describe("a hold grants", () => {
  test.each<[string, readonly Told[], bigint]>([
    ["all that is asked for when it is there to the last nano", [create, fund(5n), hold(5n)], 5n],
    ["what the wallet has, when that is enough", [create, fund(5n), hold(9n, { minimum: 5n })], 5n],
    ["what the limit leaves", [create, fund(50n), limit(7n), hold(9n, { minimum: 7n })], 7n],
    ["nothing, when nothing is asked of an empty wallet", [create, hold(0n)], 0n],
    [
      "what the tightest limit leaves",
      [
        create,
        fund(50n),
        limit(8n),
        limit(6n, { limitId: "l2", keyId: undefined, period: "total" }),
        hold(9n, { minimum: 0n }),
      ],
      6n,
    ],
    ["regardless of another key's limit", [create, fund(9n), limit(0n, { keyId: "k2" }), hold(9n)], 9n],
    [
      "what a due hold still kept, without waiting for a sweep",
      [create, fund(10n), hold(10n, { holdId: holdIdOf("lost") }), AFTER_EXPIRY, hold(10n)],
      10n,
    ],
    [
      "only what a due hold had not accrued",
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
    expect(lastOf(given)).toMatchObject({ granted, replayed: false });
  });

  test("the same again for the same id, also when it has long been settled", () => {
    const given = [create, fund(5n), hold(9n, { minimum: 2n }), settle(5n), hold(9n, { minimum: 2n })];
    expect(lastOf(given)).toEqual({ granted: 5n, balances: balances(0n, 0n), replayed: true });
  });

  test("nothing for a hold due a millisecond from now", () => {
    const given = [create, fund(10n), hold(10n, { holdId: holdIdOf("other") }), AFTER_EXPIRY - 1, hold(10n)];
    expect(lastOf(given)).toBe("balance_on_hold");
  });
});

describe("a settlement", () => {
  const held = [create, fund(100n), hold(10n)];

  test.each<[string, readonly Told[], object]>([
    ["books less and frees the rest", [...held, settle(4n)], { captured: 4n, balances: balances(96n, 0n) }],
    [
      "of nothing is a settlement",
      [...held, settle(0n)],
      { state: "settled", captured: 0n, replayed: false },
    ],
    ["books more than was held", [...held, settle(150n)], { captured: 150n, balances: balances(-50n, 0n) }],
    ["given twice is booked once", [...held, settle(4n), settle(4n)], { captured: 4n, replayed: true }],
    [
      "after an expiry books only the difference",
      [...held, extend(3n), AFTER_EXPIRY, expire, settle(8n)],
      { state: "settled", captured: 8n, balances: balances(92n, 0n), replayed: false },
    ],
    [
      "after an expiry that captured more gives nothing back",
      [...held, extend(8n), AFTER_EXPIRY, expire, settle(3n)],
      { state: "settled", captured: 8n, balances: balances(92n, 0n) },
    ],
    [
      "after such an expiry is repeated by the amount it named",
      [...held, extend(8n), AFTER_EXPIRY, expire, settle(3n), settle(3n)],
      { captured: 8n, replayed: true },
    ],
    [
      "past its time, but before any expiry, is an ordinary one",
      [...held, extend(8n), 2 * AFTER_EXPIRY, settle(3n)],
      { state: "settled", captured: 3n },
    ],
  ])("%s", (_, given, answer) => {
    expect(lastOf(given)).toMatchObject(answer);
  });

  test.each<[string, readonly Told[], string]>([
    ["of a negative cost", [...held, settle(-1n)], "invalid_amount"],
    ["of more than can be kept", [...held, settle(MOST + 1n)], "invalid_amount"],
    ["in no wallet", [settle(1n)], "wallet_not_found"],
    ["of no hold", [create, settle(1n)], "hold_not_found"],
    ["after a release", [...held, release, settle(1n)], "hold_released"],
    ["with another amount than before", [...held, settle(4n), settle(5n)], "conflict"],
    [
      "that no balance can carry",
      [
        create,
        hold(0n, { holdId: holdIdOf("x") }),
        give("settle", { walletId, holdId: holdIdOf("x"), amount: MOST, facts }),
        hold(0n),
      ],
      "insufficient_balance",
    ],
    [
      "that would drive the balance out of range",
      [
        create,
        hold(0n),
        hold(0n, { holdId: holdIdOf("x") }),
        give("settle", { walletId, holdId: holdIdOf("x"), amount: MOST, facts }),
        settle(1n),
      ],
      "balance_overflow",
    ],
  ])("is refused: %s", (_, given, refusal) => {
    expect(lastOf(given)).toBe(refusal);
  });

  test("that comes late says so on the hold", () => {
    const stored = emptyWallet();
    lastOf([...held, AFTER_EXPIRY, expire, settle(8n)], stored);
    expect(stored.holds.get(holdId)).toMatchObject({ late: true, state: "settled", captured: 8n });
    expect(stored.transfers.map(({ kind, amount }) => [kind, amount])).toEqual([
      [1, 100n],
      [4, 8n],
    ]);
  });
});

describe("a release", () => {
  const held = [create, fund(100n), hold(10n)];

  test.each<[string, readonly Told[], unknown]>([
    [
      "frees everything, also what was accrued",
      [...held, extend(5n), release],
      { captured: 0n, balances: balances(100n, 0n), replayed: false },
    ],
    ["repeats itself", [...held, release, release], { state: "released", replayed: true }],
    [
      "leaves an expired hold as it is",
      [...held, extend(5n), AFTER_EXPIRY, expire, release],
      { state: "expired", captured: 5n, replayed: true },
    ],
  ])("%s", (_, given, answer) => {
    expect(lastOf(given)).toMatchObject(answer as object);
  });

  test("is refused after a settlement, and of a hold that is not there", () => {
    expect(lastOf([...held, settle(1n), release])).toBe("hold_settled");
    expect(lastOf([create, release])).toBe("hold_not_found");
    expect(lastOf([release])).toBe("wallet_not_found");
  });
});

describe("a heartbeat", () => {
  const held = [create, fund(100n), hold(10n)];

  test("never lowers what was accrued, and expiry captures the most that was said", () => {
    const given = [...held, extend(7n), extend(2n), AFTER_EXPIRY, expire];
    expect(lastOf(given)).toMatchObject({ state: "expired", captured: 7n, balances: balances(93n, 0n) });
  });

  test("keeps a hold alive that would be due, counted from the heartbeat", () => {
    expect(lastOf([...held, 59_999, extend(0n), 59_999, expire])).toMatchObject({ state: "held" });
    expect(lastOf([...held, 59_999, extend(0n), 60_000, expire])).toMatchObject({ state: "expired" });
  });

  test("never shortens a hold's life", () => {
    const short = give("extend", { walletId, holdId, accrued: 0n, ttlMs: 1 });
    expect(lastOf([...held, short, 59_999, expire])).toMatchObject({ state: "held" });
  });

  test.each<[string, readonly Told[], string]>([
    ["expired", [...held, AFTER_EXPIRY, expire, extend(1n)], "hold_expired"],
    ["settled", [...held, settle(1n), extend(1n)], "hold_settled"],
    ["released", [...held, release, extend(1n)], "hold_released"],
  ])("does not bring back a hold that is %s", (_, given, refusal) => {
    expect(lastOf(given)).toBe(refusal);
  });
});

describe("an expiry", () => {
  const other = { holdId: holdIdOf("other") };
  const deepIn = [create, fund(9n), hold(9n), hold(0n, other), settle(MOST, other)];

  test("captures what can be kept of an accrual that no balance can carry", () => {
    const expired = [...deepIn, extend(MOST), AFTER_EXPIRY, expire];
    expect(lastOf(expired)).toMatchObject({ state: "expired", captured: 9n, balances: balances(-MOST, 0n) });
    expect(lastOf([...expired, settle(9n)])).toMatchObject({ state: "settled", captured: 9n });
    expect(lastOf([...expired, settle(10n)])).toBe("balance_overflow");
  });

  test("captures what can be kept of an accrual that no limit can count", () => {
    const counted = [create, fund(MOST), limit(MOST), hold(9n), charge(MOST - 2n), extend(7n)];
    expect(lastOf([...counted, AFTER_EXPIRY, expire])).toMatchObject({ state: "expired", captured: 2n });
  });

  test("is booked as one, on whatever limit each hold counts against", () => {
    const stored = emptyWallet();
    const [first, second] = [holdIdOf("first"), holdIdOf("second")];
    const heartbeat = { walletId, accrued: 2n, ttlMs: 60_000 };
    const told = [
      create,
      fund(10n),
      limit(9n),
      limit(9n, { limitId: "l2", keyId: "k2" }),
      hold(5n, { holdId: first }),
      hold(5n, { holdId: second, keyId: "k2" }),
      ...[first, second].map((id) => give("extend", { ...heartbeat, holdId: id })),
      AFTER_EXPIRY,
      hold(6n, { keyId: "k3" }),
    ];
    expect(lastOf(told, stored)).toMatchObject({ granted: 6n, balances: balances(6n, 6n) });
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

  test("of several holds takes for each what the others have left", () => {
    const stored = emptyWallet();
    const lost = ["a", "b", "c"].map((name) => holdIdOf(name));
    const heartbeat = { walletId, accrued: 4n, ttlMs: 60_000 };
    lastOf(
      [
        create,
        fund(10n),
        hold(0n, other),
        ...lost.map((id) => hold(3n, { holdId: id })),
        ...lost.map((id) => give("extend", { ...heartbeat, holdId: id })),
        settle(MOST, other),
        AFTER_EXPIRY,
        hold(0n),
      ],
      stored,
    );
    expect(lost.map((id) => stored.holds.get(id)?.state)).toEqual(["held", "held", "held"]);
    const expiries = lost.map((id) => give("expire", { walletId, holdId: id }));
    lastOf([AFTER_EXPIRY, ...expiries], stored);
    expect(lost.map((id) => stored.holds.get(id)?.captured)).toEqual([4n, 4n, 2n]);
  });
});

describe("money in and back", () => {
  const charged = [create, fund(100n), limit(20n), hold(10n), settle(8n)];

  test.each<[string, readonly Told[], unknown]>([
    [
      "a top-up counts once per id",
      [create, fund(5n), fund(5n)],
      { balances: balances(5n, 0n), replayed: true },
    ],
    ["a top-up's id with another amount conflicts", [create, fund(5n), fund(6n)], "conflict"],
    ["a top-up of nothing is no top-up", [create, fund(0n)], "invalid_amount"],
    ["a negative top-up is none", [create, fund(-5n)], "invalid_amount"],
    [
      "a top-up cannot exceed what can be kept",
      [create, fund(MOST), give("top_up", { walletId, topUpId: "t2", amount: 1n })],
      "balance_overflow",
    ],
    ["a refund gives back", [...charged, refund(3n)], { balances: balances(95n, 0n), replayed: false }],
    [
      "a refund counts once per id",
      [...charged, refund(3n), refund(3n)],
      { balances: balances(95n, 0n), replayed: true },
    ],
    ["a refund's id with another amount conflicts", [...charged, refund(3n), refund(2n)], "conflict"],
    [
      "refunds together give back no more than was charged",
      [...charged, refund(5n), refund(4n, "r2")],
      "refund_exceeds_charge",
    ],
    [
      "nor do three of them",
      [...charged, refund(3n), refund(3n, "r2"), refund(3n, "r3")],
      "refund_exceeds_charge",
    ],
    [
      "a refund of an open hold has nothing to give",
      [create, fund(9n), hold(9n), refund(1n)],
      "refund_exceeds_charge",
    ],
    ["a refund of no hold is refused", [create, refund(1n)], "hold_not_found"],
    [
      "a refund makes room under the limit",
      [...charged, refund(8n), hold(20n, { holdId: holdIdOf("next") })],
      { granted: 20n },
    ],
    [
      "without it there is none",
      [...charged, hold(20n, { holdId: holdIdOf("next") })],
      "spending_limit_exceeded",
    ],
  ])("%s", (_, given, result) => {
    const got = lastOf(given);
    if (typeof result === "string") expect(got).toBe(result);
    else expect(got).toMatchObject(result as object);
  });

  test("a refund and a top-up may share an id", () => {
    expect(lastOf([...charged, refund(3n, "t1")])).toMatchObject({ replayed: false });
  });
});

describe("a spending limit", () => {
  test("counts what was spent before it was lowered", () => {
    const given = [
      create,
      fund(100n),
      limit(20n),
      hold(10n),
      settle(10n),
      limit(15n),
      hold(6n, { holdId: holdIdOf("next") }),
    ];
    expect(lastOf(given)).toBe("spending_limit_exceeded");
  });

  test("starts anew with its period", () => {
    const spent = [create, fund(100n), limit(10n), hold(10n), settle(10n)];
    expect(lastOf([...spent, DAY_MS / 2 - 1, hold(1n, { holdId: holdIdOf("next") })])).toBe(
      "spending_limit_exceeded",
    );
    expect(lastOf([...spent, DAY_MS / 2, hold(10n, { holdId: holdIdOf("next") })])).toMatchObject({
      granted: 10n,
    });
  });

  test("charges a hold to the period it was taken in, however late it is settled", () => {
    const stored = emptyWallet();
    lastOf([create, fund(100n), limit(10n), hold(10n), 3 * DAY_MS, expire, settle(9n)], stored);
    expect([...stored.counters.values()].filter(({ used }) => used > 0n)).toEqual([
      { limitId: "l1", periodStartMs: NOON_MS - DAY_MS / 2, used: 9n, held: 0n },
    ]);
  });

  test("may be overrun by a true cost, and then admits nothing", () => {
    const given = [
      create,
      fund(100n),
      limit(10n),
      hold(10n),
      settle(30n),
      hold(0n, { holdId: holdIdOf("next") }),
    ];
    expect(lastOf(given)).toBe("spending_limit_exceeded");
  });

  test("does not move from one key to another", () => {
    expect(lastOf([create, limit(10n), limit(10n, { keyId: "k2" })])).toBe("conflict");
  });
});
