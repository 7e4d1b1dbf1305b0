import { firstIdOf } from "../../domain/id-time.ts";
import { counterKey, type Wallet } from "../core/book.ts";
import type { WorkingBook } from "../core/working-book.ts";
import { staleHoursOf, unchargedEndsOf } from "../engine/store.ts";
import {
  creditValues,
  limitValues,
  requestValues,
  resolutionValues,
  stateValues,
  transferValues,
  type Value,
} from "../queries/rows.ts";
import { hasChanges, type VersionedBook } from "./books.ts";
import { encodeArray, encodeRows } from "./run-query.ts";
import { checkedStatementOf, type RowKind, writeStatementOf } from "./write-statements.ts";

/** A writing statement with its parameters. */
export interface Write {
  readonly sql: string;
  readonly values: Value[];
}

/** What the one row of `usage_fence` asks of a batch. */
export interface WriteFence {
  /** Changes to receipts of earlier hours make the hour stale. */
  readonly fenceMs: number;
  /** Whether receipts that end without a transfer are recorded for exports. */
  readonly recordsEnds: boolean;
}

/**
 * Returns the statements that write a batch, to be sent in order; none for a batch without changes. All but
 * three kinds of rows share a statement. New wallets come first: a session that creates the same wallet at once
 * waits there, and fails before it writes anything else. Resolutions of new holds come last, because a
 * statement cannot update a row that it inserts; so do holds that a new limit binds, because a statement updates
 * a row once.
 */
export function encodeWrites(books: ReadonlyMap<string, WorkingBook>, fence: WriteFence): readonly Write[] {
  const { first, rows, last } = rowsOf(books, fence);
  return [first, rows, last].flatMap((each) => encodeWrite(each));
}

/**
 * Returns the one statement of a batch that was decided from memory, which changes every wallet. It fails when a
 * wallet has another version, the fence was moved, or the clock is off; `nowMs` of null fits every clock.
 */
export function encodeCheckedWrite(
  books: ReadonlyMap<string, VersionedBook>,
  { fence, nowMs }: { readonly fence: WriteFence; readonly nowMs: number | null },
): Write {
  const { rows } = rowsOf(books, fence);
  const versions = rows.wallets.map(([walletId]) => books.get(String(walletId))?.version ?? "");
  const kinds = kindsOf(rows);
  const assumed = [encodeArray(versions), fence.fenceMs, fence.recordsEnds ? 1 : 0, nowMs];
  return { sql: checkedStatementOf(kinds), values: [...valuesOf(rows, kinds), ...assumed] };
}

function rowsOf(books: ReadonlyMap<string, WorkingBook>, { fenceMs, recordsEnds }: WriteFence): Statements {
  const first = createRows();
  const rows = createRows();
  const last = createRows();
  for (const walletId of [...books.keys()].sort()) {
    const book = books.get(walletId);
    if (book) addRows({ first, rows, last }, walletId, book);
  }
  for (const { walletId, startMs } of staleHoursOf(books, firstIdOf(fenceMs))) {
    rows.staleHours.push([walletId, startMs, 1]);
  }
  if (recordsEnds) {
    for (const { walletId, holdId } of unchargedEndsOf(books)) rows.unchargedEnds.push([walletId, holdId]);
  }
  return { first, rows, last };
}

function encodeWrite(rows: Rows): readonly Write[] {
  const kinds = kindsOf(rows);
  return kinds.length === 0 ? [] : [{ sql: writeStatementOf(kinds), values: valuesOf(rows, kinds) }];
}

function kindsOf(rows: Rows): readonly RowKind[] {
  return KINDS.filter((kind) => rows[kind].length > 0);
}

function valuesOf(rows: Rows, kinds: readonly RowKind[]): Value[] {
  const count = kinds.reduce((sum, kind) => sum + rows[kind].length, 0);
  return [...kinds.map((kind) => encodeRows(rows[kind])), count];
}

const KINDS = [
  "newWallets",
  "wallets",
  "newHolds",
  "holds",
  "resolutions",
  "transfers",
  "counters",
  "credits",
  "limits",
  "staleHours",
  "unchargedEnds",
  "boundHolds",
  "openings",
] as const satisfies readonly RowKind[];

type Rows = Record<RowKind, (readonly Value[])[]>;

function createRows(): Rows {
  return {
    newWallets: [],
    wallets: [],
    newHolds: [],
    holds: [],
    resolutions: [],
    transfers: [],
    counters: [],
    credits: [],
    limits: [],
    staleHours: [],
    unchargedEnds: [],
    boundHolds: [],
    openings: [],
  };
}

interface Statements {
  readonly first: Rows;
  readonly rows: Rows;
  readonly last: Rows;
}

function addRows({ first, rows, last }: Statements, walletId: string, book: WorkingBook): void {
  const { writeSet, wallet } = book;
  const { createsWallet, newHolds, changedHolds, resolutions } = writeSet;
  // Also when the row itself did not change: it is the version of all rows of the wallet.
  if (wallet && hasChanges(book))
    (createsWallet ? first.newWallets : rows.wallets).push(walletValues(wallet));
  for (const hold of newHolds.values()) {
    rows.newHolds.push([walletId, hold.holdId, ...stateValues(hold), ...requestValues(hold)]);
  }
  for (const hold of changedHolds.values()) {
    if (!resolutions.has(hold.holdId)) rows.holds.push([walletId, hold.holdId, ...stateValues(hold)]);
  }
  for (const [holdId, resolution] of resolutions) {
    const hold = newHolds.get(holdId) ?? changedHolds.get(holdId);
    if (!hold) continue;
    const values = [walletId, holdId, ...stateValues(hold), ...resolutionValues(resolution)];
    (newHolds.has(holdId) ? last : rows).resolutions.push(values);
  }
  for (const transfer of writeSet.transfers) rows.transfers.push(transferValues(walletId, transfer));
  for (const { counterId, periodStartMs, used, held } of writeSet.counters) {
    rows.counters.push([walletId, counterId, periodStartMs, used, held]);
  }
  for (const credit of writeSet.credits.values()) rows.credits.push(creditValues(walletId, credit));
  for (const limit of writeSet.limits.values()) rows.limits.push(limitValues(limit));
  for (const hold of writeSet.boundHolds.values()) {
    last.boundHolds.push([walletId, hold.holdId, ...stateValues(hold), ...requestValues(hold)]);
  }
  addOpenings(last, walletId, writeSet);
}

/** Adds up openings of one counter: a statement writes a row once. */
function addOpenings(rows: Rows, walletId: string, { openings }: WorkingBook["writeSet"]): void {
  for (const [, each] of Map.groupBy(openings, counterKey)) {
    const used = each.reduce((sum, opening) => sum + opening.used, 0n);
    for (const { counterId, periodStartMs } of each.slice(0, 1)) {
      rows.openings.push([walletId, counterId, periodStartMs, used, 0n]);
    }
  }
}

function walletValues(wallet: Wallet): readonly Value[] {
  const { posted, held, creditLimit, lastSeq, newestCredit, newestHoldMs, createdAtMs } = wallet;
  const balance = [wallet.walletId, posted, held, creditLimit, wallet.state, lastSeq];
  return [...balance, newestCredit, wallet.isMixed, newestHoldMs, createdAtMs];
}
