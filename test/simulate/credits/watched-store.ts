import type { Command } from "../../../src/ledger/core/command.ts";
import type { WorkingBook } from "../../../src/ledger/core/working-book.ts";
import type { Batch } from "../../../src/ledger/engine/store.ts";
import {
  createSqliteStore,
  type SqliteStore,
  type SqliteStoreParts,
} from "../../../src/ledger/sqlite/store.ts";
import { type CreditReckoning, type Step, stepOf } from "./reckoning.ts";

/** Opens the store of a ledger. Each batch that it commits is reckoned as well, in the order of its decisions. */
export function openWatchedStore(reckoning: CreditReckoning, parts: SqliteStoreParts): SqliteStore {
  const store = createSqliteStore(parts);
  return {
    ...store,
    transact(walletIds, batch) {
      const watched = new WatchedBatch(batch, () => reckoning.rewind(parts.client));
      // A store of a file is done when it returns.
      void store.transact(walletIds, watched);
      reckoning.commit(watched.steps(), watched.books);
    },
  };
}

/** A batch that remembers what it was decided on. */
class WatchedBatch implements Batch {
  books: ReadonlyMap<string, WorkingBook> = new Map();
  readonly #batch: Batch;
  readonly #onBegin: () => void;
  #commands: readonly Command[] = [];
  #nowMs = 0;

  constructor(batch: Batch, onBegin: () => void) {
    this.#batch = batch;
    this.#onBegin = onBegin;
  }

  get decisions() {
    return this.#batch.decisions;
  }

  collect(): readonly Command[] {
    this.#onBegin();
    this.#commands = this.#batch.collect();
    return this.#commands;
  }

  decide(books: ReadonlyMap<string, WorkingBook>, nowMs: number): boolean {
    this.books = books;
    this.#nowMs = nowMs;
    return this.#batch.decide(books, nowMs);
  }

  /** What was decided, in its order. */
  steps(): readonly Step[] {
    return this.#commands.flatMap((command, index) => {
      const decision = this.decisions[index];
      return decision ? [stepOf(command, decision, this.#nowMs)] : [];
    });
  }
}
