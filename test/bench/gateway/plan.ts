import { parseArgs } from "node:util";
import type { AnswerKind } from "../answers.ts";

/** What is measured, how long, and the aims. */
export interface Plan {
  readonly printsJson: boolean;
  readonly rounds: number;
  readonly roundMs: number;
  readonly warmUpMs: number;
  readonly cells: readonly Cell[];
  readonly steady: { readonly perSecond: number; readonly rounds: number; readonly roundMs: number };
  readonly openStreams: number;
}

/** One row of the table: a closed loop with this many connections. */
export interface Cell {
  readonly kind: AnswerKind;
  readonly connections: number;
  /** Least ratio of the gateway's rate to the proxy's. */
  readonly ratioMin?: number;
}

export const ADDED_MS_MAX = { p50: 1, p99: 5 };
export const OPEN_STREAMS_MB_MAX = 400;

const CELLS: readonly Cell[] = [
  { kind: "whole", connections: 32, ratioMin: 0.4 },
  { kind: "whole", connections: 128, ratioMin: 0.55 },
  { kind: "stream", connections: 32, ratioMin: 0.8 },
  { kind: "stream", connections: 128, ratioMin: 0.8 },
];

const BURSTS: readonly Cell[] = [
  { kind: "burst", connections: 32 },
  { kind: "burst", connections: 128 },
];

/** Parses the options: `--quick` takes twenty seconds, `--json` prints one object. */
export function readPlan(args: readonly string[]): Plan {
  const { values } = parseArgs({
    args: [...args],
    options: { quick: { type: "boolean" }, json: { type: "boolean" } },
  });
  const printsJson = values.json ?? false;
  const steady = { perSecond: 500, rounds: 4, roundMs: 5000 };
  if (!values.quick) {
    return {
      printsJson,
      rounds: 7,
      roundMs: 2000,
      warmUpMs: 2000,
      cells: [...CELLS, ...BURSTS],
      steady,
      openStreams: 2000,
    };
  }
  return {
    printsJson,
    rounds: 3,
    roundMs: 400,
    warmUpMs: 300,
    cells: CELLS,
    steady: { ...steady, rounds: 2, roundMs: 1000 },
    openStreams: 2000,
  };
}
