import { firstIdOf, hourOf } from "../../domain/id-time.ts";
import type { Command, CommandResult, Decision, ExpireRequest } from "../core/command.ts";
import type { WorkingBook } from "../core/working-book.ts";

/** Where the ledger's rows are stored. A store locks, loads and writes; it has no rules. */
export interface Store {
  /**
   * Runs one batch in one transaction: locks the wallets, collects, reads, decides, writes, commits. When it
   * throws, nothing was changed, unless the fault is `unknown`. Throws {@link StoreError}.
   */
  transact(walletIds: ReadonlySet<string>, batch: Batch): void | Promise<void>;
  /**
   * Returns the commit status of a transaction that failed as `unknown` and is known. Throws {@link StoreError} while the
   * transaction is running. Absent when no fault of the store is `unknown`.
   */
  commitStatusOf?(transaction: string): Promise<CommitStatus>;
  /** Resolves when every commit before the call is on disk. Absent when commits are on disk at once. */
  sync?(): Promise<void>;
  /** Resolves when the database can be read. Throws {@link StoreError}. */
  ping(): Promise<void>;
  /**
   * Returns open holds to expire: first those past their time, longest overdue first. Then those taken while
   * the clock ran ahead, searched among the `limit` holds that expire last.
   */
  findDue(limit: number): readonly ExpireRequest[] | Promise<readonly ExpireRequest[]>;
  /** Returns at most `limit` wallets with credits whose end has come and is not booked. */
  findDueCredits(limit: number): readonly string[] | Promise<readonly string[]>;
}

/** Observes every transaction, for metrics. Must not throw. */
export interface BatchObserver {
  /** A transaction was committed; `ms` is without the sync. */
  committed(commands: number, ms: number): void;
  /** A sync that commands waited for has ended. */
  synced(ms: number): void;
  /** A transaction failed. It may be tried again. */
  failed(fault: StoreFault): void;
}

/** The commands of one transaction. */
export interface Batch {
  /** Returns the commands of the batch's wallets that have arrived. A second call adds further ones. */
  collect(): readonly Command[];
  /**
   * Decides the collected commands on the books read for them, and applies each decision's changes. Returns whether
   * every command changed its book: none was declined or repeated. A second call decides them anew.
   */
  decide(books: ReadonlyMap<string, WorkingBook>, nowMs: number): boolean;
  /** What was decided of each collected command, in their order. */
  readonly decisions: readonly Decision<CommandResult>[];
}

/** `unknown` when the database can never report it: after a failover, or when it no longer has the id. */
export type CommitStatus = "committed" | "aborted" | "unknown";

/**
 * Why a transaction failed. `busy`: another session has the lock. `away`: the database cannot be reached now.
 * `unavailable`: the database answers but cannot be used. `rejected`: the database rejects this data.
 * `unknown`: the connection ended during the commit, so the transaction may have been committed.
 */
export type StoreFault = "busy" | "away" | "unavailable" | "rejected" | "unknown";

export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly fault: StoreFault;
  /**
   * The transaction to pass to {@link Store.commitStatusOf}; only with `unknown`, and absent when the connection ended
   * before its number was known.
   */
  readonly transaction: string | undefined;

  constructor(fault: StoreFault, cause: unknown, transaction?: string) {
    super(`The ledger's store did not commit: ${fault}`, { cause });
    this.fault = fault;
    this.transaction = transaction;
  }

  /** The fault, under the name that the log prints of every error. */
  get code(): StoreFault {
    return this.fault;
  }
}

// What a batch leaves to the jobs in the background. Stores write it in the transaction of the batch.

/** An hour of a wallet whose roll-up must not be read until it is recomputed. */
export interface StaleHour {
  readonly walletId: string;
  /** The start of the UTC hour, in Unix milliseconds. */
  readonly startMs: number;
}

/** Before the first id: no hour is summed up yet. */
const NO_FENCE = firstIdOf(0);

/**
 * Returns the hours before the fence whose receipts a batch adds or ends, or whose cost it changes. An
 * extended hold is still open: its hour is stale since it was taken.
 */
export function staleHoursOf(books: ReadonlyMap<string, WorkingBook>, fenceId: string): readonly StaleHour[] {
  if (fenceId === NO_FENCE) return [];
  const stale: StaleHour[] = [];
  for (const [walletId, { writeSet }] of books) {
    const hours = new Set<number>();
    for (const { holdId } of writeSet.newHolds.values()) if (holdId < fenceId) hours.add(hourOf(holdId));
    for (const { holdId, state } of writeSet.changedHolds.values()) {
      if (holdId < fenceId && state !== "held") hours.add(hourOf(holdId));
    }
    for (const startMs of hours) stale.push({ walletId, startMs });
  }
  return stale.sort(compareStaleHours);
}

/** The order in which rows of stale hours are locked, by batches and by the job, so that none deadlock. */
export function compareStaleHours(one: StaleHour, other: StaleHour): number {
  if (one.walletId !== other.walletId) return one.walletId < other.walletId ? -1 : 1;
  return one.startMs - other.startMs;
}

/** A receipt that ended, or whose end changed, without a transfer. The journal does not show it. */
interface UnchargedEnd {
  readonly walletId: string;
  readonly holdId: string;
}

/** Returns the receipts that a batch ends without a transfer, for the exports of usage. */
export function unchargedEndsOf(books: ReadonlyMap<string, WorkingBook>): readonly UnchargedEnd[] {
  const ends: UnchargedEnd[] = [];
  for (const [walletId, { writeSet }] of books) {
    if (writeSet.resolutions.size === 0) continue;
    const charged = new Set(writeSet.transfers.map(({ holdId }) => holdId));
    for (const holdId of writeSet.resolutions.keys()) {
      if (!charged.has(holdId)) ends.push({ walletId, holdId });
    }
  }
  return ends;
}
