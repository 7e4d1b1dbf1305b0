import { Database as SqliteFile } from "bun:sqlite";
import { join } from "node:path";
import type { SQL } from "bun";
import type { DatabaseLocation } from "../../src/db/location.ts";
import { readPostgresUrl } from "../../src/db/postgres/connection.ts";
import { MIGRATIONS as POSTGRES_MIGRATIONS } from "../../src/db/postgres/migrate.ts";
import { ensurePartitions } from "../../src/db/postgres/partitions.ts";
import { MIGRATIONS as SQLITE_MIGRATIONS } from "../../src/db/sqlite/database.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { createEmptyDatabase } from "../support/test-database.ts";
import type { UpgradeFixture } from "./fixtures.ts";

interface OldDatabase {
  readonly location: DatabaseLocation;
  drop(): Promise<void>;
}

/** Builds the database that the program of a fixture left behind. */
export async function buildOld({ dialect, migrations, sql, facts }: UpgradeFixture): Promise<OldDatabase> {
  if (dialect === "sqlite") {
    const path = join(tempFolder(), "tollgate.db");
    const client = new SqliteFile(path, { create: true });
    client.run("PRAGMA journal_mode = WAL");
    for (const migration of SQLITE_MIGRATIONS.slice(0, migrations)) client.run(migration);
    for (const table of ["usage_cursor", "usage_fence"]) emptyIfThere(client, table);
    client.run(sql);
    client.run(`PRAGMA user_version = ${migrations}`);
    client.close();
    return { location: { dialect, path } as const, drop: async () => undefined };
  }
  const { url, drop } = await createEmptyDatabase();
  const client = readPostgresUrl(url)({ max: 1 });
  await migrateTo(client, migrations, facts.wroteAtMs);
  if (migrations >= USAGE_SINCE)
    await client.unsafe("DELETE FROM usage_cursor; DELETE FROM usage_fence").simple();
  await client.unsafe(sql).simple();
  await client.close();
  return { location: { dialect, url } as const, drop };
}

/** The migration of PostgreSQL that made the cursor of roll-ups, with its row. */
const USAGE_SINCE = 5;

function emptyIfThere(client: SqliteFile, table: string): void {
  const isThere = client.query("SELECT 1 FROM sqlite_schema WHERE name = ?").get(table);
  if (isThere) client.run(`DELETE FROM ${table}`);
}

/** Gives an empty database of PostgreSQL the schema of an older program, with the partitions of its time. */
export async function migrateTo(client: SQL, migrations: number, atMs: number): Promise<void> {
  for (const migration of POSTGRES_MIGRATIONS.slice(0, migrations)) await client.unsafe(migration).simple();
  await ensurePartitions(client, atMs);
  await client.unsafe("CREATE TABLE schema_version (version integer NOT NULL)");
  await client.unsafe("INSERT INTO schema_version VALUES ($1)", [migrations]);
}
