import { parseArgs } from "node:util";

/** What `bun run bench ledger` measures, how long, and the aims. */
export interface LedgerPlan {
  readonly printsJson: boolean;
  readonly rounds: number;
  readonly roundMs: number;
  readonly warmUpMs: number;
  /** Number of holds in the filled ledger. */
  readonly filledHolds: number;
}

export const WALLETS_MANY = 1_000;
export const WAITING = 256;
export const WAITING_FEW = 8;

/** Least ratio of pairs per second on one wallet to transactions per second of pgbench. */
export const PGBENCH_RATIO_MIN = { sqlite: 8, postgres: 3 };
/** Least ratio of the rate on many wallets to the rate on one. */
export const MANY_RATIO_MIN = 0.5;
/** Least ratio of the rate over StreamMutations to the rate in process. */
export const STREAM_RATIO_MIN = 0.5;
/** Least ratio of the rate in a filled ledger to the rate in an empty one. */
export const FILLED_RATIO_MIN = 0.9;
export const HOT_P99_MS_MAX = 30;
export const FEW_P99_MS_MAX = 10;

/** Parses the options: `--quick` takes half a minute, `--json` prints one object. */
export function readLedgerPlan(args: readonly string[]): LedgerPlan {
  const { values } = parseArgs({
    args: [...args],
    options: { quick: { type: "boolean" }, json: { type: "boolean" } },
  });
  const printsJson = values.json ?? false;
  return values.quick
    ? { printsJson, rounds: 2, roundMs: 700, warmUpMs: 300, filledHolds: 50_000 }
    : { printsJson, rounds: 5, roundMs: 3_000, warmUpMs: 2_000, filledHolds: 2_000_000 };
}
