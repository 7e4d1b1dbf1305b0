import type { Nanos } from "../../domain/money.ts";
import {
  type CounterKey,
  Counters,
  type Hold,
  type PeriodSpend,
  postingKey,
  type StoredLimit,
  spendKey,
  type Transfer,
  type Wallet,
} from "../core/book.ts";
import type { Command } from "../core/command.ts";
import { Credits } from "../core/credits.ts";
import { limitsOf } from "../core/headroom.ts";
import {
  countersOf,
  DUE_HOLDS_MAX,
  type ReadSet,
  readSetsOf,
  receiptsOf,
  unreadWindowsOf,
} from "../core/read-set.ts";
import { countedPeriodOf } from "../core/wallet.ts";
import type { WindowStarts } from "../core/window.ts";
import { createWorkingBook, type LoadedBook, type WorkingBook } from "../core/working-book.ts";
import { loadLiveCredits, loadNamedCredits } from "./load-credits.ts";
import { addWindows, bindingsIn, createLimitStatements, type LimitStatements } from "./load-limits.ts";
import { createLoadStatements, type LoadStatements } from "./load-statements.ts";
import type { Connection } from "./session.ts";
import { mayFallShort, spendingOf } from "./spending.ts";
import type { WriteFence } from "./write.ts";

/** The input of a batch's decisions. */
export interface LoadedBatch {
  readonly books: ReadonlyMap<string, LoadedBook>;
  /** The bindings whose limits in force are in the books, by wallet. */
  readonly bindings: ReadonlyMap<string, Iterable<string>>;
  /** The kinds of bindings, of wallets whose holds have scopes. */
  readonly kinds: ReadonlyMap<string, ReadonlySet<string>>;
  /** The database's clock, read after the lock: one clock orders the batches of all processes. */
  readonly nowMs: number;
  readonly transactionId: string;
  readonly fence: WriteFence;
}

export interface LoadRequest {
  readonly commands: readonly Command[];
  /** The wallets of the commands that exist. */
  readonly wallets: ReadonlyMap<string, Wallet>;
  /** A clock for tests. */
  readonly now: (() => number) | undefined;
}

/**
 * Reads the books of a batch. Must be called with the wallets locked, so that the rows read are current. Most
 * batches need one round trip; further rows are read only when the first ones show that they are needed.
 */
export async function loadBooks(connection: Connection, request: LoadRequest): Promise<LoadedBatch> {
  const { commands, wallets, now } = request;
  const readSets = readSetsOf(commands);
  const statements = createLoadStatements(connection);
  const ofLimits = createLimitStatements(connection);
  const books = new Map<string, GrowingBook>();
  for (const walletId of readSets.keys()) books.set(walletId, emptyBook(wallets.get(walletId)));

  const [opening, boundLimits, namedLimits, kinds, postings] = await Promise.all([
    statements.opening(holdIdsOf(readSets)),
    ofLimits.boundLimits(readSets),
    ofLimits.namedLimits(readSets),
    ofLimits.kinds(readSets),
    statements.postings(readSets),
    loadLiveCredits(connection, books, readSets),
  ]);
  const nowMs = now ? now() : opening.nowMs;
  addHolds(books, opening.holds);
  for (const { walletId, limit, counterId, newest } of boundLimits) {
    const book = books.get(walletId);
    book?.limits.set(limit.limitId, limit);
    if (counterId !== undefined)
      book?.newestPeriods.set(counterId, newest?.periodStartMs ?? Number.NEGATIVE_INFINITY);
    if (newest) book?.counters.set(newest);
  }
  for (const { walletId, limit } of namedLimits) books.get(walletId)?.limits.set(limit.limitId, limit);
  for (const { walletId, transfer } of postings) {
    books.get(walletId)?.postings.set(postingKey(transfer.kind, transfer.transferId), transfer);
  }
  await loadReceipts(statements, books);
  await loadNamedCredits(connection, books, readSets);
  await loadSpends(statements, { books, readSets, nowMs });
  await loadWindows(ofLimits, { books, readSets, nowMs });
  await loadCounters(ofLimits, { books, readSets, nowMs });
  await loadDue({ statements, ofLimits }, { books, readSets, commands, nowMs });
  return {
    books,
    bindings: new Map(Array.from(readSets, ([walletId, readSet]) => [walletId, bindingsIn(readSet)])),
    kinds,
    nowMs,
    transactionId: opening.transactionId,
    fence: opening.fence,
  };
}

type GrowingBook = LoadedBook & {
  readonly dueHoldIds: string[];
  /** Finds which limits bind, once all of them are loaded. Shares the rows. */
  readonly view: WorkingBook;
  /** By counter id, the start of the newest period that has a row; -Infinity when none has. */
  readonly newestPeriods: Map<string, number>;
};
type Books = ReadonlyMap<string, GrowingBook>;
type ReadSets = ReadonlyMap<string, ReadSet>;

/** Loads the receipts of charges that are replayed. */
async function loadReceipts(statements: LoadStatements, books: Books): Promise<void> {
  const ids = [...books].flatMap(([walletId, { postings }]) =>
    receiptsOf(postings.values()).map((holdId) => ({ walletId, holdId })),
  );
  addHolds(books, await statements.holds(ids));
}

