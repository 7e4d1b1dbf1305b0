import { Database, SQLiteError } from "bun:sqlite";
import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import { migrate } from "./migrate.ts";
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
