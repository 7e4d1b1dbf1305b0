import type { SQL } from "bun";
import books from "./migrations/0000_books.sql" with { type: "text" };
import storage from "./migrations/0001_storage.sql" with { type: "text" };
import gateways from "./migrations/0002_gateways.sql" with { type: "text" };
import consoleTables from "./migrations/0003_console.sql" with { type: "text" };
import usage from "./migrations/0004_usage.sql" with { type: "text" };
import transfers from "./migrations/0005_transfers.sql" with { type: "text" };
import noticePauses from "./migrations/0006_notice_pauses.sql" with { type: "text" };
import totals from "./migrations/0007_totals.sql" with { type: "text" };
import retention from "./migrations/0008_retention.sql" with { type: "text" };
import usageExports from "./migrations/0009_exports.sql" with { type: "text" };
import instance from "./migrations/0010_instance.sql" with { type: "text" };
import upstreamCost from "./migrations/0011_upstream_cost.sql" with { type: "text" };
import units from "./migrations/0012_units.sql" with { type: "text" };

/**
 * Every migration in order. Generated migrations are added by hand; a test compares this list with the
 * folder.
 */
export const MIGRATIONS: readonly string[] = [
  books,
  storage,
  gateways,
  consoleTables,
  usage,
  transfers,
  noticePauses,
  totals,
  retention,
  usageExports,
  instance,
  upstreamCost,
  units,
];

/** The id of the advisory lock of schema changes: an arbitrary number. */
const LOCK_ID = 8_655_424_553n;

/**
 * Migrates the database in one transaction. When several replicas start together, the first to get the lock
 * migrates. Throws when a newer program migrated the database.
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

/** Runs schema changes in a transaction, one replica at a time. */
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

/** Returns the number of applied migrations; 0 for an empty database. */
export async function readSchemaVersion(client: SQL): Promise<number> {
  const [found] = await client.unsafe("SELECT to_regclass('schema_version') IS NOT NULL AS has_version");
  if (!found.has_version) return 0;
  const [row] = await client.unsafe("SELECT version FROM schema_version");
  return Number(row?.version ?? 0);
}
