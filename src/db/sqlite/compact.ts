import { SQLiteError } from "bun:sqlite";
import { statSync } from "node:fs";
import { connect } from "./database.ts";

/**
 * Writes the file anew without its free pages, so that later free pages can be returned to the disk. Needs as much
 * free disk again. Throws when another process is writing. Ids and numbers of rows stay.
 *
 * @see https://www.sqlite.org/lang_vacuum.html
 */
export function compactFile(path: string): { readonly bytesBefore: number; readonly bytes: number } {
  const bytesBefore = statSync(path).size;
  const client = connect(path, 0);
  try {
    client.run("PRAGMA auto_vacuum = INCREMENTAL");
    client.run("VACUUM");
    client.run("PRAGMA wal_checkpoint(TRUNCATE)");
    return { bytesBefore, bytes: statSync(path).size };
  } finally {
    client.close();
  }
}

/** A file of this size is compacted within half a second. */
const SMALL_BYTES = 32 * 1024 * 1024;

/**
 * Lets a file return free pages to the disk, which costs each request about 2 µs. Returns whether it does: a
 * larger file must be compacted first. Blocks the event loop for at most half a second.
 */
export function allowShrinking(path: string): boolean {
  if (canShrink(path)) return true;
  if (statSync(path).size > SMALL_BYTES) return false;
  try {
    compactFile(path);
  } catch (error) {
    if (error instanceof SQLiteError && error.code?.startsWith("SQLITE_BUSY")) return false;
    throw error;
  }
  return true;
}

const INCREMENTAL = 2;

function canShrink(path: string): boolean {
  const client = connect(path, 0);
  try {
    return client.query("PRAGMA auto_vacuum").values()[0]?.[0] === INCREMENTAL;
  } finally {
    client.close();
  }
}
