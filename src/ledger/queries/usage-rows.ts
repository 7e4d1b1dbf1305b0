import { platform } from "../../platform.ts";
import type { UsageDimension, UsageRow } from "../usage-records.ts";
import type { Row } from "./query.ts";
import { readMeasures } from "./usage-columns.ts";

/** Rows that are read in one event-loop turn: 3 ms. */
const ROWS_PER_TURN = 500;

/** Reads the groups of a report, with pauses in which other requests go on. */
export async function readRows(
  rows: readonly Row[],
  groupBy: readonly UsageDimension[],
): Promise<readonly UsageRow[]> {
  const read: UsageRow[] = [];
  for (const [index, row] of rows.entries()) {
    if (index % ROWS_PER_TURN === ROWS_PER_TURN - 1)
      await new Promise<void>((resolve) => platform.setImmediate(resolve));
    read.push({ group: readGroups(row, groupBy), ...readMeasures(row), ok: Number(row.ok ?? 0) });
  }
  return read;
}

function readGroups(row: Row, groupBy: readonly UsageDimension[]) {
  return Object.fromEntries(groupBy.map((dimension) => [dimension, readGroup(row[dimension])]));
}

function readGroup(value: unknown): string | number | null {
  if (typeof value === "bigint") return Number(value);
  return typeof value === "string" ? value : null;
}
