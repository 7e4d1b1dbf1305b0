import { parseArgs } from "node:util";

/** What `bun run bench ledger` measures, for how long, and what is to be reached. */
export interface LedgerPlan {
  readonly printsJson: boolean;
  readonly rounds: number;
  readonly roundMs: number;
  readonly warmUpMs: number;
  /** Holds that are in the books when the full rate is measured. */
  readonly filledHolds: number;
}

export const WALLETS_MANY = 1_000;
export const WAITING = 256;
export const WAITING_FEW = 8;

/** Least multiples of pgbench's transactions a second, in hold+settle pairs on one hot wallet. */
export const PGBENCH_RATIO_MIN = { sqlite: 8, postgres: 3 };
/** Least share of the hot wallet's rate that many wallets reach. */
export const MANY_RATIO_MIN = 0.5;
/** Least share of the in-process rate that StreamMutations reaches. */
export const STREAM_RATIO_MIN = 0.5;
/** Least share of the empty books' rate that full ones reach. */
export const FILLED_RATIO_MIN = 0.9;
export const HOT_P99_MS_MAX = 30;
export const FEW_P99_MS_MAX = 10;

/** Reads the command line: `--quick` for half a minute, `--json` for one object. */
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
