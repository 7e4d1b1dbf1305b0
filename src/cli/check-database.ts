import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { connect } from "../db/sqlite/database.ts";
import { MIGRATIONS } from "../db/sqlite/migrate.ts";

const BUSY_MS = 2_000;

/** Why the database at a path cannot be used, as "path: what is wrong, what is expected". Creates nothing. */
export function findDatabaseFault(path: string): string | undefined {
  const fault = existsSync(path) ? findFileFault(path) : findFolderFault(dirname(path));
  return fault && `DATABASE_URL: ${fault}`;
}

function findFileFault(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    const version = readVersion(path);
    if (version <= MIGRATIONS.length) return undefined;
    return `is at version ${version}, expected at most ${MIGRATIONS.length}: use a newer tollgate`;
  } catch {
    return "names a file that cannot be used, expected a SQLite database that this user may write";
  }
}

function readVersion(path: string): number {
  const client = connect(path, BUSY_MS);
  try {
    client.query("SELECT count(*) FROM sqlite_schema").get();
    return Number(client.query("PRAGMA user_version").values()[0]?.[0]);
  } finally {
    client.close();
  }
}

/** The nearest folder that is there decides whether the rest can be created. */
function findFolderFault(folder: string): string | undefined {
  if (!existsSync(folder)) return findFolderFault(dirname(folder));
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    if (statSync(folder).isDirectory()) return undefined;
  } catch {
    // Said below.
  }
  return "cannot be created, expected a folder that this user may write";
}
