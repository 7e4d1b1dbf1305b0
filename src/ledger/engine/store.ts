import type { Command, ExpireRequest } from "../core/command.ts";
import type { WorkingBook } from "../core/working-book.ts";

/** What the batch loop does inside one transaction of a store. */
export interface Turn {
  /** Called when the wallets are locked: only now is it fixed which of their commands are decided. */
  collect(): readonly Command[];
  /** Decides the collected commands on the books that were read for them, and applies each in turn. */
  decide(books: ReadonlyMap<string, WorkingBook>, nowMs: number): void;
}

/** `unknown` when the database can never say: it fell over to another server, or forgot. */
export type TransactionFate = "committed" | "aborted" | "unknown";

/** Where the books are kept. Locks, loads and writes; knows no rule. */
export interface Store {
  /**
   * Runs one turn in one transaction: locks the wallets, collects, reads, decides, writes, commits.
   * When it throws nothing was changed, unless the fault is `unknown`. Throws {@link StoreError}.
   */
  transact(walletIds: ReadonlySet<string>, turn: Turn): void | Promise<void>;
  /** What became of a transaction that ended `unknown`. Throws {@link StoreError} when that is not decided yet. */
  fateOf?(transaction: string): Promise<TransactionFate>;
  /** Resolves when all that was committed before the call is on disk. Without it, a commit is already. */
  sync?(): Promise<void>;
  /** Resolves when the books can be read. Throws {@link StoreError}. */
  ping(): Promise<void>;
  /**
   * Open holds whose time is up, the longest due first; behind them those of the last to expire that were taken
   * under a clock which ran ahead.
   */
  findDue(limit: number): readonly ExpireRequest[] | Promise<readonly ExpireRequest[]>;
}

/**
 * Why a transaction did not happen: somebody else has the lock (`busy`), the database cannot be reached now
 * (`away`), it can be but not be used (`unavailable`), or it refuses this very data (`rejected`). `unknown` is
 * the one that may have happened: the connection ended while it was committed.
 */
export type StoreFault = "busy" | "away" | "unavailable" | "rejected" | "unknown";

export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly fault: StoreFault;
  /** Of an `unknown` one: what {@link Store.fateOf} is asked for. */
  readonly transaction: string | undefined;

  constructor(fault: StoreFault, reason: unknown, transaction?: string) {
    super(`The ledger's store did not commit: ${fault}`, { cause: reason });
    this.fault = fault;
    this.transaction = transaction;
  }

  /** For logs, which name faults by their codes. */
  get code(): StoreFault {
    return this.fault;
  }
}
