import { describe, expect, test } from "bun:test";
import {
  AFTER_EXPIRY,
  balances,
  create,
  DAY_MS,
  extend,
  freeze,
  fund,
  type Given,
  hold,
  lastDecision,
  limit,
  MOST,
  settle,
} from "./given.ts";
import { holdIdOf, NOON_MS } from "./samples.ts";

const holdId = holdIdOf("h1");

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
  ])("%s", (_, given, declined) => expect(lastDecision(given)).toBe(declined));

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
  ])("%s", (_, given, granted) => expect(lastDecision(given)).toMatchObject({ granted, replayed: false }));

  test("the first amount again when repeated, also after the settlement", () => {
    const given = [create, fund(5n), hold(9n, { minimum: 2n }), settle(5n), hold(9n, { minimum: 2n })];
    expect(lastDecision(given)).toEqual({ granted: 5n, balances: balances(0n, 0n), replayed: true });
  });

  test("no money of a hold that is due in a millisecond", () => {
    const given = [create, fund(10n), hold(10n, { holdId: holdIdOf("other") }), AFTER_EXPIRY - 1, hold(10n)];
    expect(lastDecision(given)).toBe("balance_on_hold");
  });
});
