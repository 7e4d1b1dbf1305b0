// The names of end users that were replaced of late, for holds that an outbox still describes by them.
import type { Database } from "../db/database.ts";
import { DAY_MS } from "../domain/id-time.ts";
import { CLOCK_SKEW_MAX_MS } from "./core/book.ts";
import type { Forgetting, Row, Transaction } from "./end-user-counters.ts";

/** A lost hold is booked within a day of its request. The rest is for clocks that differ. */
const KEPT_MS = 2 * DAY_MS;

/** Remembers in a transaction which pseudonym replaced a name. The name itself is not kept. */
export async function rememberForgotten(
  { all }: Transaction,
  { walletId, endUser, pseudonym }: Forgetting,
  nowMs: number,
): Promise<void> {
  await all(
    `INSERT INTO forgotten_names (wallet_id, digest, pseudonym, forgotten_at_ms) VALUES ($1, $2, $3, $4)
      ON CONFLICT (wallet_id, digest) DO UPDATE
      SET pseudonym = excluded.pseudonym, forgotten_at_ms = excluded.forgotten_at_ms`,
    walletId,
    digestOf(walletId, endUser),
    pseudonym,
    BigInt(nowMs),
  );
}

/** Deletes names that no outbox can bring back any more. */
export async function sweepForgotten(database: Database, nowMs: number): Promise<void> {
  await query(database, "DELETE FROM forgotten_names WHERE forgotten_at_ms < $1", nowMs - KEPT_MS);
}

/** Returns the pseudonym that replaced a name after a request was made; `undefined` for a name in use. */
export async function pseudonymOf(
  database: Database,
  { walletId, endUser }: Pick<Forgetting, "walletId" | "endUser">,
  madeAtMs: number,
): Promise<string | undefined> {
  const sql =
    "SELECT pseudonym FROM forgotten_names WHERE wallet_id = $1 AND digest = $2 AND forgotten_at_ms >= $3";
  const sinceMs = madeAtMs - CLOCK_SKEW_MAX_MS;
  const [row] = await query(database, sql, walletId, digestOf(walletId, endUser), sinceMs);
  return row && String(row.pseudonym);
}

/** Runs a statement by itself. */
async function query(
  database: Database,
  sql: string,
  ...values: readonly (string | number)[]
): Promise<readonly Row[]> {
  if (database.dialect === "postgres") return database.postgres.client.unsafe(sql, [...values]);
  return database.sqlite.client.query<Row, (string | number)[]>(sql).all(...values);
}

function digestOf(walletId: string, endUser: string): string {
  return Bun.CryptoHasher.hash("sha256", `${walletId}\n${endUser}`, "hex");
}
