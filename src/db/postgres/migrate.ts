import type { SQL } from "bun";
import books from "./migrations/0000_books.sql" with { type: "text" };
import storage from "./migrations/0001_storage.sql" with { type: "text" };
import gateways from "./migrations/0002_gateways.sql" with { type: "text" };

/** Every migration in order; what drizzle-kit generates is listed here by hand, which a test checks. */
export const MIGRATIONS: readonly string[] = [books, storage, gateways];

/** Of the advisory lock under which the schema changes; any number that nobody else uses will do. */
const LOCK_ID = 8_655_424_553n;

/**
 * Brings a database up to date, once, also when several replicas start together: whichever gets the
 * lock first does it, in one transaction. Throws when the database was written by a newer program.
 */
export async function migrate(client: SQL): Promise<void> {
  if ((await appliedCount(client)) === MIGRATIONS.length) return;
  await underSchemaLock(client, async (locked) => {
    await locked.unsafe("CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL)");
    const applied = await appliedCount(locked);
    for (const migration of MIGRATIONS.slice(applied)) await locked.unsafe(migration).simple();
    await locked.unsafe("DELETE FROM schema_version");
    await locked.unsafe("INSERT INTO schema_version VALUES ($1)", [MIGRATIONS.length]);
  });
}

/** Runs schema changes in a transaction that no other replica's can be beside. */
export function underSchemaLock(client: SQL, change: (locked: SQL) => Promise<void>): Promise<void> {
  return client.begin(async (locked) => {
    await locked.unsafe("SELECT pg_advisory_xact_lock($1)", [LOCK_ID]);
    await change(locked);
  });
}

async function appliedCount(client: SQL): Promise<number> {
  const applied = await readSchemaVersion(client);
  if (applied > MIGRATIONS.length) {
    throw new Error(
      `Cannot open the database: it is at version ${applied}, this program knows ${MIGRATIONS.length}. Use a newer tollgate.`,
    );
  }
  return applied;
}

/** How many migrations a database has; 0 when it is empty. */
export async function readSchemaVersion(client: SQL): Promise<number> {
  const [found] = await client.unsafe("SELECT to_regclass('schema_version') IS NOT NULL AS has_version");
  if (!found.has_version) return 0;
  const [row] = await client.unsafe("SELECT version FROM schema_version");
  return Number(row?.version ?? 0);
}
