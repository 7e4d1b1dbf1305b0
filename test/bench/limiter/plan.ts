import { parseArgs } from "node:util";
import type { Cell } from "../gateway/plan.ts";

/** What `bun run bench limiter` measures, and how long. */
export interface LimiterPlan {
  readonly printsJson: boolean;
  readonly rounds: number;
  readonly roundMs: number;
  /** Before each load and its baseline, because new code is slow at first. */
  readonly warmUpMs: number;
  /** Warm-up of a whole gateway, which has more code. */
  readonly gatewayWarmUpMs: number;
}

export type GatewayCell = Pick<Cell, "kind" | "connections">;

export const WAITING = 256;
export const WAITING_FEW = 8;
export const CALLERS_MANY = 1_000;
export const ACCOUNTS_FEW = 10;
/** The loads of whole gateways. */
export const GATEWAY_CELLS: readonly GatewayCell[] = [
  { kind: "whole", connections: 32 },
  { kind: "whole", connections: 128 },
  { kind: "stream", connections: 32 },
  { kind: "stream", connections: 128 },
];

/** Least ratio of operations on Redis to bare INCRs. */
export const INCR_RATIO_MIN = 0.15;
/** Least operations per second in process. */
export const IN_PROCESS_MIN = 500_000;
/** Most bytes per caller without leases, in Redis and in process. */
export const CALLER_BYTES_MAX = 4_096;
/** Least ratio of a gateway's rate with Redis to the rate without. */
export const GATEWAY_RATIO_MIN = 0.85;

/** Parses the options: `--quick` takes a minute, `--json` prints one object. */
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
