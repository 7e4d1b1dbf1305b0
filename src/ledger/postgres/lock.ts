import type { Wallet } from "../core/book.ts";
import { isId } from "../core/validate.ts";
import { readWallet, type WalletRow } from "../queries/rows.ts";
import { printArray } from "./array.ts";
import type { Connection } from "./session.ts";

/**
 * Begins a transaction and locks wallets, in the order of their ids, so that two batches never wait for
 * each other. It reads nothing else: what a statement reads beside the row it waits for is as old as the
 * statement, and somebody else's commit ended the wait.
 */
export async function lockWallets(
  { client }: Connection,
  walletIds: Iterable<string>,
): Promise<ReadonlyMap<string, Wallet>> {
  const possible = [...walletIds].filter(isId);
  const [, rows]: [unknown, WalletRow[]] = await Promise.all([
    client`BEGIN`.execute(),
    client.unsafe(LOCK, [printArray(possible)]).execute(),
  ]);
  return new Map(rows.map((row) => [row.wallet_id, readWallet(row)]));
}

const LOCK = `SELECT wallet_id, posted, held, credit_limit, state, last_seq, created_at_ms FROM wallets
  WHERE wallet_id = ANY($1::text[]) ORDER BY wallet_id FOR UPDATE`;
