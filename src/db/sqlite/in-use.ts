import { Database, SQLiteError } from "bun:sqlite";
import { existsSync } from "node:fs";

/**
 * Whether another process of this machine has the database open. Every connection holds a lock for as long as
 * it is open. Must not be called while this process has the file open. Returns false for a file that is missing
 * or cannot be opened.
 *
 * @see https://www.sqlite.org/pragma.html#pragma_locking_mode
 */
export function isOpenElsewhere(path: string): boolean {
  if (!existsSync(path)) return false;
  let client: Database | undefined;
  try {
    client = new Database(path, { readwrite: true });
    client.run("PRAGMA busy_timeout = 0");
    client.run("PRAGMA locking_mode = EXCLUSIVE");
    client.query("SELECT count(*) FROM sqlite_schema").get();
    return false;
  } catch (error) {
    return error instanceof SQLiteError && (error.code ?? "").startsWith("SQLITE_BUSY");
  } finally {
    client?.close();
  }
}
