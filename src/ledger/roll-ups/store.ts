import type { StaleHour } from "../engine/stale-hours.ts";
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

/** What one transaction of the job writes. */
export interface RollUpWrite {
  /** The version that the job has read; the write increases it by 1. */
  readonly version: number;
  readonly table?: RollUpTable | undefined;
  readonly groups?: readonly RollUpGroup[] | undefined;
  /** The new ranges of the cursor. */
  readonly cursor?: CursorRanges | undefined;
  /** Whether totals are valid from this write on: they were written by no other program since. */
  readonly beginsTotals?: boolean | undefined;
  /** Hours that become stale, sorted. */
  readonly stale?: readonly StaleHour[] | undefined;
  /** Hours that are no longer stale, unless they have changed since. */
  readonly fresh?: readonly RecomputedHour[] | undefined;
}

export type CursorRanges = Pick<RollUpCursor, "hours" | "days" | "totalsFromMs">;

export interface RecomputedHour extends StaleHour {
  /** The count of changes before the receipts were summed. */
  readonly changes: number;
}
