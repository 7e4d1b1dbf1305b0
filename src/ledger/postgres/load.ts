import {
  type Counter,
  counterKey,
  type Hold,
  type KeptLimit,
  type LimitPeriodKey,
  postingKey,
  type Transfer,
  type Wallet,
} from "../core/book.ts";
import type { Command } from "../core/command.ts";
import { countersNeeded, type Needs, needsOf, receiptsNamed } from "../core/read-set.ts";
import { createWorkingBook, type LoadedBook, type WorkingBook } from "../core/working-book.ts";
import { type BookReads, createBookReads } from "./load-statements.ts";
import type { Connection } from "./session.ts";
import { mayFallShort, spendingOf } from "./shortage.ts";

/** What a batch decides on. */
export interface Loaded {
  readonly books: ReadonlyMap<string, WorkingBook>;
  /** The database's clock after the lock was taken, so that one clock orders what several processes do. */
  readonly nowMs: number;
  /** The transaction's own id. */
  readonly transactionId: string;
}

export interface LoadRequest {
  readonly commands: readonly Command[];
  /** Those of the commands, as far as they exist. */
  readonly wallets: ReadonlyMap<string, Wallet>;
  /** A clock of tests. */
  readonly now: (() => number) | undefined;
}

/** Due holds that one transaction looks at; the sweeper gets to the rest. */
const DUE_MAX = 500;

/**
 * Reads the books that a batch needs, of wallets that are locked: what it reads is what is so now. Most
 * batches need one round trip; the rest is asked for when the first answers show that it matters.
 */
export async function loadBooks(connection: Connection, request: LoadRequest): Promise<Loaded> {
  const { commands, wallets, now } = request;
  const needs = needsOf(commands);
  const reads = createBookReads(connection);
  const books = new Map<string, GrowingBook>();
  for (const walletId of needs.keys()) books.set(walletId, emptyBook(wallets.get(walletId)));

  const [moment, limits, holds, postings] = await Promise.all([
    reads.moment(),
    reads.limits(needs),
    reads.holds(idsOf(needs)),
    reads.postings(needs),
  ]);
  const nowMs = now ? now() : moment.nowMs;
  for (const { walletId, limit } of limits) books.get(walletId)?.limits.set(limit.limitId, limit);
  keepHolds(books, holds);
  for (const { walletId, transfer } of postings) {
    books.get(walletId)?.postings.set(postingKey(transfer.kind, transfer.transferId), transfer);
  }
  await loadReceipts(reads, books);
  await loadCounters(reads, { books, needs, nowMs });
  await loadDue(reads, { books, needs, commands, nowMs });
  return {
    books: new Map([...books].map(([walletId, book]) => [walletId, createWorkingBook(book)])),
    nowMs,
    transactionId: moment.transactionId,
  };
}

type GrowingBook = LoadedBook & { readonly dueHoldIds: string[] };
type Books = ReadonlyMap<string, GrowingBook>;
type NeedsByWallet = ReadonlyMap<string, Needs>;

/** The receipts of charges that are repeated. */
async function loadReceipts(reads: BookReads, books: Books): Promise<void> {
  const ids = [...books].flatMap(([walletId, { postings }]) =>
    receiptsNamed(postings.values()).map((holdId) => ({ walletId, holdId })),
  );
  keepHolds(books, await reads.holds(ids));
}

async function loadCounters(
  reads: BookReads,
  { books, needs, nowMs }: { books: Books; needs: NeedsByWallet; nowMs: number },
): Promise<void> {
  const wanted = [...books].flatMap(([walletId, book]) =>
    missingCounters(book, needs.get(walletId), nowMs).map((key) => ({ walletId, ...key })),
  );
  for (const { walletId, counter } of await reads.counters(wanted)) {
    books.get(walletId)?.counters.set(counterKey(counter), counter);
  }
}

/** The due holds of wallets where that could make room that is needed. */
async function loadDue(
  reads: BookReads,
  at: { books: Books; needs: NeedsByWallet; commands: readonly Command[]; nowMs: number },
): Promise<void> {
  const { books, needs, commands, nowMs } = at;
  const spending = spendingOf(commands);
  const short = [...books].flatMap(([walletId, book]) =>
    needs.get(walletId)?.keyIds.size && mayFallShort(book, spending.get(walletId), nowMs) ? [walletId] : [],
  );
  const due = await reads.due(short, nowMs, DUE_MAX);
  keepHolds(books, due);
  for (const { walletId, hold } of due) books.get(walletId)?.dueHoldIds.push(hold.holdId);
  if (due.length > 0) await loadCounters(reads, at);
}

function emptyBook(wallet: Wallet | undefined): GrowingBook {
  return {
    wallet,
    holds: new Map<string, Hold>(),
    limits: new Map<string, KeptLimit>(),
    counters: new Map<string, Counter>(),
    postings: new Map<string, Transfer>(),
    dueHoldIds: [],
  };
}

function idsOf(needs: NeedsByWallet): readonly { walletId: string; holdId: string }[] {
  const ids: { walletId: string; holdId: string }[] = [];
  for (const [walletId, { holdIds }] of needs) for (const holdId of holdIds) ids.push({ walletId, holdId });
  return ids;
}

function keepHolds(books: Books, holds: Iterable<{ walletId: string; hold: Hold }>): void {
  for (const { walletId, hold } of holds) books.get(walletId)?.holds.set(hold.holdId, hold);
}

/** Names the counters that can be touched and are not read yet, and puts zeros for them: that is what no row means. */
function missingCounters(
  { limits, holds, counters }: GrowingBook,
  needs: Needs | undefined,
  nowMs: number,
): readonly LimitPeriodKey[] {
  const missing: LimitPeriodKey[] = [];
  for (const key of countersNeeded([...limits.values(), ...(needs?.limits ?? [])], holds.values(), nowMs)) {
    if (counters.has(counterKey(key))) continue;
    counters.set(counterKey(key), { ...key, used: 0n, held: 0n });
    missing.push(key);
  }
  return missing;
}
