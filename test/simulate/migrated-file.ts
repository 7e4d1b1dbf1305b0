import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../src/db/sqlite/database.ts";

let bytes: Buffer | undefined;

/** Returns the bytes of an empty database with all tables. Migrating one takes 10 ms, which many seeds share. */
export function migratedFile(): Buffer {
  bytes ??= migrate();
  return bytes;
}

function migrate(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-migrated-"));
  const path = join(folder, "tollgate.db");
  openDatabase(path).close();
  const migrated = readFileSync(path);
  rmSync(folder, { recursive: true });
  return migrated;
}
