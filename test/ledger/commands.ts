import fc from "fast-check";
import type { Scope, ScopeKind } from "../../src/domain/scope.ts";
import type { Command } from "../../src/ledger/core/command.ts";
import type { SpendLimit } from "../../src/ledger/records.ts";
import { FACTS, holdIdOf, holdOf, NOON_MS, WALLET } from "./samples.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MOST = 4n * 10n ** 18n;

const holdIdAfter = (days: number, index: number) => holdIdOf(`h${index + 1}`, NOON_MS + days * DAY_MS);
/** Ids of several days: as time passes, the old ones become invalid and the later ones valid. */
const ids = fc.oneof(
  { weight: 10, arbitrary: fc.constantFrom(...[0, 0, 0, 0, 1].map(holdIdAfter)) },
  { weight: 1, arbitrary: fc.constantFrom(...[2, 7].map(holdIdAfter)) },
);
const invalidIds = fc.constantFrom("h1", holdIdOf("h1").toUpperCase());
const chargeIds = ["c1", "c2", "t1"];
/** The receipt id of a charge. It names no hold until the charge is booked. */
const receiptIdOf = (chargeId: string) => holdIdOf(`receipt of ${chargeId}`);
/** The hold id of a command: mostly a hold, sometimes a charge's receipt, or an invalid id. */
const holdIds = fc.oneof(
  { weight: 12, arbitrary: ids },
  { weight: 2, arbitrary: fc.constantFrom(...chargeIds.map(receiptIdOf)) },
  { weight: 1, arbitrary: invalidIds },
);
const keys = fc.constantFrom("k1", "k2");
const amounts = fc.oneof(
  { weight: 12, arbitrary: fc.bigInt(0n, 40n) },
  { weight: 1, arbitrary: fc.constantFrom(-1n, MOST, MOST + 1n, MOST - 1n) },
);
const metadata = fc.oneof(
  { weight: 10, arbitrary: fc.constant(undefined) },
  { weight: 5, arbitrary: fc.constantFrom({ job: 7 }, { job: 8 }) },
  { weight: 1, arbitrary: fc.constant({ long: "é".repeat(2048) }) },
);
const ttls = fc.constantFrom(10, 50, 60_000);

const scope = (kind: ScopeKind, id: string): Scope => ({ kind, id });
const P1 = scope("project", "p1");
const validScopes = fc.subarray<Scope>([
  scope("parent_key", "k1"),
  P1,
  scope("end_user", "u1"),
  scope("end_user", "u2"),
  scope("tag", "a=1"),
  scope("tag", "b=1"),
]);
const scopes = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  { weight: 12, arbitrary: validScopes },
  { weight: 1, arbitrary: fc.constantFrom([scope("key", "k1")], [P1, P1], [scope("run", "")]) },
);

type Binding = Pick<SpendLimit, "limitId" | "keyId" | "scope" | "each">;
/** What limits bind: mostly an id is of one binding, so that it is set again. */
const bindings = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.constantFrom<Binding>(
      { limitId: "l1", keyId: "k1" },
      { limitId: "l2", keyId: "k2" },
      { limitId: "l3", keyId: undefined },
      { limitId: "l4", keyId: undefined, scope: P1 },
      { limitId: "l5", keyId: undefined, scope: scope("end_user", "u1") },
      { limitId: "l6", keyId: undefined, scope: scope("project", WALLET) },
      { limitId: "l7", keyId: undefined, scope: scope("tag", "a=1") },
      { limitId: "t1", keyId: undefined, each: "end_user" },
      { limitId: "t2", keyId: undefined, scope: P1, each: "tag" },
      { limitId: "t3", keyId: undefined, each: "key" },
      { limitId: "t4", keyId: "k1", each: "end_user" },
      { limitId: "t5", keyId: undefined, each: "parent_key" },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Binding>(
      { limitId: "l1", keyId: "k2" },
      { limitId: "l4", keyId: "p1" },
      { limitId: "t1", keyId: undefined },
      { limitId: "t2", keyId: undefined, scope: P1, each: "end_user" },
      { limitId: "l6", keyId: "k1", scope: P1 },
      { limitId: "l6", keyId: undefined, scope: scope("parent_key", "k1") },
    ),
  },
);

/** What the hold of an end was taken with, for a ledger that has lost it. */
const taken = fc
  .record({ keyId: keys, scopes, granted: amounts, ttlMs: ttls })
  .map((hold) => ({ ...hold, facts: { surface: "chat", model: "demo" } }));

// An end that describes its hold never has the id of a charge's receipt: the ledger makes those.
const settlements = fc.oneof(
  { weight: 2, arbitrary: fc.record({ holdId: holdIds, amount: amounts, metadata }) },
  { weight: 1, arbitrary: fc.record({ holdId: ids, amount: amounts, metadata, taken }) },
);

const releases = fc.oneof(
  { weight: 2, arbitrary: fc.record({ holdId: holdIds, metadata }) },
  { weight: 1, arbitrary: fc.record({ holdId: ids, metadata, taken }) },
);

/** Time passes, or a command is decided. */
export type Step = { readonly passesMs: number } | { readonly command: Command };

