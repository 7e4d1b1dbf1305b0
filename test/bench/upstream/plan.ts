import { parseArgs } from "node:util";
import type { CallKind } from "./clients.ts";

/** What `bun run bench upstream` measures, and how long. */
export interface UpstreamPlan {
  readonly printsJson: boolean;
  /** Rounds of each load. Every contestant runs once per round. */
  readonly rounds: number;
  readonly roundMs: number;
  /** Duration of streams and steady rates, whose few requests must suffice for percentiles. */
  readonly steadyMs: number;
  readonly warmUpMs: number;
  readonly burstsPerRound: number;
}

/** One row of the table of clients: a closed loop with this many concurrent calls. */
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

/** Whole answers: this many at once, followed by a pause. */
export const BURST = { size: 200, pauseMs: 200 };
/** More concurrent streams than Bun's default limit. */
export const BEYOND_CAP = 400;
/** Steady rates of streams: a low one, and a share of the highest rate. */
export const LOW_PER_SECOND = 50;
export const CAPACITY_SHARE = 0.5;
/** Connections of the closed loops. */
export const CONNECTIONS = 64;
/** Low enough that no request waits for another. */
export const FAILOVER_PER_SECOND = 200;

/** Parses the options: `--quick` takes two minutes, `--json` prints one object. */
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
