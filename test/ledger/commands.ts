import fc from "fast-check";
import type { Command } from "../../src/ledger/command.ts";
import type { SpendLimit } from "../../src/ledger/ledger.ts";
import { FACTS, holdOf, WALLET } from "./samples.ts";

const DAY_MS = 86_400_000;
const MOST = 4n * 10n ** 18n;

const ids = fc.constantFrom("h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8");
const keys = fc.constantFrom("k1", "k2");
const some = fc.oneof(
  { weight: 12, arbitrary: fc.bigInt(0n, 40n) },
  { weight: 1, arbitrary: fc.constantFrom(-1n, MOST, MOST + 1n, MOST - 1n) },
);
const lives = fc.constantFrom(10, 50, 60_000);
const coin = fc.constantFrom(true, false);

/** Time passes, or a command is given. */
export type Step = { readonly passesMs: number } | { readonly command: Command };

/** Commands on one wallet with few ids and small amounts, so that they meet; and the odd monstrous one. */
export const commands: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .record({
        holdId: ids,
        keyId: keys,
        amount: some,
        spare: fc.bigInt(0n, 30n),
        ttlMs: lives,
        told: coin,
      })
      .map(({ spare, amount, told, ...rest }) => ({
        kind: "hold" as const,
        request: holdOf(amount, {
          ...rest,
          minimum: spare > amount ? 0n : amount - spare,
          metadata: told ? { job: 7 } : undefined,
        }),
      })),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({ holdId: ids, accrued: some, ttlMs: lives })
      .map((request) => ({ kind: "extend" as const, request: { walletId: WALLET, ...request } })),
  },
  {
    weight: 6,
    arbitrary: fc.record({ holdId: ids, amount: some }).map((request) => ({
      kind: "settle" as const,
      request: { walletId: WALLET, facts: FACTS, ...request },
    })),
  },
  {
    weight: 2,
    arbitrary: ids.map((holdId) => ({
      kind: "release" as const,
      request: { walletId: WALLET, holdId, facts: FACTS },
    })),
  },
  {
    weight: 3,
    arbitrary: ids.map((holdId) => ({ kind: "expire" as const, request: { walletId: WALLET, holdId } })),
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
      .record({ refundId: fc.constantFrom("r1", "r2", "t1"), holdId: ids, amount: some })
      .map((request) => ({ kind: "refund" as const, request: { walletId: WALLET, ...request } })),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({
        bound: fc.constantFrom(["l1", "k1"], ["l2", "k2"], ["l3", undefined], ["l1", "k2"]),
        period: fc.constantFrom<SpendLimit["period"]>("total", "day", "week", "month"),
        amount: fc.oneof(fc.bigInt(0n, 120n), fc.constant(-1n)),
      })
      .map(({ bound: [limitId = "l1", keyId], ...rest }) => ({
        kind: "set_spend_limit" as const,
        request: { walletId: WALLET, limitId, keyId, ...rest },
      })),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "create_wallet" as const, request: { walletId: WALLET } }) },
);

/** A life of a wallet; it is funded early more often than not. */
export const steps: fc.Arbitrary<readonly Step[]> = fc
  .tuple(
    coin,
    fc.array(
      fc.oneof(
        { weight: 6, arbitrary: commands.map((command) => ({ command })) },
        {
          weight: 1,
          arbitrary: fc.constantFrom(1, 9, 10, 60_000, DAY_MS, 9 * DAY_MS).map((passesMs) => ({ passesMs })),
        },
      ),
      { maxLength: 120, size: "max" },
    ),
  )
  .map(([isFunded, rest]): readonly Step[] => [...(isFunded ? FUNDED : []), ...rest]);

const FUNDED: readonly Step[] = [
  { command: { kind: "create_wallet", request: { walletId: WALLET } } },
  { command: { kind: "top_up", request: { walletId: WALLET, topUpId: "t0", amount: 100n } } },
];
