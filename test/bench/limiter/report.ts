import { atLeast, below, tablePrinter } from "../report-table.ts";
import type { BesideResult, RoundsResult } from "./admission-load.ts";
import type { GatewayResult } from "./bench-limiter.ts";
import type { StoredBytes } from "./memory.ts";
import { CALLER_BYTES_MAX, GATEWAY_RATIO_MIN, IN_PROCESS_MIN, INCR_RATIO_MIN, WAITING } from "./plan.ts";

export interface LimiterReport {
  readonly onRedis: readonly BesideResult[];
  readonly inProcess: readonly RoundsResult[];
  readonly storedBytes: readonly StoredBytes[];
  readonly heapBytes: number;
  readonly gateways: readonly GatewayResult[];
}

const LOAD_COLUMNS = ["waiting", "decisions/s", "operations/s", "p50 ms", "p99 ms"];
const row = tablePrinter(34, 14);

/** Prints the report. An admission and its release are two operations. Latencies are of decisions. */
export function printLimiterReport(report: LimiterReport): string {
  const { onRedis, inProcess, storedBytes, heapBytes, gateways } = report;
  return [
    row("on Redis", [...LOAD_COLUMNS, "INCR/s", "ratio", "aim"]),
    ...onRedis.map(printBeside),
    "",
    row("in process", [...LOAD_COLUMNS, "aim"]),
    ...inProcess.map(printInProcess),
    "",
    row("bytes of a caller", ["window", "each lease", "aim"]),
    ...storedBytes.map(printStored),
    row("in process", [heapBytes.toFixed(0), "", below(heapBytes, CALLER_BYTES_MAX)]),
    "",
    row("whole gateway", ["alone/s", "p99 ms", "on Redis/s", "p99 ms", "ratio", "aim"]),
    ...gateways.map(printGateway),
  ].join("\n");
}

function printBeside({ incrPerSecond, byIncr, ...result }: BesideResult): string {
  // Loads with few concurrent requests measure latency only.
  const aim = result.waiting === WAITING ? atLeast(byIncr, INCR_RATIO_MIN) : "";
  return row(result.name, [...loadCells(result), incrPerSecond.toFixed(0), byIncr.toFixed(3), aim]);
}

function printInProcess(result: RoundsResult): string {
  return row(result.name, [...loadCells(result), atLeast(result.operationsPerSecond, IN_PROCESS_MIN)]);
}

function loadCells({ waiting, decisionsPerSecond, operationsPerSecond, latencyMs }: RoundsResult): string[] {
  const rates = [decisionsPerSecond, operationsPerSecond].map((rate) => rate.toFixed(0));
  return [`${waiting}`, ...rates, latencyMs.p50.toFixed(3), latencyMs.p99.toFixed(3)];
}

function printStored({ limit, window, lease }: StoredBytes): string {
  return row(`on Redis, N = ${limit}`, [`${window}`, lease.toFixed(0), below(window, CALLER_BYTES_MAX)]);
}

function printGateway({ kind, connections, alone, onRedis, p99Ms, ratio }: GatewayResult): string {
  return row(`${kind}, ${connections} connections`, [
    alone.toFixed(0),
    p99Ms.alone.toFixed(2),
    onRedis.toFixed(0),
    p99Ms.onRedis.toFixed(2),
    ratio.toFixed(2),
    atLeast(ratio, GATEWAY_RATIO_MIN),
  ]);
}
