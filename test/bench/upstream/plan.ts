import { parseArgs } from "node:util";
import type { CallKind } from "./clients.ts";

/** What `bun run bench upstream` measures, and for how long. */
export interface UpstreamPlan {
  readonly printsJson: boolean;
  /** Rounds of each load; in each one every contestant has its turn. */
  readonly rounds: number;
  readonly roundMs: number;
  /** The same for streams and steady rates, where few requests are to give a percentile. */
  readonly steadyMs: number;
  readonly warmUpMs: number;
  readonly burstsPerRound: number;
}

/** One line of the table of clients: a closed loop of so many calls at a time. */
export interface ClientCell {
  readonly kind: CallKind;
  readonly concurrent: number;
  readonly tls: boolean;
}

export const CLIENT_CELLS: readonly ClientCell[] = [
  { kind: "stream", concurrent: 64, tls: false },
  { kind: "stream", concurrent: 512, tls: false },
  { kind: "stream", concurrent: 2_000, tls: false },
  { kind: "stream", concurrent: 512, tls: true },
  { kind: "whole", concurrent: 64, tls: false },
  { kind: "whole", concurrent: 512, tls: false },
  { kind: "whole", concurrent: 64, tls: true },
  { kind: "whole", concurrent: 512, tls: true },
];

/** Whole answers, so many at once and then none for a while. */
export const BURST = { size: 200, pauseMs: 200 };
/** Streams at a time where a cap would show. */
export const BEYOND_CAP = 400;
/** Steady rates of streams: low, and as a share of what the gateway answers at most. */
export const LOW_PER_SECOND = 50;
export const CAPACITY_SHARE = 0.5;
/** Connections of the closed loops: that of the capacity, and those beside a failing upstream. */
export const CONNECTIONS = 64;
/** Low enough that no request waits for another. */
export const FAILOVER_PER_SECOND = 200;

/** Reads the command line: `--quick` for two minutes, `--json` for one object. */
export function readUpstreamPlan(args: readonly string[]): UpstreamPlan {
  const { values } = parseArgs({
    args: [...args],
    options: { quick: { type: "boolean" }, json: { type: "boolean" } },
  });
  const printsJson = values.json ?? false;
  return values.quick
    ? { printsJson, rounds: 1, roundMs: 1_000, steadyMs: 2_000, warmUpMs: 500, burstsPerRound: 5 }
    : { printsJson, rounds: 4, roundMs: 2_000, steadyMs: 4_000, warmUpMs: 1_500, burstsPerRound: 10 };
}
