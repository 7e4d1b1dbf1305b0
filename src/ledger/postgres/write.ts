import type { Wallet } from "../core/book.ts";
import type { WorkingBook } from "../core/working-book.ts";
import {
  endingValues,
  limitValues,
  requestValues,
  stateValues,
  transferValues,
  type Value,
} from "../queries/row-values.ts";
import { printRows } from "./array.ts";
import { STATEMENTS } from "./write-statements.ts";

/** A statement that writes, with its parameters. */
export interface Write {
  readonly sql: string;
  readonly values: Value[];
}

/** Rows of one statement at most: while the server writes them, the next ones are printed. */
const ROWS_MAX = 128;

/**
 * What a batch changed, as statements to be sent one behind the other, each printed when it is asked for;
 * none for a batch that changed nothing. New wallets come first: who creates the same one at the same time
 * waits there, and fails before anything else of it is written.
 */
export function* printWrites(books: ReadonlyMap<string, WorkingBook>): Generator<Write> {
  const rows = rowsOf(books);
  for (const kind of ORDER) {
    for (let start = 0; start < rows[kind].length; start += ROWS_MAX) {
      const some = rows[kind].slice(start, start + ROWS_MAX);
      yield { sql: STATEMENTS[kind], values: [printRows(some), some.length] };
    }
  }
}

const ORDER = [
  "newWallets",
  "wallets",
  "newHolds",
  "holds",
  "endings",
  "transfers",
  "counters",
  "limits",
] as const;

type Rows = Record<(typeof ORDER)[number], (readonly Value[])[]>;

function rowsOf(books: ReadonlyMap<string, WorkingBook>): Rows {
  const rows: Rows = {
    newWallets: [],
    wallets: [],
    newHolds: [],
    holds: [],
    endings: [],
    transfers: [],
    counters: [],
    limits: [],
  };
  for (const walletId of [...books.keys()].sort()) {
    const book = books.get(walletId);
    if (book) addRows(rows, walletId, book);
  }
  return rows;
}

function addRows(rows: Rows, walletId: string, { unwritten }: WorkingBook): void {
  const { wallet, createsWallet, newHolds, changedHolds, endings } = unwritten;
  if (wallet) (createsWallet ? rows.newWallets : rows.wallets).push(walletValues(wallet));
  for (const hold of newHolds.values()) {
    rows.newHolds.push([walletId, hold.holdId, ...stateValues(hold), ...requestValues(hold)]);
  }
  for (const hold of changedHolds.values()) {
    if (!endings.has(hold.holdId)) rows.holds.push([walletId, hold.holdId, ...stateValues(hold)]);
  }
  for (const [holdId, ending] of endings) {
    const hold = newHolds.get(holdId) ?? changedHolds.get(holdId);
    if (hold) rows.endings.push([walletId, holdId, ...stateValues(hold), ...endingValues(ending)]);
  }
  for (const transfer of unwritten.transfers) rows.transfers.push(transferValues(walletId, transfer));
  for (const { limitId, periodStartMs, used, held } of unwritten.counters.values()) {
    rows.counters.push([walletId, limitId, periodStartMs, used, held]);
  }
  for (const limit of unwritten.limits.values()) rows.limits.push(limitValues(limit));
}

function walletValues(wallet: Wallet): readonly Value[] {
  const { walletId, posted, held, creditLimit, state, lastSeq, createdAtMs } = wallet;
  return [walletId, posted, held, creditLimit, state, lastSeq, createdAtMs];
}
