import {
  type Book,
  type Changes,
  type Counter,
  counterKey,
  type Ending,
  type Hold,
  type KeptLimit,
  postingKey,
  type Transfer,
  type Wallet,
} from "./book.ts";

/** A book in the middle of a batch: each command sees what those before it did, nothing is written yet. */
export interface WorkingBook extends Book {
  /** What a store has to write, each row once and in its last state. */
  readonly unwritten: Unwritten;
  apply(changes: Changes): void;
}

export interface Unwritten {
  readonly wallet: Wallet | undefined;
  /** Whether the wallet itself is new. */
  readonly createsWallet: boolean;
  readonly newHolds: ReadonlyMap<string, Hold>;
  readonly changedHolds: ReadonlyMap<string, Hold>;
  readonly endings: ReadonlyMap<string, Ending>;
  readonly counters: ReadonlyMap<string, Counter>;
  readonly transfers: readonly Transfer[];
  readonly limits: ReadonlyMap<string, KeptLimit>;
}

/** Opens a book for a batch. The maps of `loaded` become the working book's own. */
export function createWorkingBook(loaded: LoadedBook): WorkingBook {
  const { holds, limits, counters, postings, dueHoldIds } = loaded;
  let wallet = loaded.wallet;
  const writes = {
    newHolds: new Map<string, Hold>(),
    changedHolds: new Map<string, Hold>(),
    endings: new Map<string, Ending>(),
    counters: new Map<string, Counter>(),
    transfers: [] as Transfer[],
    limits: new Map<string, KeptLimit>(),
  };
  let changesWallet = false;

  const applyHold = (hold: Hold) => {
    const isNew = !holds.has(hold.holdId) || writes.newHolds.has(hold.holdId);
    (isNew ? writes.newHolds : writes.changedHolds).set(hold.holdId, hold);
    holds.set(hold.holdId, hold);
  };
  const applyCounter = (counter: Counter) => {
    counters.set(counterKey(counter), counter);
    writes.counters.set(counterKey(counter), counter);
  };

  return {
    get wallet() {
      return wallet;
    },
    holds,
    limits,
    counters,
    postings,
    dueHoldIds,
    get unwritten() {
      return {
        ...writes,
        wallet: changesWallet ? wallet : undefined,
        createsWallet: changesWallet && loaded.wallet === undefined,
      };
    },
    apply(changes) {
      if (changes.wallet) {
        wallet = changes.wallet;
        changesWallet = true;
      }
      for (const hold of changes.holds ?? []) applyHold(hold);
      for (const counter of changes.counters ?? []) applyCounter(counter);
      for (const [holdId, ending] of changes.endings ?? []) writes.endings.set(holdId, ending);
      for (const transfer of changes.transfers ?? []) {
        writes.transfers.push(transfer);
        postings.set(postingKey(transfer.kind, transfer.transferId), transfer);
      }
      for (const limit of changes.limits ?? []) {
        limits.set(limit.limitId, limit);
        writes.limits.set(limit.limitId, limit);
      }
    },
  };
}

/** A book as a store reads it. */
export interface LoadedBook extends Book {
  readonly holds: Map<string, Hold>;
  readonly limits: Map<string, KeptLimit>;
  readonly counters: Map<string, Counter>;
  readonly postings: Map<string, Transfer>;
}
