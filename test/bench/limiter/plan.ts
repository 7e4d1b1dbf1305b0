import { parseArgs } from "node:util";
import type { Cell } from "../gateway/plan.ts";

/** What `bun run bench limiter` measures, and for how long. */
export interface LimiterPlan {
  readonly printsJson: boolean;
  readonly rounds: number;
  readonly roundMs: number;
  /** Before each load, for the baseline as well: code that has just begun to run is slow. */
  readonly warmUpMs: number;
  /** The same for a whole gateway, of which there is more. */
  readonly gatewayWarmUpMs: number;
}

export type GatewayCell = Pick<Cell, "kind" | "connections">;

export const WAITING = 256;
export const WAITING_FEW = 8;
export const CALLERS_MANY = 1_000;
export const ACCOUNTS_FEW = 10;
/** What whole gateways are asked for. */
export const GATEWAY_CELLS: readonly GatewayCell[] = [
  { kind: "whole", connections: 32 },
  { kind: "whole", connections: 128 },
  { kind: "stream", connections: 32 },
  { kind: "stream", connections: 128 },
];

/** Least share of the bare INCR rate, in admissions and releases on Redis. */
export const INCR_RATIO_MIN = 0.15;
/** Least admissions and releases a second in process. */
export const IN_PROCESS_MIN = 500_000;
/** Of one caller, leases aside, in Redis and in process. */
export const CALLER_BYTES_MAX = 4_096;
/** Least share of the gateway's rate without Redis. */
export const GATEWAY_RATIO_MIN = 0.85;

/** Reads the command line: `--quick` for a minute, `--json` for one object. */
export function readLimiterPlan(args: readonly string[]): LimiterPlan {
  const { values } = parseArgs({
    args: [...args],
    options: { quick: { type: "boolean" }, json: { type: "boolean" } },
  });
  const printsJson = values.json ?? false;
  return values.quick
    ? { printsJson, rounds: 3, roundMs: 500, warmUpMs: 1_000, gatewayWarmUpMs: 2_000 }
    : { printsJson, rounds: 7, roundMs: 2_000, warmUpMs: 2_000, gatewayWarmUpMs: 6_000 };
}
