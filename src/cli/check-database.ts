import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseLocation } from "../db/location.ts";
import { connect, MIGRATIONS } from "../db/sqlite/database.ts";
import { findFolderFault } from "./check-folder.ts";
import { findPostgresFault } from "./check-postgres.ts";

const BUSY_MS = 2_000;

/** Why a database cannot be used, as "path: what is wrong, what is expected". Creates and changes nothing. */
export async function findDatabaseFault(location: DatabaseLocation): Promise<string | undefined> {
  const fault =
    location.dialect === "sqlite" ? findSqliteFault(location.path) : await findPostgresFault(location.url);
  return fault && `DATABASE_URL: ${fault}`;
}

function findSqliteFault(path: string): string | undefined {
  return existsSync(path) ? findFileFault(path) : findFolderFault(dirname(path));
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