/** Loads what the periods of limits to be set have seen, and the open holds that the limits will bind. */
async function loadSpends(
  statements: LoadStatements,
  { books, readSets, nowMs }: { books: Books; readSets: ReadSets; nowMs: number },
): Promise<void> {
  const limits = [...readSets.values()].flatMap((readSet) => readSet.limits);
  if (limits.length === 0) return;
  addHolds(books, await statements.openHolds(limits));
  const counted = limits.filter((limit) => countedPeriodOf(limit, nowMs) !== undefined);
  for (const { limit, spend } of await statements.spends(counted, nowMs)) {
    const key = countedPeriodOf(limit, nowMs);
    if (key) books.get(limit.walletId)?.spends.set(spendKey(key, limit), spend);
  }
}

/** Loads when the windows that may bind what spends begin. Mostly the newest period is the latest that has begun. */
async function loadWindows(
  statements: LimitStatements,
  { books, readSets, nowMs }: { books: Books; readSets: ReadSets; nowMs: number },
): Promise<void> {
  const unknown: { walletId: string; counterId: string }[] = [];
  for (const [walletId, book] of books) {
    const readSet = readSets.get(walletId);
    for (const counterId of readSet ? unreadWindowsOf(book.view, readSet, nowMs) : []) {
      const newestMs = book.newestPeriods.get(counterId) ?? Number.POSITIVE_INFINITY;
      const latestMs = newestMs <= nowMs && Number.isFinite(newestMs) ? newestMs : undefined;
      book.windowStarts.set(counterId, { latestMs, nextMs: undefined });
      if (newestMs > nowMs) unknown.push({ walletId, counterId });
    }
  }
  addWindows(books, await statements.windows(unknown, nowMs), nowMs);
}

const NO_READS = { spenders: [], limits: [] };

async function loadCounters(
  statements: LimitStatements,
  { books, readSets, nowMs }: { books: Books; readSets: ReadSets; nowMs: number },
): Promise<void> {
  const wanted = [...books].flatMap(([walletId, book]) =>
    addMissingCounters(book, readSets.get(walletId) ?? NO_READS, nowMs).map((key) => ({ walletId, ...key })),
  );
  for (const { walletId, counter } of await statements.counters(wanted)) {
    books.get(walletId)?.counters.set(counter);
  }
}

/** Loads the due holds of wallets whose headroom may be too small without expiring them. */
async function loadDue(
  { statements, ofLimits }: { statements: LoadStatements; ofLimits: LimitStatements },
  batch: { books: Books; readSets: ReadSets; commands: readonly Command[]; nowMs: number },
): Promise<void> {
  const { books, readSets, commands, nowMs } = batch;
  const spending = spendingOf(commands);
  const short = [...books].flatMap(([walletId, book]) =>
    mayFallShortOf(book, readSets.get(walletId), { spent: spending.get(walletId), nowMs }) ? [walletId] : [],
  );
  const due = await statements.due(short, nowMs, DUE_HOLDS_MAX);
  addHolds(books, due);
  for (const { walletId, hold } of due) books.get(walletId)?.dueHoldIds.push(hold.holdId);
  if (due.length > 0) await loadCounters(ofLimits, batch);
}

function mayFallShortOf(
  book: GrowingBook,
  readSet: ReadSet | undefined,
  { spent, nowMs }: { readonly spent: Nanos | undefined; readonly nowMs: number },
): boolean {
  if (!readSet || readSet.spenders.length === 0) return false;
  const bound = readSet.spenders.flatMap((spender) => limitsOf(book.view, spender, nowMs));
  return mayFallShort(book, bound, { spent, nowMs });
}

function emptyBook(wallet: Wallet | undefined): GrowingBook {
  const rows = {
    wallet,
    holds: new Map<string, Hold>(),
    limits: new Map<string, StoredLimit>(),
    counters: new Counters(),
    windowStarts: new Map<string, WindowStarts>(),
    postings: new Map<string, Transfer>(),
    spends: new Map<string, PeriodSpend>(),
    credits: new Credits(),
    dueHoldIds: [],
  };
  return { ...rows, view: createWorkingBook(rows), newestPeriods: new Map<string, number>() };
}

function holdIdsOf(readSets: ReadSets): readonly { walletId: string; holdId: string }[] {
  const ids: { walletId: string; holdId: string }[] = [];
  for (const [walletId, { holdIds }] of readSets)
    for (const holdId of holdIds) ids.push({ walletId, holdId });
  return ids;
}

function addHolds(books: Books, holds: Iterable<{ walletId: string; hold: Hold }>): void {
  for (const { walletId, hold } of holds) books.get(walletId)?.holds.set(hold.holdId, hold);
}

/**
 * Adds zeros for the counters that are not read yet. Returns the keys of those that may have a row: not of
 * periods after the newest one that has a counter.
 */
function addMissingCounters(
  book: GrowingBook,
  { spenders, limits }: Pick<ReadSet, "spenders" | "limits">,
  nowMs: number,
): readonly CounterKey[] {
  const { counters, newestPeriods } = book;
  const missing: CounterKey[] = [];
  for (const key of countersOf(book.view, { spenders, limits }, nowMs)) {
    if (counters.has(key)) continue;
    counters.set({ ...key, used: 0n, held: 0n });
    const newest = newestPeriods.get(key.counterId);
    if (newest === undefined || key.periodStartMs < newest) missing.push(key);
  }
  return missing;
}
