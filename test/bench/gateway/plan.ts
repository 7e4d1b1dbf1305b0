import { parseArgs } from "node:util";
import type { AnswerKind } from "../answers.ts";
import { FORM_OPTIONS, type Form, readForm } from "../form.ts";
import type { Aim } from "../report-table.ts";

/** What is measured, and how long. */
export interface Plan extends Durations {
  readonly form: Form;
  readonly printsJson: boolean;
  readonly isQuick: boolean;
  /** Whether the results are appended to the committed history. */
  readonly isKept: boolean;
}

export interface Durations {
  readonly rounds: number;
  readonly roundMs: number;
  /** Length of a window of the warm-up. */
  readonly warmUpMs: number;
  readonly cells: readonly Cell[];
  readonly steady: { readonly perSecond: number; readonly rounds: number; readonly roundMs: number };
  readonly openStreams: number;
}

/** One row of the table: a closed loop with this many connections. */
export interface Cell {
  readonly kind: AnswerKind;
  readonly connections: number;
}

/** The aims of one cell in one form. */
export interface CellAims {
  /** Least ratio of the gateway's rate to the proxy's. */
  readonly ratio?: Aim;
  /** Most CPU time per answer, as a multiple of the proxy's. */
  readonly cpuRatio?: Aim;
  /** Least ratio of the rate to that of the gateway without Redis. */
  readonly withoutRedis?: Aim;
}

const CELLS: readonly Cell[] = [
  { kind: "whole", connections: 32 },
  { kind: "whole", connections: 128 },
  { kind: "stream", connections: 32 },
  { kind: "stream", connections: 128 },
];

const BURSTS: readonly Cell[] = [
  { kind: "burst", connections: 32 },
  { kind: "burst", connections: 128 },
];

/** Aims by the kind of answer and the number of connections. */
type AimTable = Readonly<Record<string, CellAims>>;

const ON_SQLITE: AimTable = {
  "whole 32": { ratio: { aim: 0.38, beyond: 0.5 }, cpuRatio: { aim: 3.2, beyond: 2.5 } },
  "whole 128": { ratio: { aim: 0.52, beyond: 0.6 } },
  "stream 32": { ratio: { aim: 0.9 } },
  "stream 128": { ratio: { aim: 0.9 } },
};
const ON_POSTGRES: AimTable = {
  "whole 32": { ratio: { aim: 0.2, beyond: 0.35 } },
  "whole 128": { ratio: { aim: 0.3, beyond: 0.35 } },
};
const WITH_REDIS: AimTable = {
  "whole 32": { withoutRedis: { aim: 0.9 } },
  "whole 128": { withoutRedis: { aim: 0.93 } },
};

/** Most latency that the gateway adds at a steady rate. */
export const ADDED_MS_MAX: Readonly<
  Record<Form["database"], { readonly p50: number; readonly p99: number }>
> = {
  sqlite: { p50: 1, p99: 5 },
  postgres: { p50: 2, p99: 5 },
};
export const OPEN_STREAMS_MB_MAX = 150;
export const IDLE_MB_MAX = 84;
export const STALL_MS_MAX = 50;

/** Returns the aims of a cell: of the default form, of PostgreSQL, or of Redis beside the same form without. */
export function aimsOf({ database, hasRedis }: Form, { kind, connections }: Cell): CellAims {
  const onDatabase = database === "postgres" ? ON_POSTGRES : ON_SQLITE;
  return (hasRedis ? WITH_REDIS : onDatabase)[`${kind} ${connections}`] ?? {};
}

const FULL: Durations = {
  rounds: 7,
  roundMs: 2000,
  warmUpMs: 1000,
  cells: [...CELLS, ...BURSTS],
  steady: { perSecond: 500, rounds: 4, roundMs: 5000 },
  openStreams: 2000,
};

const QUICK: Durations = {
  rounds: 3,
  roundMs: 800,
  warmUpMs: 1000,
  cells: CELLS,
  steady: { perSecond: 500, rounds: 2, roundMs: 1000 },
  openStreams: 2000,
};

/**
 * What the guard measures: fewer rounds than a kept run, and no latency or memory. The rounds are as long as
 * those of a kept run, because answers that are late for the end of a round do not count.
 */
export const GUARD_DURATIONS = { rounds: 3, roundMs: FULL.roundMs, warmUpMs: 1000, cells: CELLS };

/**
 * Parses the options: `--database postgres` and `--redis` choose the form, `--quick` takes a minute,
 * `--json` prints one object, `--keep` keeps the results. Throws for a quick run that is to be kept.
 */
export function readPlan(args: readonly string[]): Plan {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...FORM_OPTIONS,
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      keep: { type: "boolean", default: false },
    },
  });
  if (values.quick && values.keep) throw new Error("Cannot keep a quick run: its figures vary too much");
  return {
    form: readForm(values),
    printsJson: values.json,
    isQuick: values.quick,
    isKept: values.keep,
    ...(values.quick ? QUICK : FULL),
  };
}
