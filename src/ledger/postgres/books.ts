import type { Scope } from "../../domain/scope.ts";
import type { CounterKey } from "../core/book.ts";
import type { Command } from "../core/command.ts";
import { limitsOf } from "../core/headroom.ts";
import { unreadWindowsOf } from "../core/read-set.ts";
import { bindingOfScope, type Spender } from "../core/spender.ts";
import { createWorkingBook, type LoadedBook, type WorkingBook } from "../core/working-book.ts";
import { type KeptBook, KeptBooks } from "../engine/kept-books.ts";
import { mayAnyFallShort } from "./spending.ts";

/**
 * A book as of a version of its wallet's row. Every batch that changes rows of a wallet writes that row, so that a
 * book with the row's present version is complete and current.
 */
export interface VersionedBook extends KeptBook {
  /** The transaction that last wrote the wallet's row: its `xmin`. */
  version: string;
  /** Whether the rows are those of `version`. A failed batch leaves decisions in them. */
  isCurrent: boolean;
  /** In how many batches more the wallet must be found unchanged before it is decided from memory. */
  doubts: number;
}

/** A book as it was read under the lock. */
export interface LockedBook {
  readonly loaded: LoadedBook;
  /** See {@link KeptBook.bindings}. */
  readonly bindings: Iterable<string>;
  readonly kinds: ReadonlySet<string> | undefined;
  /** `undefined` when the wallet does not exist. */
  readonly version: string | undefined;
}

/** How often a wallet that another process changed must be found unchanged. */
const DOUBTS = 4;

/** The books of wallets in memory. */
export class VersionedBooks {
  readonly #kept = new KeptBooks<VersionedBook>();

  /** Whether memory may decide commands of these wallets: no other process seems to write them. */
  areKept(walletIds: Iterable<string>): boolean {
    for (const walletId of walletIds) {
      const book = this.#kept.get(walletId);
      if (!book?.isCurrent || book.doubts > 0) return false;
    }
    return true;
  }

  /** Returns the books of a batch when they have every row that its commands need; otherwise `undefined`. */
  open(commands: readonly Command[], nowMs: number): ReadonlyMap<string, VersionedBook> | undefined {
    const opened = new Map<string, VersionedBook>();
    for (const command of commands) {
      const { walletId } = command.request;
      const book = this.#kept.get(walletId);
      if (!book || !hasRowsFor(book, command, nowMs)) return undefined;
      opened.set(walletId, book);
    }
    return mayAnyFallShort(opened, commands, nowMs) ? undefined : opened;
  }

  /** Returns the book of a wallet as of its last batch. */
  get(walletId: string): VersionedBook | undefined {
    return this.#kept.get(walletId);
  }

  /** Adds rows that were read under the lock to the book in memory, or replaces it when it is of another version. */
  merge(walletId: string, locked: LockedBook): VersionedBook {
    const { loaded, bindings, kinds, version } = locked;
    const kept = this.#kept.get(walletId);
    if (kept?.isCurrent && kept.version === version) return addRows(kept, locked);
    const isContested = kept !== undefined && kept.version !== version;
    return Object.assign(createWorkingBook(loaded), {
      bindings: new Set(bindings),
      kinds: kinds && new Set(kinds),
      hasCredits: true,
      keptRows: 0,
      version: version ?? "",
      isCurrent: true,
      doubts: isContested ? DOUBTS : Math.max(0, (kept?.doubts ?? 0) - 1),
    });
  }

  /** Keeps the books of a committed batch, those that it changed under the version that it wrote. */
  keep(opened: ReadonlyMap<string, VersionedBook>, written: string): void {
    for (const book of opened.values()) if (hasChanges(book)) book.version = written;
    this.#kept.keep(opened);
  }
}

/** Must be called for the books of a batch that was not committed: its decisions are in them. */
export function spoil(opened: Iterable<VersionedBook>): void {
  for (const book of opened) book.isCurrent = false;
}

/** Whether a batch changed any row of a wallet. */
export function hasChanges({ writeSet }: WorkingBook): boolean {
  const { wallet, newHolds, changedHolds, transfers, counters, limits, boundHolds, openings } = writeSet;
  // Credits change with their wallet only.
  return (
    wallet !== undefined ||
    newHolds.size + changedHolds.size + counters.size + limits.size + boundHolds.size > 0 ||
    transfers.length + openings.length > 0
  );
}

/**
 * Whether a book has every row that a command needs. A hold's id counts as new when the book lacks it: the write
 * fails when it is not. Holds that are surely declined or repeated are left to the lock.
 */
export function hasRowsFor(book: VersionedBook, { kind, request }: Command, nowMs: number): boolean {
  switch (kind) {
    case "hold":
      return (
        book.wallet?.state === "active" &&
        !book.holds.has(request.holdId) &&
        hasLimitsOf(book, request) &&
        unreadWindowsOf(book, { spenders: [request], limits: [] }, nowMs).length === 0 &&
        limitsOf(book, request, nowMs).every(({ key }) => hasCounter(book, key))
      );
    case "extend":
    case "settle":
    case "release":
      return book.holds.get(request.holdId)?.limits.every((key) => hasCounter(book, key)) ?? false;
    default:
      return false;
  }
}

/** Whether the limits in force of what spends are in a book. No scope has a limit of a kind that the wallet lacks. */
export function hasLimitsOf({ bindings, kinds }: VersionedBook, { keyId, scopes }: Spender): boolean {
  if (!bindings.has(keyId)) return false;
  if (!scopes || scopes.length === 0) return true;
  // A limit of a key above is one of a key, and has no kind.
  const isUnlimited = ({ kind }: Scope) => kind !== "parent_key" && kinds?.has(kind) === false;
  return scopes.every((scope) => isUnlimited(scope) || bindings.has(bindingOfScope(scope)));
}

export function hasCounter({ counters }: WorkingBook, key: CounterKey): boolean {
  return counters.has(key);
}

function addRows(kept: VersionedBook, { loaded, bindings, kinds }: LockedBook): VersionedBook {
  kept.addHolds(loaded.holds.values());
  kept.addLimits(loaded.limits.values());
  for (const counter of loaded.counters) kept.counters.set(counter);
  for (const [name, transfer] of loaded.postings) kept.postings.set(name, transfer);
  for (const [name, spend] of loaded.spends) kept.spends.set(name, spend);
  for (const credit of loaded.credits) if (!kept.credits.get(credit.seq)) kept.credits.set(credit);
  kept.dueHoldIds = loaded.dueHoldIds;
  for (const [counterId, starts] of loaded.windowStarts) kept.windowStarts.set(counterId, starts);
  for (const binding of bindings) kept.bindings.add(binding);
  if (kinds) kept.kinds = new Set(kinds);
  if (kept.doubts > 0) kept.doubts -= 1;
  return kept;
}
