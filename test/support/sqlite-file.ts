import { copyFileSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/** Writes a migrated SQLite file, unless no template was made: then the first connection migrates it. */
export function writeSqliteFile(path: string): void {
  const made = process.env.TEST_SQLITE_TEMPLATE;
  if (!made) return;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  copyFileSync(made, path);
}
