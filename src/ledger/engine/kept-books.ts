import type { WorkingBook } from "../core/working-book.ts";

/** A book in memory. A store keeps it from batch to batch. */
export interface KeptBook extends WorkingBook {
  /** The bindings whose limits in force are in the book, all of them. Those of the wallet are with any key. */
  readonly bindings: Set<string>;
  /** The kinds that bindings in force have: the others need no reading. `undefined`: not known. */
  kinds: Set<string> | undefined;
  /** Whether the book has all credits with something left. */
  hasCredits: boolean;
  /** How many rows were counted when the book was last kept. */
  keptRows: number;
}

/**
 * The most rows kept, of all wallets together. Above it, wallets of a batch with more than a quarter of them are
 * dropped, then those that were read first. So no wallet pushes more than a quarter of the rows of others out.
 */
const ROWS_MAX = 100_000;

const LARGE_PARTS = 4;

/** The books of wallets in memory, with their open holds, and the limits and counters that commands needed. */
export class KeptBooks<Book extends KeptBook> {
  readonly #rowsMax: number;
  /** By wallet id, in the order of their first reading. */
  readonly #books = new Map<string, Book>();
  #rows = 0;

  constructor(rowsMax = ROWS_MAX) {
    this.#rowsMax = rowsMax;
  }

  get(walletId: string): Book | undefined {
    return this.#books.get(walletId);
  }

  /** Keeps the books of a batch, as they are after it. */
  keep(opened: ReadonlyMap<string, Book>): void {
    for (const [walletId, book] of opened) {
      for (const { scope } of book.writeSet.limits.values()) if (scope) book.kinds?.add(scope.kind);
      book.startBatch();
      if (!book.wallet) continue;
      const rows = rowsOf(book);
      this.#rows += rows - (this.#books.get(walletId)?.keptRows ?? 0);
      book.keptRows = rows;
      this.#books.set(walletId, book);
    }
    if (this.#rows <= this.#rowsMax) return;
    for (const walletId of opened.keys()) {
      const { keptRows = 0 } = this.#books.get(walletId) ?? {};
      if (keptRows * LARGE_PARTS > this.#rowsMax) this.#drop(walletId);
    }
    this.#dropOldest();
  }

  drop(): void {
    this.#books.clear();
    this.#rows = 0;
  }

  #dropOldest(): void {
    for (const walletId of this.#books.keys()) {
      if (this.#rows <= this.#rowsMax) return;
      this.#drop(walletId);
    }
  }

  #drop(walletId: string): void {
    this.#rows -= this.#books.get(walletId)?.keptRows ?? 0;
    this.#books.delete(walletId);
  }
}

function rowsOf({ holds, limits, counters, bindings, credits }: KeptBook): number {
  return 1 + holds.size + limits.size + counters.size + bindings.size + credits.size;
}
