import type { StaleHour } from "../engine/store.ts";
import type { RollUpCursor } from "../queries/coverage.ts";
import type { JournalSums } from "../queries/journal-sums.ts";
import type { Dialect, RunQuery } from "../queries/query.ts";
import type { RollUpTable } from "../queries/roll-up-tables.ts";

/** Where roll-ups are stored. */
export interface RollUpStore {
  readonly dialect: Dialect;
  /** Runs a query of a few rows. */
  readonly runShort: RunQuery;
  /** Runs a query of many rows, off the event loop. */
  readonly run: RunQuery;
  /** Runs work off the event loop, over a connection of its own. Its temporary tables are gone afterwards. */
  withScratch<Result>(work: (run: RunQuery) => Promise<Result>): Promise<Result>;
  /** Unix milliseconds, by the clock that all processes of the database share. */
  now(): Promise<number>;
  /** Takes or renews the lease of the job for `leaseMs`. `false` while another process has it. */
  takeLease(leaseMs: number): Promise<boolean>;
  /**
   * Raises the fence. When it resolves with `true`, every transaction that did not see the new fence has ended
   * and is visible to later queries. `false` when the database was busy.
   */
  raiseFence(fenceMs: number): Promise<boolean>;
  /** Applies a write in one short transaction. `false` when another job has written, or the database was busy. */
  write(change: RollUpWrite): Promise<boolean>;
  /** Writes the sums of a wallet's journal, unless they are shorter than those there. `false` as for `write`. */
  writeJournal(walletId: string, sums: JournalSums): Promise<boolean>;
}

/** The roll-ups of one hour or day, which replace the ones there: of one wallet, or in tables of totals of all. */
export interface RollUpGroup {
  /** `undefined` in tables of totals. */
  readonly walletId: string | undefined;
  readonly startMs: number;
  /** Rows in the order of {@link columnsOf} of the table. */
  readonly rows: readonly (readonly RollUpValue[])[];
  /** Whether the rows that are there stay: a group with many rows is written in parts. */
  readonly isContinued: boolean;
}

export type RollUpValue = string | bigint | number | null;

/** Scope days of one wallet and day, which replace those there after one kind and id, up to another. */
export interface ScopeGroup {
  readonly walletId: string;
  readonly startMs: number;
  /** Rows in the order of {@link columnsOf} of the table. */
  readonly rows: readonly (readonly RollUpValue[])[];
  readonly after: ScopePosition;
  readonly upTo: ScopePosition;
}

/** A place in the order of scope days by kind and id. */
export interface ScopePosition {
  readonly kind: string;
  readonly id: string;
}

/** What one transaction of the job writes. */
export interface RollUpWrite {
  /** The version that the job has read; the write increases it by 1. */
  readonly version: number;
  readonly table?: RollUpTable | undefined;
  readonly groups?: readonly RollUpGroup[] | undefined;
  readonly scopeGroups?: readonly ScopeGroup[] | undefined;
  /** The new ranges of the cursor. */
  readonly cursor?: CursorRanges | undefined;
  /** Whether totals are valid from this write on: they were written by no other program since. */
  readonly beginsTotals?: boolean | undefined;
  /** Whether scope days are valid from this write on, likewise. */
  readonly beginsScopes?: boolean | undefined;
  /** Hours that become stale, sorted. */
  readonly stale?: readonly StaleHour[] | undefined;
  /** Hours that are no longer stale, unless they have changed since. */
  readonly fresh?: readonly RecomputedHour[] | undefined;
}

export type CursorRanges = Pick<RollUpCursor, "hours" | "days" | "totalsFromMs" | "scopes">;

export interface RecomputedHour extends StaleHour {
  /** The count of changes before the receipts were summed. */
  readonly changes: number;
}

/** An hour is closed when it ended this long ago: clocks differ, and commits take time. */
export const GRACE_MS = 60_000;

/** What a step of the job works on. */
export interface RollUpJob {
  readonly store: RollUpStore;
  readonly cursor: RollUpCursor;
  readonly nowMs: number;
  /** Receipts before this time may be gone. */
  readonly receiptsFromMs: number;
  /** The most scopes of a wallet, day and kind that get rows of their own. */
  readonly ownRowsMax: number;
  /** Aborted when the process stops. */
  readonly signal: AbortSignal | undefined;
}

/** Whether a long step goes on: its process does not stop, and no other one has taken its lease. */
export async function goesOn({ store, signal }: Pick<RollUpJob, "store" | "signal">): Promise<boolean> {
  return !signal?.aborted && store.takeLease(LEASE_MS);
}

/** Longer than a step of the job, or than a part of a step that renews the lease. */
export const LEASE_MS = 60_000;

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
export const ROWS_PER_WRITE = 250;

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
