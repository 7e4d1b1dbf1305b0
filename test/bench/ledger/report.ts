import { atLeast, tablePrinter, verdict } from "../report-table.ts";
import type { StoreResult } from "./bench-ledger.ts";
import type { PairsResult } from "./hold-settle-load.ts";
import {
  FEW_P99_MS_MAX,
  FILLED_RATIO_MIN,
  HOT_P99_MS_MAX,
  MANY_RATIO_MIN,
  PGBENCH_RATIO_MIN,
  STREAM_RATIO_MIN,
  WAITING,
  WAITING_FEW,
  WALLETS_MANY,
} from "./plan.ts";

export interface LedgerReport {
  readonly fsyncsPerSecond: number;
  readonly stores: readonly StoreResult[];
}

const COLUMNS = ["pairs/s", "p50 ms", "p99 ms", "ratio", "aim"];
const row = tablePrinter(34, 12);

/** Prints the report. A pair is a hold and its settlement; latencies are of single commands. */
export function printLedgerReport({ fsyncsPerSecond, stores }: LedgerReport): string {
  const syncs = `fdatasync: ${fsyncsPerSecond.toFixed(0)}/s`;
  return [syncs, ...stores.flatMap(printStore)].join("\n");
}

function printStore(result: StoreResult): string[] {
  const { name, hot, hotByPgbench, pgbench, calm, few } = result;
  const least = PGBENCH_RATIO_MIN[name];
  const calmAim = verdict(calm.latencyMs.p99 < HOT_P99_MS_MAX);
  const fewAim = verdict(few.latencyMs.p99 < FEW_P99_MS_MAX);
  const share = (least: number, ratio: number) => [ratio.toFixed(2), atLeast(ratio, least)];
  return [
    "",
    row(`${name}, pgbench TPC-B ${pgbench.toFixed(0)}/s`, COLUMNS),
    line(`1 wallet, ${WAITING} waiting`, hot, share(least, hotByPgbench)),
    line("the same without pgbench between", calm, ["", `${HOT_P99_MS_MAX} ms ${calmAim}`]),
    line(`the same with a spending limit`, result.limited, []),
    line(
      `${WALLETS_MANY} wallets, ${WAITING} waiting`,
      result.many,
      share(MANY_RATIO_MIN, result.manyByCalm),
    ),
    line(`1 wallet, ${WAITING_FEW} waiting`, few, ["", `${FEW_P99_MS_MAX} ms ${fewAim}`]),
    line("gRPC StreamMutations", result.stream, share(STREAM_RATIO_MIN, result.streamByCalm)),
    line(`after ${result.filledHolds} holds`, result.filled, share(FILLED_RATIO_MIN, result.filledByCalm)),
    `audit: ${result.isAuditClean ? "clean" : "NOT CLEAN"}`,
  ];
}

function line(label: string, { perSecond, latencyMs }: PairsResult, rest: readonly string[]): string {
  return row(label, [perSecond.toFixed(0), latencyMs.p50.toFixed(2), latencyMs.p99.toFixed(2), ...rest]);
}
