import { Database, SQLiteError } from "bun:sqlite";
import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import books from "./migrations/0000_books.sql" with { type: "text" };
import appendOnly from "./migrations/0001_append-only.sql" with { type: "text" };
import chargesAndZones from "./migrations/0002_charges-and-zones.sql" with { type: "text" };
import inOrderOfTime from "./migrations/0003_in-order-of-time.sql" with { type: "text" };
import gateways from "./migrations/0004_gateways.sql" with { type: "text" };
import * as schema from "./schema.ts";

/** How long a write outside the ledger waits for another process; the ledger's own connection never waits. */
const BUSY_MS = 2_000;

/** A SQLite file with the current schema. `client` and `db` are one connection. */
export interface SqliteDatabase {
  readonly path: string;
  readonly client: Database;
  readonly db: BunSQLiteDatabase<typeof schema>;
  close(): void;
}

/**
 * Opens or creates a database and brings it up to date; safe in several processes at once. What it
 * creates only this user may read. Throws when the file cannot be used or is newer than this program.
 */
export function openDatabase(path: string): SqliteDatabase {
  createPrivately(path);
  const client = connect(path, BUSY_MS);
  try {
    useLog(client);
    migrate(client);
  } catch (error) {
    client.close();
    throw error;
  }
  return { path, client, db: drizzle(client, { schema }), close: () => client.close() };
}

/** Another connection to a database that is there. With `busyMs` 0 a locked database throws at once. */
export function connect(path: string, busyMs: number): Database {
  const client = new Database(path, { readwrite: true, strict: true });
  client.run(`PRAGMA busy_timeout = ${busyMs}`);
  client.run("PRAGMA synchronous = FULL");
  client.run("PRAGMA foreign_keys = OFF");
  return client;
}

/**
 * Two processes that open a new file at once can stand in each other's way here, which SQLite refuses at
 * once instead of waiting: neither would ever go first.
 */
function useLog(client: Database): void {
  const deadline = performance.now() + BUSY_MS;
  for (;;) {
    try {
      client.run("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      const isBusy = error instanceof SQLiteError && error.code?.startsWith("SQLITE_BUSY");
      if (!isBusy || performance.now() > deadline) throw error;
      Bun.sleepSync(1 + Math.random() * 10);
    }
  }
}

function createPrivately(path: string): void {
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, "a", 0o600));
}

/** Every migration in order; what drizzle-kit generates is listed here by hand, which a test checks. */
export const MIGRATIONS: readonly string[] = [books, appendOnly, chargesAndZones, inOrderOfTime, gateways];

/**
 * Brings a database up to date, once, also when several processes start together. Throws when the
 * database was written by a newer program. Drizzle's own migrator reads what was applied before it
 * takes the lock, so two starts would both apply; here `user_version` counts under the lock.
 */
export function migrate(client: Database): void {
  if (appliedCount(client) === MIGRATIONS.length) return;
  client
    .transaction(() => {
      for (const migration of MIGRATIONS.slice(appliedCount(client))) client.run(migration);
      client.run(`PRAGMA user_version = ${MIGRATIONS.length}`);
    })
    .immediate();
}

function appliedCount(client: Database): number {
  const applied = Number(client.query("PRAGMA user_version").values()[0]?.[0]);
  if (applied > MIGRATIONS.length) {
    throw new Error(
      `Cannot open the database: it is at version ${applied}, this program knows ${MIGRATIONS.length}. Use a newer tollgate.`,
    );
  }
  return applied;
}
