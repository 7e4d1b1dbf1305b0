import { Database, SQLiteError } from "bun:sqlite";
import { closeSync, existsSync, openSync } from "node:fs";

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
