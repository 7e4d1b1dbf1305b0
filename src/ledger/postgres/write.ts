import type { Wallet } from "../core/book.ts";
import type { WorkingBook } from "../core/working-book.ts";
import {
  limitValues,
  requestValues,
  resolutionValues,
  stateValues,
  transferValues,
  type Value,
} from "../queries/rows.ts";
import { encodeRows } from "./array.ts";
import { STATEMENTS } from "./write-statements.ts";

/** A writing statement with its parameters. */
export interface Write {
  readonly sql: string;
  readonly values: Value[];
}

/** The most rows of one statement. While the server writes them, the next statement is encoded. */
const ROWS_MAX = 128;

/**
 * Yields the statements that write a batch, to be sent in order; each is encoded when it is requested. None
 * for a batch without changes. New wallets come first: a session that creates the same wallet at once waits
 * there, and fails before it writes anything else.
 */
export function* encodeWrites(books: ReadonlyMap<string, WorkingBook>): Generator<Write> {
  const rows = rowsOf(books);
  for (const kind of ORDER) {
    for (let start = 0; start < rows[kind].length; start += ROWS_MAX) {
      const some = rows[kind].slice(start, start + ROWS_MAX);
      yield { sql: STATEMENTS[kind], values: [encodeRows(some), some.length] };
    }
  }
}

const ORDER = [
  "newWallets",
  "wallets",
  "newHolds",
  "holds",
  "resolutions",
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
    resolutions: [],
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

function addRows(rows: Rows, walletId: string, { writeSet }: WorkingBook): void {
  const { wallet, createsWallet, newHolds, changedHolds, resolutions } = writeSet;
  if (wallet) (createsWallet ? rows.newWallets : rows.wallets).push(walletValues(wallet));
  for (const hold of newHolds.values()) {
    rows.newHolds.push([walletId, hold.holdId, ...stateValues(hold), ...requestValues(hold)]);
  }
  for (const hold of changedHolds.values()) {
    if (!resolutions.has(hold.holdId)) rows.holds.push([walletId, hold.holdId, ...stateValues(hold)]);
  }
  for (const [holdId, resolution] of resolutions) {
    const hold = newHolds.get(holdId) ?? changedHolds.get(holdId);
    if (hold)
      rows.resolutions.push([walletId, holdId, ...stateValues(hold), ...resolutionValues(resolution)]);
  }
  for (const transfer of writeSet.transfers) rows.transfers.push(transferValues(walletId, transfer));
  for (const { limitId, periodStartMs, used, held } of writeSet.counters.values()) {
    rows.counters.push([walletId, limitId, periodStartMs, used, held]);
  }
  for (const limit of writeSet.limits.values()) rows.limits.push(limitValues(limit));
}

function walletValues(wallet: Wallet): readonly Value[] {
  const { walletId, posted, held, creditLimit, state, lastSeq, createdAtMs } = wallet;
  return [walletId, posted, held, creditLimit, state, lastSeq, createdAtMs];
}
