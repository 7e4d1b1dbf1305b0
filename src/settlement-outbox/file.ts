import { Database, SQLiteError } from "bun:sqlite";
import { closeSync, existsSync, openSync, renameSync, rmSync } from "node:fs";
import { connect } from "../db/sqlite/database.ts";
import type { LedgerRefusal } from "../ledger/ledger.ts";
import { createLogSync } from "../ledger/sqlite/log-sync.ts";
import { checkTables, countEntries, createTables, hasTables, isDamage } from "./tables.ts";

/** One journal on the disk, a SQLite database, while this process holds its lock. */
export interface JournalFile {
  readonly path: string;
  /** Entries that wait to be replayed. */
  readonly pending: number;
  /** Commits printed entries together. Resolves when they are on disk; rejects when that is not known. */
  append(entries: readonly NewEntry[], writtenAtMs: number): Promise<void>;
  /** The next entries behind one of them, in the order of writing. */
  read(afterSeq: number, max: number): readonly StoredEntry[];
  /** Drops entries that are booked, and keeps apart those that the ledger will never take. */
  finish(bookedSeqs: readonly number[], refused: readonly RefusedEntry[], nowMs: number): void;
  /** Gives it up; removes it when nothing is left in it. */
  close(): void;
  /** Gives up a damaged one, and keeps it under a name that nobody adopts. */
  putAside(): void;
}

export interface NewEntry {
  readonly holdId: string;
  readonly text: string;
}

export interface StoredEntry {
  readonly seq: number;
  readonly holdId: string;
  /** The printed entry; `undefined` when it is not what was written. */
  readonly text: string | undefined;
}

export interface RefusedEntry {
  readonly seq: number;
  readonly refusal: LedgerRefusal | "unreadable";
}

/** Ends the name of a journal that could not be read. */
export const DAMAGED = ".damaged";

/** How long a write waits for whoever looks into the journal at this moment. */
const BUSY_MS = 250;

/** Makes a new journal that only this user may read. Throws when the disk refuses it. */
export function createJournalFile(path: string): JournalFile {
  const lock = takeFileLock(lockPathOf(path));
  if (!lock) throw new Error("Cannot create a settlement journal: its name is taken");
  try {
    closeSync(openSync(path, "wx", 0o600));
    return useFile(path, lock, createTables);
  } catch (error) {
    remove(path);
    lock.release();
    throw error;
  }
}

/**
 * Takes over a journal that is there. `undefined` when somebody holds it or it is gone. Throws when it cannot
 * be opened; one that is damaged is put aside then.
 */
export function adoptJournalFile(path: string): JournalFile | undefined {
  const lock = takeFileLock(lockPathOf(path));
  if (!lock) return undefined;
  try {
    // Its owner may have emptied and removed it since it was seen, or was killed as it made it.
    if (!existsSync(path) || isUnfinished(path)) {
      remove(path);
      lock.release();
      return undefined;
    }
    return useFile(path, lock, checkTables);
  } catch (error) {
    if (isDamage(error)) rename(path);
    lock.release();
    throw error;
  }
}

/** Tables are made before the first entry is taken: without any, there is nothing to lose. */
function isUnfinished(path: string): boolean {
  const client = connect(path, BUSY_MS);
  try {
    return !hasTables(client);
  } finally {
    client.close();
  }
}

/** From here on the lock belongs to the file. Throws with the connection closed and the lock still held. */
function useFile(path: string, lock: FileLock, prepare: (client: Database) => void): JournalFile {
  const client = connect(path, BUSY_MS);
  try {
    prepare(client);
    // A commit goes to the log unsynced, and is answered when the log is synced: off the event loop.
    client.run("PRAGMA synchronous = NORMAL");
    return journalOf(path, lock, client);
  } catch (error) {
    client.close();
    throw error;
  }
}

function journalOf(path: string, lock: FileLock, client: Database): JournalFile {
  const { insert, select, keepRefused, drop } = prepareStatements(client);
  const log = createLogSync(path);
  let { pending } = countEntries(client);

  const append = client.transaction((entries: readonly NewEntry[], writtenAtMs: number) => {
    for (const { holdId, text } of entries) insert.run(holdId, text, checksumOf(text), writtenAtMs);
  });
  const finish = client.transaction(
    (bookedSeqs: readonly number[], refused: readonly RefusedEntry[], nowMs: number) => {
      for (const { seq, refusal } of refused) keepRefused.run(refusal, nowMs, seq);
      for (const seq of [...bookedSeqs, ...refused.map((each) => each.seq)]) drop.run(seq);
    },
  );

  return {
    path,
    get pending() {
      return pending;
    },
    async append(entries, writtenAtMs) {
      append.immediate(entries, writtenAtMs);
      pending += entries.length;
      await log.sync();
    },
    read: (afterSeq, max) => select.all(afterSeq, max).map(readRow),
    finish(bookedSeqs, refused, nowMs) {
      finish.immediate(bookedSeqs, refused, nowMs);
      pending -= bookedSeqs.length + refused.length;
    },
    close() {
      const isEmpty = holdsNothing(client);
      log.close();
      client.close();
      if (isEmpty) remove(path);
      lock.release();
    },
    putAside() {
      log.close();
      client.close();
      rename(path);
      lock.release();
    },
  };
}

/** Asks the file itself, because what is not empty must not be removed; a damaged one is not empty. */
function holdsNothing(client: Database): boolean {
  try {
    const { pending, refused } = countEntries(client);
    return pending + refused === 0;
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
    keepRefused: client.query<undefined, [refusal: string, nowMs: number, seq: number]>(
      "INSERT INTO refused SELECT *, ?, ? FROM entries WHERE seq = ?",
    ),
    drop: client.query<undefined, [seq: number]>("DELETE FROM entries WHERE seq = ?"),
  };
}

function readRow({ seq, hold_id: holdId, entry, checksum }: EntryRow): StoredEntry {
  return { seq, holdId, text: checksumOf(entry) === checksum ? entry : undefined };
}

/** SQLite checks its log, but not the pages that it is copied to: a flipped digit would be booked. */
function checksumOf(text: string): number {
  return Bun.hash.crc32(text);
}

function rename(path: string): void {
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

/** A lock that one process holds on a journal; it is gone with the process, however that ends. */
export interface FileLock {
  release(): void;
}

/**
 * Takes the lock, an empty file, without waiting. `undefined` when another process, or another journal of
 * this one, holds it. The process that holds the lock must not open the file by any other way than this:
 * closing that would give the lock away.
 */
export function takeFileLock(path: string): FileLock | undefined {
  if (!existsSync(path)) createPrivately(path);
  // Whoever held it may have removed it by now: then the caller finds no journal beside it either.
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
