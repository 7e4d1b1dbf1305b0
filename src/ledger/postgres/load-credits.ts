import { postingKey, TRANSFER_KINDS, type Transfer } from "../core/book.ts";
import type { ReadSet } from "../core/read-set.ts";
import type { LoadedBook } from "../core/working-book.ts";
import {
  CREDIT_COLUMNS,
  type CreditRow,
  readCredit,
  readTransfer,
  type TransferRow,
} from "../queries/rows.ts";
import { TRANSFER_COLUMNS, type WalletOwned } from "./load-statements.ts";
import { createBatchReads, encodeArray } from "./run-query.ts";
import type { Connection } from "./session.ts";

type Books = ReadonlyMap<string, LoadedBook>;
type ReadSets = ReadonlyMap<string, ReadSet>;

/**
 * Reads the credits with something left of mixed wallets, and of wallets that money comes into. Sends nothing to the
 * server for wallets with one credit that only spend.
 */
export async function loadLiveCredits(
  connection: Connection,
  books: Books,
  readSets: ReadSets,
): Promise<void> {
  const { run, runForRows } = createBatchReads(connection.client);
  const wallets = [...books].filter(([id, { wallet }]) => wallet?.isMixed || readSets.get(id)?.hasGrants);
  if (wallets.length === 0) return;
  const refunds = [...readSets].flatMap(([walletId, { refundedIds }]) =>
    Array.from(refundedIds, (holdId) => [walletId, holdId]),
  );
  const [live, captures] = await Promise.all([
    run<CreditRow>(LIVE, [encodeArray(wallets.map(([walletId]) => walletId))]),
    runForRows<TransferRow & WalletOwned>(CAPTURES, refunds),
  ]);
  addCredits(books, live);
  for (const row of captures) {
    const transfer = readTransfer(row);
    books.get(row.wallet_id)?.postings.set(postingKey(transfer.kind, transfer.transferId), transfer);
  }
}

/** Reads the further credits of wallets that money comes into. Needs their postings and captures. */
export async function loadNamedCredits(
  connection: Connection,
  books: Books,
  readSets: ReadSets,
): Promise<void> {
  const { runForRows } = createBatchReads(connection.client);
  const named = [...books].flatMap(([walletId, book]) =>
    readSets.get(walletId)?.hasGrants ? namedBy(book).map((seq) => [walletId, seq]) : [],
  );
  addCredits(books, await runForRows<CreditRow>(NAMED, named));
}

/**
 * Returns numbers of which each stands for the newest credit up to it: the wallet's newest, those of repeated top-ups,
 * and those that captures were taken from.
 */
function namedBy({ wallet, postings }: LoadedBook): readonly number[] {
  const named = new Set<number>([wallet?.newestCredit ?? 0]);
  for (const transfer of postings.values()) for (const seq of creditsOf(transfer)) named.add(seq);
  return [...named];
}

function creditsOf({ kind, seq, credits }: Transfer): readonly number[] {
  if (kind === TRANSFER_KINDS.topUp) return [seq];
  return credits ? credits.map(([credit]) => credit) : [seq - 1];
}

function addCredits(books: Books, rows: readonly CreditRow[]): void {
  for (const row of rows) books.get(row.wallet_id)?.credits.set(readCredit(row));
}

const LIVE = `SELECT ${CREDIT_COLUMNS} FROM credits c WHERE c.wallet_id = ANY($1::text[]) AND c.live`;

const NAMED = `SELECT ${CREDIT_COLUMNS} FROM unnest($1::text[], $2::bigint[]) AS k (wallet_id, seq)
  JOIN LATERAL (SELECT * FROM credits WHERE wallet_id = k.wallet_id AND seq <= k.seq
    ORDER BY seq DESC LIMIT 1) AS c ON true`;

const CAPTURES = `SELECT ${TRANSFER_COLUMNS} FROM unnest($1::text[], $2::text[]) AS k (wallet_id, hold_id)
    JOIN transfers t ON t.wallet_id = k.wallet_id AND t.transfer_id = k.hold_id AND t.kind IN (2, 3, 4)
  UNION ALL SELECT ${TRANSFER_COLUMNS} FROM unnest($1::text[], $2::text[]) AS k (wallet_id, hold_id)
    JOIN transfers t ON t.wallet_id = k.wallet_id AND t.hold_id = k.hold_id::uuid AND t.kind = 6`;
