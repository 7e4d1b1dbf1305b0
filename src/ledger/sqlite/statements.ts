import type { Database } from "bun:sqlite";
import type { CounterRow, WalletRow } from "../queries/rows.ts";

/** Prepares a read whose integers come as bigint, as the row types say. */
export function prepareRead<Row, Parameters extends (string | number)[]>(client: Database, sql: string) {
  return client.query<Row, Parameters>(sql).safeIntegers(true);
}

export function prepareWalletRead(client: Database) {
  return prepareRead<WalletRow, [walletId: string]>(client, "SELECT * FROM wallets WHERE wallet_id = ?");
}

export function prepareCounterRead(client: Database) {
  return prepareRead<CounterRow, [walletId: string, limitId: string, periodStartMs: number]>(
    client,
    "SELECT used, held FROM limit_counters WHERE wallet_id = ? AND limit_id = ? AND period_start_ms = ?",
  );
}
