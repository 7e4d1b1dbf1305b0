import {
  type Book,
  type Changes,
  type Counter,
  counterKey,
  type Hold,
  postingKey,
  type Resolution,
  type StoredLimit,
  type Transfer,
  type Wallet,
} from "./book.ts";

/** The book of a wallet during a batch: each command sees the changes of the commands before it. */
export interface WorkingBook extends Book {
  readonly writeSet: WriteSet;
  apply(changes: Changes): void;
}

/** The rows that a store must write, each once and in its last state. */
export interface WriteSet {
  /** `undefined` when the wallet's row did not change. */
  readonly wallet: Wallet | undefined;
  /** Whether the wallet's row is to be inserted. */
  readonly createsWallet: boolean;
  readonly newHolds: ReadonlyMap<string, Hold>;
  readonly changedHolds: ReadonlyMap<string, Hold>;
  readonly resolutions: ReadonlyMap<string, Resolution>;
  readonly counters: ReadonlyMap<string, Counter>;
  readonly transfers: readonly Transfer[];
  readonly limits: ReadonlyMap<string, StoredLimit>;
}

/** A book as a store reads it. */
export interface LoadedBook extends Book {
  readonly holds: Map<string, Hold>;
  readonly limits: Map<string, StoredLimit>;
  readonly counters: Map<string, Counter>;
  readonly postings: Map<string, Transfer>;
}

/** Opens a book for a batch. Changes the maps of `loaded`. */
export function createWorkingBook(loaded: LoadedBook): WorkingBook {
  const { holds, limits, counters, postings, dueHoldIds } = loaded;
  let wallet = loaded.wallet;
  const writes = {
    newHolds: new Map<string, Hold>(),
    changedHolds: new Map<string, Hold>(),
    resolutions: new Map<string, Resolution>(),
    counters: new Map<string, Counter>(),
    transfers: [] as Transfer[],
    limits: new Map<string, StoredLimit>(),
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
    get writeSet() {
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
      for (const [holdId, resolution] of changes.resolutions ?? [])
        writes.resolutions.set(holdId, resolution);
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