/** Commands on one wallet with few ids and mostly small amounts, so that they interact. */
export const commands: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .record({
        holdId: fc.oneof({ weight: 14, arbitrary: ids }, { weight: 1, arbitrary: invalidIds }),
        keyId: keys,
        scopes,
        amount: amounts,
        spare: fc.bigInt(0n, 30n),
        ttlMs: ttls,
        metadata,
      })
      .map(({ spare, amount, ...rest }) => ({
        kind: "hold" as const,
        request: holdOf(amount, { ...rest, minimum: spare > amount ? 0n : amount - spare }),
      })),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({ holdId: holdIds, accrued: amounts, ttlMs: ttls })
      .map((request) => ({ kind: "extend" as const, request: { walletId: WALLET, ...request } })),
  },
  {
    weight: 6,
    arbitrary: settlements.map((request) => ({
      kind: "settle" as const,
      request: { walletId: WALLET, facts: FACTS, ...request },
    })),
  },
  {
    weight: 2,
    arbitrary: releases.map((request) => ({
      kind: "release" as const,
      request: { walletId: WALLET, facts: FACTS, ...request },
    })),
  },
  {
    weight: 3,
    arbitrary: holdIds.map((holdId) => ({ kind: "expire" as const, request: { walletId: WALLET, holdId } })),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({ topUpId: fc.constantFrom("t1", "t2", "t3", "t4"), amount: amounts })
      .map((request) => ({ kind: "top_up" as const, request: { walletId: WALLET, ...request } })),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({ refundId: fc.constantFrom("r1", "r2", "t1"), holdId: holdIds, amount: amounts })
      .map((request) => ({ kind: "refund" as const, request: { walletId: WALLET, ...request } })),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({
        bound: bindings,
        period: fc.constantFrom<SpendLimit["period"]>("total", "day", "week", "month", "1h", "5h", "24h"),
        timeZone: fc.constantFrom(
          undefined,
          undefined,
          "UTC",
          "Asia/Kathmandu",
          "America/New_York",
          "Moon/Sea",
        ),
        countsFromNow: fc.constantFrom(undefined, undefined, true),
        amount: fc.oneof(
          { weight: 8, arbitrary: fc.bigInt(0n, 120n) },
          { weight: 1, arbitrary: fc.constant(-1n) },
        ),
      })
      .map(({ bound, ...rest }) => ({
        kind: "set_spend_limit" as const,
        request: { walletId: WALLET, ...bound, ...rest },
      })),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({ chargeId: fc.constantFrom(...chargeIds), keyId: keys, scopes, amount: amounts, metadata })
      .map((request) => ({
        kind: "charge" as const,
        request: {
          walletId: WALLET,
          receiptId: receiptIdOf(request.chargeId),
          facts: { surface: "batch", model: "demo" },
          outcome: FACTS,
          ...request,
        },
      })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("l1", "l2", "l3", "l4", "t1", "t2", "none").map((limitId) => ({
      kind: "delete_spend_limit" as const,
      request: { walletId: WALLET, limitId },
    })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("active" as const, "active" as const, "frozen" as const).map((state) => ({
      kind: "set_wallet_state" as const,
      request: { walletId: WALLET, state },
    })),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "create_wallet" as const, request: { walletId: WALLET } }) },
);

/** Steps of one wallet, usually funded first. Some steps repeat an earlier one. */
export const steps: fc.Arbitrary<readonly Step[]> = fc
  .tuple(
    fc.oneof({ weight: 7, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
    fc.array(
      fc.oneof(
        { weight: 90, arbitrary: commands.map((command) => ({ command })) },
        { weight: 20, arbitrary: fc.nat({ max: 5 }).map((stepsBack) => ({ stepsBack })) },
        { weight: 15, arbitrary: fc.constantFrom(1, 9, 10, 50, 60_000).map((passesMs) => ({ passesMs })) },
        {
          weight: 4,
          arbitrary: fc.constantFrom(HOUR_MS / 2, HOUR_MS, 5 * HOUR_MS).map((passesMs) => ({ passesMs })),
        },
        {
          weight: 5,
          arbitrary: fc
            .constantFrom(-1, -30_000, -HOUR_MS / 2, -HOUR_MS, -5 * HOUR_MS)
            .map((passesMs) => ({ passesMs })),
        },
        {
          weight: 1,
          arbitrary: fc.constantFrom(DAY_MS, DAY_MS, 6 * DAY_MS).map((passesMs) => ({ passesMs })),
        },
      ),
      { maxLength: 120, size: "max" },
    ),
  )
  .map(([isFunded, drawn]) => {
    const given: Step[] = isFunded ? [...FUNDED] : [];
    for (const step of drawn) {
      const repeated = "stepsBack" in step ? given.at(-1 - step.stepsBack) : step;
      if (repeated) given.push(repeated);
    }
    return given;
  });

const FUNDED: readonly Step[] = [
  { command: { kind: "create_wallet", request: { walletId: WALLET } } },
  { command: { kind: "top_up", request: { walletId: WALLET, topUpId: "t0", amount: 100n } } },
];
