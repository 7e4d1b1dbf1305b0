import type { RollUpCursor } from "../queries/coverage.ts";
import type { RollUpGroup, RollUpStore, RollUpWrite } from "./store.ts";

/** An hour is closed when it ended this long ago: clocks differ, and commits take time. */
export const GRACE_MS = 60_000;

/** What a step of the job works on. */
export interface RollUpJob {
  readonly store: RollUpStore;
  readonly cursor: RollUpCursor;
  readonly nowMs: number;
}

/** Groups to write, and with the last of them what makes them visible. */
export type GroupsWrite = Omit<RollUpWrite, "version">;

/**
 * Writes groups that no reader reads yet in short transactions, the last of which makes them visible. Returns
 * the version after it, `undefined` when another job has written. Leftovers of a killed job are replaced:
 * receipts do not go, so their wallets are written again.
 */
export async function writeGroups(
  store: RollUpStore,
  version: number,
  final: GroupsWrite,
): Promise<number | undefined> {
  const parts = splitGroups(final.groups ?? []);
  for (const [index, groups] of parts.entries()) {
    const at = version + index;
    const isLast = index === parts.length - 1;
    const part = isLast ? { ...final, groups, version: at } : { table: final.table, groups, version: at };
    if (!(await store.write(part))) return undefined;
  }
  return version + parts.length;
}

/** The most rows that one transaction writes, so that it takes less than 5 ms. */
const ROWS_PER_WRITE = 250;

/** Splits groups into the parts that transactions write, each of at most {@link ROWS_PER_WRITE} rows. */
function splitGroups(groups: readonly RollUpGroup[]): readonly (readonly RollUpGroup[])[] {
  const parts: RollUpGroup[][] = [[]];
  let room = ROWS_PER_WRITE;
  for (const group of groups) {
    for (let at = 0; at < Math.max(group.rows.length, 1); ) {
      if (room === 0) {
        parts.push([]);
        room = ROWS_PER_WRITE;
      }
      const rows = group.rows.slice(at, at + room);
      parts.at(-1)?.push({ ...group, rows, isContinued: at > 0 });
      at += Math.max(rows.length, 1);
      room -= rows.length;
    }
  }
  return parts;
}
