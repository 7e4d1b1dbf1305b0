import { Database, SQLiteError } from "bun:sqlite";
import { closeSync, existsSync, openSync, renameSync, rmSync } from "node:fs";
import { connect } from "../db/sqlite/database.ts";
import type { LedgerErrorCode } from "../ledger/ledger.ts";
import { createLogSync, type OpenLogSync } from "../ledger/sqlite/log-sync.ts";
import { checkTables, countEntries, createTables, hasTables, isDamage, readOrigin } from "./entry.ts";

/** One outbox on disk: a SQLite database that this process holds the lock of. */
export interface OutboxFile {
  readonly path: string;
  /** The number of entries to replay. */
  readonly pending: number;
  /** When the oldest entry to replay was written, in Unix milliseconds; `undefined` without one. */
  oldestAtMs(): number | undefined;
  /**
   * Commits printed entries in one transaction. Resolves when the entries are on disk. After a rejection they
   * may be on disk or not.
   */
  append(entries: readonly NewEntry[], writtenAtMs: number): Promise<void>;
  /** Returns at most `max` entries after `afterSeq`, in the order of writing. */
  read(afterSeq: number, max: number): readonly StoredEntry[];
  /** Deletes the completed entries, and moves the declined ones to the table of declined entries. */
  finish(completedSeqs: readonly number[], declined: readonly DeclinedEntry[], nowMs: number): void;
  /** Unlocks the file. Deletes it when it holds no entries. */
  close(): void;
  /** Unlocks the file and renames it, so that no process adopts it. For damaged files. */
  quarantine(): void;
}

export interface NewEntry {
  readonly holdId: string;
  readonly text: string;
}

export interface StoredEntry {
  readonly seq: number;
  readonly holdId: string;
  /** The printed entry; `undefined` when its checksum does not match. */
  readonly text: string | undefined;
}

export interface DeclinedEntry {
  readonly seq: number;
  readonly refusal: LedgerErrorCode | "unreadable";
}

/** The suffix of a quarantined file. */
export const DAMAGED = ".damaged";

/** Milliseconds that a write waits for a reader in another process, such as `tollgate audit`. */
const BUSY_MS = 250;

/**
 * Creates an outbox with mode 0600. `origin` is the id of the database whose settlements it keeps. Throws when
 * the disk fails or the name is taken.
 */
export function createOutboxFile(path: string, origin?: string, openLog?: OpenLogSync): OutboxFile {
  const lock = takeFileLock(lockPathOf(path));
  if (!lock) throw new Error("Cannot create a settlement outbox: its name is taken");
  try {
    closeSync(openSync(path, "wx", 0o600));
    return useFile(path, { lock, openLog }, (client) => createTables(client, origin));
  } catch (error) {
    remove(path);
    lock.release();
    throw error;
  }
}

/** The settlements in an outbox file belong to another database. The file is left as it is. */
export class ForeignOutbox extends Error {
  override readonly name = "ForeignOutbox";
}

/**
 * Adopts the outbox of a dead process. Returns `undefined` when a process holds it or it is gone. Throws
 * {@link ForeignOutbox} when `isOwn` rejects its origin, and Error when it cannot be opened; a damaged file is
 * quarantined first.
 */
export function adoptOutboxFile(
  path: string,
  isOwn: (origin: string) => boolean = () => true,
  openLog?: OpenLogSync,
): OutboxFile | undefined {
  const lock = takeFileLock(lockPathOf(path));
  if (!lock) return undefined;
  try {
    // Since the folder was listed, the owner may have deleted the file, or was killed while creating it.
    if (!existsSync(path) || isUnfinished(path)) {
      remove(path);
      lock.release();
      return undefined;
    }
    return useFile(path, { lock, openLog }, (client) => {
      checkTables(client);
      const origin = readOrigin(client);
      if (origin !== undefined && !isOwn(origin)) throw new ForeignOutbox("It belongs to another database");
    });
  } catch (error) {
    if (isDamage(error)) renameToDamaged(path);
    lock.release();
    throw error;
  }
}

/** Whether the file has no tables. They are created before the first entry, so nothing is lost with it. */
function isUnfinished(path: string): boolean {
  const client = connect(path, BUSY_MS);
  try {
    return !hasTables(client);
  } finally {
    client.close();
  }
}

/** What an open file holds beside its connection. */
interface FileParts {
  readonly lock: FileLock;
  readonly openLog: OpenLogSync | undefined;
}

/** Opens a locked file. Throws with the connection closed and the lock still held. */
function useFile(path: string, parts: FileParts, prepare: (client: Database) => void): OutboxFile {
  const client = connect(path, BUSY_MS);
  try {
    prepare(client);
    // A commit writes the WAL without fsync; `append` then awaits an fsync off the event loop.
    client.run("PRAGMA synchronous = NORMAL");
    return outboxOf(path, parts, client);
  } catch (error) {
    client.close();
    throw error;
  }
}

