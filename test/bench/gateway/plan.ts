import { parseArgs } from "node:util";
import type { AnswerKind } from "../answers.ts";

/** What is measured, for how long, and what is to be reached. */
export interface Plan {
  readonly printsJson: boolean;
  readonly rounds: number;
  readonly roundMs: number;
  readonly warmUpMs: number;
  readonly cells: readonly Cell[];
  readonly steady: { readonly perSecond: number; readonly rounds: number; readonly roundMs: number };
  readonly openStreams: number;
}

/** One line of the table: a closed loop of so many connections. */
export interface Cell {
  readonly kind: AnswerKind;
  readonly connections: number;
  /** The least the gateway's rate is to be of the bare proxy's. */
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

/** Reads the command line: `--quick` for twenty seconds, `--json` for one object. */
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
