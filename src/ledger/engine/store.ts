import type { Command, ExpireRequest } from "../core/command.ts";
import type { WorkingBook } from "../core/working-book.ts";

/** Where the ledger's rows are stored. A store locks, loads and writes; it has no rules. */
export interface Store {
  /**
   * Runs one batch in one transaction: locks the wallets, collects, reads, decides, writes, commits. When it
   * throws, nothing was changed, unless the fault is `unknown`. Throws {@link StoreError}.
   */
  transact(walletIds: ReadonlySet<string>, batch: Batch): void | Promise<void>;
  /**
   * How a transaction that ended `unknown` was completed. Throws {@link StoreError} while it is undecided.
   */
  commitStatusOf?(transaction: string): Promise<CommitStatus>;
  /** Resolves when every commit before the call is on disk. Absent when commits are on disk at once. */
  sync?(): Promise<void>;
  /** Resolves when the database can be read. Throws {@link StoreError}. */
  ping(): Promise<void>;
  /**
   * Open holds that a sweep should look at: those past their time, longest overdue first, then, of the last
   * to expire, those taken while the clock ran ahead.
   */
  findDue(limit: number): readonly ExpireRequest[] | Promise<readonly ExpireRequest[]>;
}

/** The commands of one transaction. */
export interface Batch {
  /** Called once the wallets are locked. Fixes which commands of these wallets the batch decides. */
  collect(): readonly Command[];
  /** Decides the collected commands on the books read for them, and applies each decision's changes. */
  decide(books: ReadonlyMap<string, WorkingBook>, nowMs: number): void;
}

/** `unknown` when the database can never report it: after a failover, or when it no longer has the id. */
export type CommitStatus = "committed" | "aborted" | "unknown";

/**
 * Why a transaction failed: another session has the lock (`busy`), the database cannot be reached now
 * (`away`), it is reached but cannot be used (`unavailable`), or it rejects this data (`rejected`). Only
 * `unknown` may have been committed: the connection ended during the commit.
 */
export type StoreFault = "busy" | "away" | "unavailable" | "rejected" | "unknown";

export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly fault: StoreFault;
  /** The transaction to pass to {@link Store.commitStatusOf}; only with `unknown`. */
  readonly transaction: string | undefined;

  constructor(fault: StoreFault, cause: unknown, transaction?: string) {
    super(`The ledger's store did not commit: ${fault}`, { cause });
    this.fault = fault;
    this.transaction = transaction;
  }

  /** The property that the log prints of every error. */
  get code(): StoreFault {
    return this.fault;
  }
}