function outboxOf(path: string, { lock, openLog = createLogSync }: FileParts, client: Database): OutboxFile {
  const { insert, select, selectOldest, keepDeclined, drop } = prepareStatements(client);
  const log = openLog(path);
  let { pending } = countEntries(client);

  const append = client.transaction((entries: readonly NewEntry[], writtenAtMs: number) => {
    for (const { holdId, text } of entries) insert.run(holdId, text, checksumOf(text), writtenAtMs);
  });
  const finish = client.transaction(
    (completedSeqs: readonly number[], declined: readonly DeclinedEntry[], nowMs: number) => {
      for (const { seq, refusal } of declined) keepDeclined.run(refusal, nowMs, seq);
      for (const seq of [...completedSeqs, ...declined.map((each) => each.seq)]) drop.run(seq);
    },
  );

  return {
    path,
    get pending() {
      return pending;
    },
    oldestAtMs: () => selectOldest.get()?.written_at_ms ?? undefined,
    async append(entries, writtenAtMs) {
      append.immediate(entries, writtenAtMs);
      pending += entries.length;
      await log.sync();
    },
    read: (afterSeq, max) => select.all(afterSeq, max).map(readRow),
    finish(completedSeqs, declined, nowMs) {
      finish.immediate(completedSeqs, declined, nowMs);
      pending -= completedSeqs.length + declined.length;
    },
    close() {
      const isEmpty = holdsNothing(client);
      log.close();
      client.close();
      if (isEmpty) remove(path);
      lock.release();
    },
    quarantine() {
      log.close();
      client.close();
      renameToDamaged(path);
      lock.release();
    },
  };
}

/** Counts in the file itself, because only an empty file may be deleted. A damaged file is not empty. */
function holdsNothing(client: Database): boolean {
  try {
    const { pending, declined } = countEntries(client);
    return pending + declined === 0;
  } catch {
    return false;
  }
}

interface EntryRow {
  readonly seq: number;
  readonly hold_id: string;
  readonly entry: string;
  readonly checksum: number;
}

function prepareStatements(client: Database) {
  return {
    insert: client.query<undefined, [string, string, number, number]>(
      "INSERT INTO entries (hold_id, entry, checksum, written_at_ms) VALUES (?, ?, ?, ?)",
    ),
    select: client.query<EntryRow, [afterSeq: number, max: number]>(
      "SELECT seq, hold_id, entry, checksum FROM entries WHERE seq > ? ORDER BY seq LIMIT ?",
    ),
    selectOldest: client.query<{ written_at_ms: number | null }, []>(
      "SELECT min(written_at_ms) AS written_at_ms FROM entries",
    ),
    keepDeclined: client.query<undefined, [refusal: string, nowMs: number, seq: number]>(
      "INSERT INTO refused SELECT *, ?, ? FROM entries WHERE seq = ?",
    ),
    drop: client.query<undefined, [seq: number]>("DELETE FROM entries WHERE seq = ?"),
  };
}

function readRow({ seq, hold_id: holdId, entry, checksum }: EntryRow): StoredEntry {
  return { seq, holdId, text: checksumOf(entry) === checksum ? entry : undefined };
}

/** SQLite checks frames of the WAL but not pages of the database, where a digit may be flipped unnoticed. */
function checksumOf(text: string): number {
  return Bun.hash.crc32(text);
}

function renameToDamaged(path: string): void {
  renameSync(path, `${path}${DAMAGED}`);
  if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${path}${DAMAGED}-wal`);
  remove(path);
}

function lockPathOf(path: string): string {
  return `${path}-lock`;
}

function remove(path: string): void {
  for (const each of [path, `${path}-wal`, `${path}-shm`, lockPathOf(path)]) rmSync(each, { force: true });
}

/** A lock that one process holds on an outbox. The operating system releases it when the process ends. */
interface FileLock {
  release(): void;
}

/**
 * Takes the lock, an empty SQLite file, without waiting. Returns `undefined` when another process, or another
 * outbox of this process, holds it. No other code of the process may open the lock file. POSIX drops the
 * locks of a process on a file when any of its descriptors for that file is closed.
 *
 * @see https://www.sqlite.org/howtocorrupt.html
 */
function takeFileLock(path: string): FileLock | undefined {
  if (!existsSync(path)) createPrivately(path);
  // The previous holder of the lock may have deleted the lock file together with its outbox.
  const client = new Database(path, { readwrite: true, create: true });
  try {
    client.run("PRAGMA journal_mode = MEMORY");
    client.run("BEGIN EXCLUSIVE");
  } catch (error) {
    client.close();
    if (error instanceof SQLiteError && error.code === "SQLITE_BUSY") return undefined;
    throw error;
  }
  return { release: () => client.close() };
}

function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    const isThere = error instanceof Error && "code" in error && error.code === "EEXIST";
    if (!isThere) throw error;
  }
}
