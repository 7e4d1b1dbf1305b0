import { type Database, SQLiteError } from "bun:sqlite";

/** The version of the tables, in `user_version`. A file of a later version is left untouched. */
const VERSION = 1;

/**
 * `entries` has the entries to replay, `refused` those that the ledger declined. The index makes counting a
 * large outbox fast.
 */
const TABLES = `
CREATE TABLE entries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  hold_id TEXT NOT NULL,
  entry TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  written_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX entries_by_time ON entries (written_at_ms);
CREATE TABLE refused (
  seq INTEGER PRIMARY KEY,
  hold_id TEXT NOT NULL,
  entry TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  written_at_ms INTEGER NOT NULL,
  refusal TEXT NOT NULL,
  refused_at_ms INTEGER NOT NULL
) STRICT;
`;

/** The database that the entries belong to. Older versions neither write nor read it. */
const ORIGIN = "CREATE TABLE origin (instance_id TEXT NOT NULL) STRICT;";

/** An outbox file lacks its tables, or they cannot be read. */
class DamagedOutbox extends Error {
  override readonly name = "DamagedOutbox";
}

/** Creates the tables of a new file. */
export function createTables(client: Database, origin: string | undefined): void {
  client.run("PRAGMA journal_mode = WAL");
  const create = client.transaction(() => {
    client.run(`${TABLES} ${ORIGIN} PRAGMA user_version = ${VERSION};`);
    if (origin !== undefined) client.run("INSERT INTO origin VALUES (?)", [origin]);
  });
  create.immediate();
  // Moves the tables out of the WAL: damage to its first frames would otherwise lose them.
  client.run("PRAGMA wal_checkpoint(TRUNCATE)");
}

export function hasTables(client: Database): boolean {
  return Number(readOne(client, "SELECT count(*) FROM sqlite_schema")) > 0;
}

/** Throws {@link DamagedOutbox} when the file lacks the tables, Error when a later version wrote them. */
export function checkTables(client: Database): void {
  const version = Number(readOne(client, "PRAGMA user_version"));
  if (version > VERSION) throw new Error("Cannot open a settlement outbox: a newer tollgate wrote it");
  if (version < VERSION) throw new DamagedOutbox("Cannot open a settlement outbox: its tables are missing");
}

/** Returns the id of the database that the entries belong to; `undefined` when no one wrote it. */
export function readOrigin(client: Database): string | undefined {
  const hasOrigin = Number(readOne(client, "SELECT count(*) FROM sqlite_schema WHERE name = 'origin'")) > 0;
  const origin = hasOrigin ? readOne(client, "SELECT instance_id FROM origin") : undefined;
  return origin === undefined ? undefined : String(origin);
}

/** Counts the entries to replay and the declined ones. */
export function countEntries(client: Database): { readonly pending: number; readonly declined: number } {
  return {
    pending: Number(readOne(client, "SELECT count(*) FROM entries")),
    declined: Number(readOne(client, "SELECT count(*) FROM refused")),
  };
}

function readOne(client: Database, sql: string): unknown {
  try {
    return client.query(sql).values()[0]?.[0];
  } catch (error) {
    throw isDamage(error) ? new DamagedOutbox("Cannot read a settlement outbox", { cause: error }) : error;
  }
}

/** Whether the file itself is broken, rather than locked or failing for now. */
export function isDamage(error: unknown): boolean {
  if (error instanceof DamagedOutbox) return true;
  return error instanceof SQLiteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code ?? "");
}
