import type { Command, ExpireRequest } from "./command.ts";
import type { WorkingBook } from "./working-book.ts";

/** What the batch loop does inside one transaction of a store. */
export interface Turn {
  /** Called when the wallets are locked: only now is it fixed which of their commands are decided. */
  collect(): readonly Command[];
  /** Decides the collected commands on the books that were read for them, and applies each in turn. */
  decide(books: ReadonlyMap<string, WorkingBook>, nowMs: number): void;
}

/** Where the books are kept. Locks, loads and writes; knows no rule. */
export interface Store {
  /**
   * Runs one turn in one transaction: locks the wallets, collects, reads, decides, writes, commits.
   * When it throws nothing was changed. Throws {@link StoreError}.
   */
  transact(walletIds: ReadonlySet<string>, turn: Turn): void | Promise<void>;
  /** Resolves when all that was committed before the call is on disk. Without it, a commit is already. */
  sync?(): Promise<void>;
  /** Open holds whose time is up, the longest due first. */
  findDue(limit: number): readonly ExpireRequest[] | Promise<readonly ExpireRequest[]>;
}

/**
 * Why a transaction did not happen: the lock is taken (`busy`), the database cannot be used now
 * (`unavailable`), or it refuses this very data (`rejected`).
 */
export type StoreFault = "busy" | "unavailable" | "rejected";

export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly fault: StoreFault;

  constructor(fault: StoreFault, reason: unknown) {
    super(`The ledger's store did not commit: ${fault}`, { cause: reason });
    this.fault = fault;
  }
}
