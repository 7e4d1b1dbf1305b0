import { parseArgs } from "node:util";
import type { Durations } from "../gateway/plan.ts";

const PART_NAMES = ["keys", "bodies", "receipts", "replicas"] as const;
export type PartName = (typeof PART_NAMES)[number];

/** What `bun run bench growth` measures, and how long. */
export interface GrowthPlan {
  readonly parts: readonly PartName[];
  readonly durations: GrowthDurations;
  /** Whether 10 million receipts are measured too, which takes about 6 GB of disk. */
  readonly isFull: boolean;
  readonly isQuick: boolean;
  /** Whether tables and plots go into the documentation. */
  readonly isKept: boolean;
  readonly printsJson: boolean;
}

export type GrowthDurations = Pick<Durations, "rounds" | "roundMs" | "warmUpMs">;

export const KEY_COUNTS = [1, 10, 100, 1_000, 10_000];
const KB = 1024;
export const BODY_SIZES = [
  { label: "1 KB", bytes: KB },
  { label: "10 KB", bytes: 10 * KB },
  { label: "100 KB", bytes: 100 * KB },
  { label: "1 MB", bytes: KB * KB },
  { label: "10 MB", bytes: 10 * KB * KB },
];
export const RECEIPT_COUNTS = [0, 10_000, 100_000, 1_000_000];
export const RECEIPTS_FULL = 10_000_000;
export const REPLICA_COUNTS = [1, 2, 3];
export const CONNECTIONS = 32;
/** As many bodies of 10 MB stay below the 128 MiB that may be in flight by default. */
export const BODY_CONNECTIONS = 8;
/** Load before the first point. A gateway costs more until its code is compiled. */
export const GROWTH_WARM_UP_MS = 6_000;

/**
 * Parses the options: the names of parts, by default all; `--full`, `--quick`, `--json` and `--keep`. Throws
 * for an unknown part.
 */
export function readGrowthPlan(args: readonly string[]): GrowthPlan {
  const flag = { type: "boolean", default: false } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { full: flag, quick: flag, json: flag, keep: flag },
  });
  return {
    parts: positionals.length > 0 ? positionals.map(readPart) : PART_NAMES,
    durations: values.quick
      ? { rounds: 3, roundMs: 600, warmUpMs: 1_000 }
      : { rounds: 5, roundMs: 1_500, warmUpMs: 2_000 },
    isFull: values.full,
    isQuick: values.quick,
    isKept: values.keep,
    printsJson: values.json,
  };
}

function readPart(name: string): PartName {
  const part = PART_NAMES.find((each) => each === name);
  if (!part) throw new Error(`Cannot measure growth of "${name}": the parts are ${PART_NAMES.join(", ")}`);
  return part;
}
