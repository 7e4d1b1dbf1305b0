import { isCalendar } from "../../domain/period.ts";
import type { Command } from "../core/command.ts";
import { limitsOf } from "../core/headroom.ts";
import { type ReadSet, unreadWindowsOf } from "../core/read-set.ts";
import { bindingsOf, type Spender } from "../core/spender.ts";
import { areScopes, isId } from "../core/validate.ts";
import { NO_WINDOWS } from "../core/window.ts";
import { hasCounter, hasLimitsOf, hasRowsFor, type VersionedBook, type VersionedBooks } from "./books.ts";
import { addWindows, createLimitStatements, type LimitStatements } from "./load-limits.ts";
import type { Connection } from "./session.ts";

/**
 * Reads what books in memory lack of the limits that bind holds, without a lock: mostly the counters of subjects that
 * are new to this process. Such a row belongs to its book while the wallet has the version of the book. A transaction
 * that changes a row of a wallet writes the wallet's row too, and a statement sees both changes or none. If the reading
 * saw a change, or one came after it, the batch's statement finds another version and fails.
 *
 * Returns whether anything was read. Reads nothing when the batch must be decided under the lock in any case.
 */
export async function completeBooks(
  connection: Connection,
  books: VersionedBooks,
  { commands, nowMs }: { readonly commands: readonly Command[]; readonly nowMs: number },
): Promise<boolean> {
  const lacking = findLacking(books, commands, nowMs);
  if (lacking.length === 0) return false;
  const statements = createLimitStatements(connection);
  await readLimits(
    statements,
    lacking.filter(({ book, spender }) => !hasLimitsOf(book, spender)),
    nowMs,
  );
  await readCounters(statements, lacking, nowMs);
  return true;
}

/** What a hold spends for, with the book that lacks rows of its limits. */
interface Lacking {
  readonly walletId: string;
  readonly book: VersionedBook;
  readonly spender: Spender;
}

function findLacking(books: VersionedBooks, commands: readonly Command[], nowMs: number): readonly Lacking[] {
  const lacking: Lacking[] = [];
  for (const command of commands) {
    const { walletId } = command.request;
    const book = books.get(walletId);
    if (!book) return [];
    if (hasRowsFor(book, command, nowMs)) continue;
    if (!isNewHold(book, command)) return [];
    lacking.push({ walletId, book, spender: command.request });
  }
  return lacking;
}

type HoldCommand = Extract<Command, { readonly kind: "hold" }>;

/** Whether a command is a hold that memory may decide once its limits are read. Invalid ids must not be read. */
function isNewHold(book: VersionedBook, command: Command): command is HoldCommand {
  if (command.kind !== "hold" || book.wallet?.state !== "active") return false;
  const { holdId, keyId, scopes = [] } = command.request;
  return !book.holds.has(holdId) && isId(keyId) && areScopes(scopes);
}

/** Reads the limits of what spends for the first time in this process, with their newest counters. */
async function readLimits(
  statements: LimitStatements,
  lacking: readonly Lacking[],
  nowMs: number,
): Promise<void> {
  const readSets = readSetsOf(lacking);
  const [limits, kinds] = await Promise.all([statements.boundLimits(readSets), statements.kinds(readSets)]);
  const books = new Map(lacking.map(({ walletId, book }) => [walletId, book]));
  for (const { walletId, limit, counterId, newest } of limits) {
    const book = books.get(walletId);
    if (!book) continue;
    if (!book.limits.has(limit.limitId)) book.addLimits([limit]);
    if (counterId === undefined) continue;
    if (newest) book.counters.set(newest);
    if (isCalendar(limit.period)) continue;
    const latestMs = newest?.periodStartMs;
    // Before a window that has not begun, there may be others: they are read with the counters.
    if (latestMs === undefined || latestMs <= nowMs)
      book.windowStarts.set(counterId, { latestMs, nextMs: undefined });
  }
  for (const { walletId, book, spender } of lacking) {
    for (const binding of bindingsOf(spender)) book.bindings.add(binding);
    const ofWallet = kinds.get(walletId);
    if (ofWallet) book.kinds ??= new Set(ofWallet);
  }
}

function readSetsOf(lacking: readonly Lacking[]): ReadonlyMap<string, ReadSet> {
  const byWallet = Map.groupBy(lacking, ({ walletId }) => walletId);
  return new Map(
    Array.from(byWallet, ([walletId, each]) => {
      const spenders = each.map(({ spender }) => spender);
      return [walletId, { ...NO_READS, spenders }];
    }),
  );
}

const NO_READS: ReadSet = {
  holdIds: new Set(),
  spenders: [],
  limitIds: new Set(),
  limits: [],
  postings: [],
  hasGrants: false,
  refundedIds: new Set(),
};

/** Reads counters by their periods, of windows whose period is not known those around now. Those without a row are 0. */
async function readCounters(
  statements: LimitStatements,
  lacking: readonly Lacking[],
  nowMs: number,
): Promise<void> {
  const unknown = lacking.flatMap((each) => unknownWindowsOf(each, nowMs));
  const absent = lacking.flatMap((each) => absentCountersOf(each, nowMs));
  const [windows, counters] = await Promise.all([
    statements.windows(unknown, nowMs),
    statements.counters(absent),
  ]);
  const books = new Map(lacking.map(({ walletId, book }) => [walletId, book]));
  for (const { walletId, counterId } of unknown) books.get(walletId)?.windowStarts.set(counterId, NO_WINDOWS);
  addWindows(books, windows, nowMs);
  for (const { walletId, counter } of counters) books.get(walletId)?.counters.set(counter);
  for (const each of lacking) {
    for (const { counterId, periodStartMs } of absentCountersOf(each, nowMs)) {
      each.book.counters.set({ counterId, periodStartMs, used: 0n, held: 0n });
    }
  }
}

/** Returns the counters that a hold counts against and its book lacks. */
function absentCountersOf({ walletId, book, spender }: Lacking, nowMs: number) {
  return limitsOf(book, spender, nowMs)
    .filter(({ key }) => !hasCounter(book, key))
    .map(({ key: { counterId, periodStartMs } }) => ({ walletId, counterId, periodStartMs }));
}

/** Returns the counters of windows of which the book does not have the starts around now. */
function unknownWindowsOf({ walletId, book, spender }: Lacking, nowMs: number) {
  const unread = unreadWindowsOf(book, { spenders: [spender], limits: [] }, nowMs);
  return unread.map((counterId) => ({ walletId, counterId }));
}
