import fc from "fast-check";
import type { Command } from "../../src/ledger/core/command.ts";
import type { SpendLimit } from "../../src/ledger/ledger.ts";
import { FACTS, holdIdOf, holdOf, NOON_MS, WALLET } from "./samples.ts";

const DAY_MS = 86_400_000;
const MOST = 4n * 10n ** 18n;

const holdIdAfter = (days: number, index: number) => holdIdOf(`h${index + 1}`, NOON_MS + days * DAY_MS);
/** As the clock goes on, old ids can no longer be taken, and those of later days can. */
const ids = fc.oneof(
  { weight: 10, arbitrary: fc.constantFrom(...[0, 0, 0, 0, 1].map(holdIdAfter)) },
  { weight: 1, arbitrary: fc.constantFrom(...[2, 7].map(holdIdAfter)) },
);
const noIds = fc.constantFrom("h1", holdIdOf("h1").toUpperCase());
const chargeIds = ["c1", "c2", "t1"];
/** A charge has one receipt, whoever asks for it first; until it is booked there is no such hold. */
const receiptIdOf = (chargeId: string) => holdIdOf(`receipt of ${chargeId}`);
/** What a command may name: mostly a hold, now and then a charge's receipt, or no such id at all. */
const named = fc.oneof(
  { weight: 12, arbitrary: ids },
  { weight: 2, arbitrary: fc.constantFrom(...chargeIds.map(receiptIdOf)) },
  { weight: 1, arbitrary: noIds },
);
const keys = fc.constantFrom("k1", "k2");
const some = fc.oneof(
  { weight: 12, arbitrary: fc.bigInt(0n, 40n) },
  { weight: 1, arbitrary: fc.constantFrom(-1n, MOST, MOST + 1n, MOST - 1n) },
);
const notes = fc.oneof(
  { weight: 10, arbitrary: fc.constant(undefined) },
  { weight: 5, arbitrary: fc.constantFrom({ job: 7 }, { job: 8 }) },
  { weight: 1, arbitrary: fc.constant({ long: "é".repeat(2048) }) },
);
const lives = fc.constantFrom(10, 50, 60_000);

/** Time passes, or a command is given. */
export type Step = { readonly passesMs: number } | { readonly command: Command };

/** Commands on one wallet with few ids and small amounts, so that they meet; and the odd monstrous one. */
export const commands: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .record({
        holdId: fc.oneof({ weight: 14, arbitrary: ids }, { weight: 1, arbitrary: noIds }),
        keyId: keys,
        amount: some,
        spare: fc.bigInt(0n, 30n),
        ttlMs: lives,
        metadata: notes,
      })
      .map(({ spare, amount, ...rest }) => ({
        kind: "hold" as const,
        request: holdOf(amount, { ...rest, minimum: spare > amount ? 0n : amount - spare }),
      })),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({ holdId: named, accrued: some, ttlMs: lives })
      .map((request) => ({ kind: "extend" as const, request: { walletId: WALLET, ...request } })),
  },
  {
    weight: 6,
    arbitrary: fc.record({ holdId: named, amount: some, metadata: notes }).map((request) => ({
      kind: "settle" as const,
      request: { walletId: WALLET, facts: FACTS, ...request },
    })),
  },
  {
    weight: 2,
    arbitrary: fc.record({ holdId: named, metadata: notes }).map((request) => ({
      kind: "release" as const,
      request: { walletId: WALLET, facts: FACTS, ...request },
    })),
  },
  {
    weight: 3,
    arbitrary: named.map((holdId) => ({ kind: "expire" as const, request: { walletId: WALLET, holdId } })),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({ topUpId: fc.constantFrom("t1", "t2", "t3", "t4"), amount: some })
      .map((request) => ({ kind: "top_up" as const, request: { walletId: WALLET, ...request } })),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({ refundId: fc.constantFrom("r1", "r2", "t1"), holdId: named, amount: some })
      .map((request) => ({ kind: "refund" as const, request: { walletId: WALLET, ...request } })),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({
        bound: fc.constantFrom(["l1", "k1"], ["l2", "k2"], ["l3", undefined], ["l1", "k2"]),
        period: fc.constantFrom<SpendLimit["period"]>("total", "day", "week", "month"),
        timeZone: fc.constantFrom(
          undefined,
          undefined,
          "UTC",
          "Asia/Kathmandu",
          "America/New_York",
          "Moon/Sea",
        ),
        amount: fc.oneof(
          { weight: 8, arbitrary: fc.bigInt(0n, 120n) },
          { weight: 1, arbitrary: fc.constant(-1n) },
        ),
      })
      .map(({ bound: [limitId = "l1", keyId], ...rest }) => ({
        kind: "set_spend_limit" as const,
        request: { walletId: WALLET, limitId, keyId, ...rest },
      })),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({ chargeId: fc.constantFrom(...chargeIds), keyId: keys, amount: some, metadata: notes })
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
    arbitrary: fc.constantFrom("l1", "l2", "l3", "none").map((limitId) => ({
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

/** A life of a wallet, funded early more often than not; what was said is said again now and then. */
export const steps: fc.Arbitrary<readonly Step[]> = fc
  .tuple(
    fc.oneof({ weight: 7, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
    fc.array(
      fc.oneof(
        { weight: 90, arbitrary: commands.map((command) => ({ command })) },
        { weight: 20, arbitrary: fc.nat({ max: 5 }).map((stepsBack) => ({ stepsBack })) },
        { weight: 15, arbitrary: fc.constantFrom(1, 9, 10, 50, 60_000).map((passesMs) => ({ passesMs })) },
        {
          weight: 1,
          arbitrary: fc.constantFrom(DAY_MS, DAY_MS, 6 * DAY_MS).map((passesMs) => ({ passesMs })),
        },
      ),
      { maxLength: 120, size: "max" },
    ),
  )
  .map(([isFunded, told]) => {
    const life: Step[] = isFunded ? [...FUNDED] : [];
    for (const step of told) {
      const again = "stepsBack" in step ? life.at(-1 - step.stepsBack) : step;
      if (again) life.push(again);
    }
    return life;
  });

const FUNDED: readonly Step[] = [
  { command: { kind: "create_wallet", request: { walletId: WALLET } } },
  { command: { kind: "top_up", request: { walletId: WALLET, topUpId: "t0", amount: 100n } } },
];
