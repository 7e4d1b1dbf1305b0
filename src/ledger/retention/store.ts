import type { TimeRange } from "../queries/coverage.ts";
import type { Dialect, RunQuery } from "../queries/query.ts";
import type { SeenClock } from "./boundary.ts";

/** Where receipts are dropped. */
export interface RetentionStore {
  readonly dialect: Dialect;
  /** Runs a query of many rows, off the event loop. */
  readonly run: RunQuery;
  /** Unix milliseconds, by the clock that all processes of the database share. */
  now(): Promise<number>;
  /** Takes or renews the lease of the job for `leaseMs`. `false` while another process has it. */
  takeLease(leaseMs: number): Promise<boolean>;
  saveClock(clock: SeenClock): Promise<void>;
  /**
   * Finds what the next drop removes at once: at least the hour, at most what ends at the boundary.
   * `undefined` while the hour is in a part of the storage that has newer receipts too.
   */
  unitOf(hourMs: number, boundaryMs: number): Promise<DropUnit | undefined>;
  /**
   * Drops the receipts of a unit that was compared with its usage, or some of them. What is dropped is recorded
   * in the same transaction. Ends early when a receipt of it has changed meanwhile.
   */
  drop(unit: DropUnit): Promise<DropProgress>;
  /** Returns freed space to the disk, in short steps. Returns how many bytes. */
  shrink(): Promise<number>;
  /** Resolves when a running step has ended, soon: it may be in the middle. */
  close(): Promise<void>;
}

/** Receipts that are dropped together. */
export interface DropUnit extends TimeRange {
  /** The table that holds them, and nothing else; `undefined` for a table that has others. */
  readonly table: string | undefined;
}

export interface DropProgress {
  readonly receipts: number;
  /** `partly`: the next step goes on. `changed`: a receipt has changed, and its hour must be summed up first. `busy`: others use the table. */
  readonly state: "dropped" | "partly" | "changed" | "busy";
}
