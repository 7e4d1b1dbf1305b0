import type { Wallet } from "../core/book.ts";
import { isId } from "../core/validate.ts";
import type { Batch } from "../engine/store.ts";
import { readWallet, type WalletRow } from "../queries/rows.ts";
import type { BatchMemory } from "./batch-memory.ts";
import { storeErrorOf } from "./faults.ts";
import { loadBooks } from "./load.ts";
import { encodeArray } from "./run-query.ts";
import type { Connection } from "./session.ts";
import { encodeWrites, type Write } from "./write.ts";

/** Locks the wallets of a batch, reads what it needs, decides it, and writes it: three round trips. */
export async function decideUnderLock(
  memory: BatchMemory,
  walletIds: ReadonlySet<string>,
  batch: Batch,
): Promise<void> {
  const { connection, books, now } = memory;
  const wallets = await lockWallets(connection, walletIds);
  // After the lock, so that commands that arrived during the wait share the transaction.
  const commands = batch.collect();
  const { nowMs, transactionId, fence, ...read } = await loadBooks(connection, { commands, wallets, now });
  memory.learn(fence, nowMs);
  const opened = new Map(
    Array.from(read.books, ([walletId, loaded]) => {
      const version = wallets.get(walletId)?.version;
      return [walletId, books.merge(walletId, { loaded, keyIds: read.keyIds.get(walletId) ?? [], version })];
    }),
  );
  batch.decide(opened, nowMs);
  await commit(connection, encodeWrites(opened, fence), transactionId);
  books.keep(opened, versionOf(transactionId));
}

/** A wallet as it was locked, with its version. */
type LockedWallet = Wallet & { readonly version: string };

/**
 * Begins a transaction and locks wallets in the order of their ids, so that two batches never deadlock. Must
 * not read other rows: a statement that waits for a lock sees them as of its start, before the commit that
 * ended the wait.
 */
async function lockWallets(
  { client }: Connection,
  walletIds: Iterable<string>,
): Promise<ReadonlyMap<string, LockedWallet>> {
  const possible = [...walletIds].filter(isId);
  const [, rows]: [unknown, (WalletRow & { readonly version: string })[]] = await Promise.all([
    client`BEGIN`.execute(),
    client.unsafe(LOCK, [encodeArray(possible)]).execute(),
  ]);
  return new Map(rows.map((row) => [row.wallet_id, { ...readWallet(row), version: row.version }]));
}

const LOCK = `SELECT wallet_id, posted, held, credit_limit, state, last_seq, created_at_ms, xmin::text AS version
  FROM wallets WHERE wallet_id = ANY($1::text[]) ORDER BY wallet_id FOR UPDATE`;

/** Sends the writes and COMMIT at once, in one round trip. When a write fails, COMMIT rolls back. */
async function commit(
  { client, server }: Connection,
  writes: readonly Write[],
  transactionId: string,
): Promise<void> {
  const end = writes.length > 0 ? client`COMMIT` : client`ROLLBACK`;
  try {
    const sent = writes.map(({ sql, values }) => client.unsafe(sql, values).execute());
    await Promise.all([...sent, end.execute()]);
  } catch (error) {
    throw storeErrorOf(error, { transaction: `${transactionId} ${server}` });
  }
}

/** Returns a transaction's number as `xmin` has it: without the epoch. */
function versionOf(transactionId: string): string {
  return String(BigInt(transactionId) & 0xffff_ffffn);
}
