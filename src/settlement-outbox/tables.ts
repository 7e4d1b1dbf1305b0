import { type Database, SQLiteError } from "bun:sqlite";

/** Version of the tables; a file of a later one is left alone. */
const VERSION = 1;

/** What the ledger has not taken yet, and what it never will. The index makes counting a large journal quick. */
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

/** A journal without what makes it one. */
class DamagedJournal extends Error {
  override readonly name = "DamagedJournal";
}

/** Makes the tables of a new file. */
export function createTables(client: Database): void {
  client.run("PRAGMA journal_mode = WAL");
  client.transaction(() => client.run(`${TABLES} PRAGMA user_version = ${VERSION};`)).immediate();
  // Else a log that is damaged from its beginning on would take the tables with it.
  client.run("PRAGMA wal_checkpoint(TRUNCATE)");
}

export function hasTables(client: Database): boolean {
  return Number(readOne(client, "SELECT count(*) FROM sqlite_schema")) > 0;
}

/** Throws {@link DamagedJournal} when a file has no tables of ours, Error when they are of a later version. */
export function checkTables(client: Database): void {
  const version = Number(readOne(client, "PRAGMA user_version"));
  if (version > VERSION) throw new Error("Cannot open a settlement journal: a newer tollgate wrote it");
  if (version < VERSION)
    throw new DamagedJournal("Cannot open a settlement journal: its tables are not there");
}

/** How many entries wait, and how many were refused. */
export function countEntries(client: Database): { readonly pending: number; readonly refused: number } {
  return {
    pending: Number(readOne(client, "SELECT count(*) FROM entries")),
    refused: Number(readOne(client, "SELECT count(*) FROM refused")),
  };
}

function readOne(client: Database, sql: string): unknown {
  try {
    return client.query(sql).values()[0]?.[0];
  } catch (error) {
    throw isDamage(error)
      ? new DamagedJournal("A settlement journal cannot be read", { cause: error })
      : error;
  }
}

/** Whether it is the file that is broken, and not the moment. */
export function isDamage(error: unknown): boolean {
  if (error instanceof DamagedJournal) return true;
  return error instanceof SQLiteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code ?? "");
}
