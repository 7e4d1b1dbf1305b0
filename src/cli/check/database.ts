import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { SQL } from "bun";
import { isFull } from "../../db/full-disk.ts";
import type { DatabaseLocation } from "../../db/location.ts";
import { readPostgresUrl } from "../../db/postgres/connection.ts";
import { MIGRATIONS as POSTGRES_MIGRATIONS, readSchemaVersion } from "../../db/postgres/migrate.ts";
import { connect, MIGRATIONS as SQLITE_MIGRATIONS } from "../../db/sqlite/database.ts";

const BUSY_MS = 2_000;

/**
 * Returns why the database cannot be used, as "path: what is wrong, expected something else", or `undefined`.
 * Creates and changes nothing. The text contains nothing of the URL.
 */
export async function findDatabaseProblem(location: DatabaseLocation): Promise<string | undefined> {
  const problem =
    location.dialect === "sqlite"
      ? findSqliteProblem(location.path)
      : await findPostgresProblem(location.url);
  return problem && `DATABASE_URL: ${problem}`;
}

function findSqliteProblem(path: string): string | undefined {
  const problem = existsSync(path) ? findFileProblem(path) : findFolderProblem(dirname(path));
  return problem ?? findDiskProblem(dirname(path));
}

/** Returns that the disk of a folder is full, or `undefined`. */
export function findDiskProblem(folder: string): string | undefined {
  return isFull(folder) ? `is on a full disk (${folder}), expected at least 1 MiB of free space` : undefined;
}

/**
 * Returns why a folder cannot be written, as "what is wrong, expected something else", or `undefined`. For a
 * missing folder, checks whether its nearest existing ancestor allows to create it.
 */
export function findFolderProblem(folder: string): string | undefined {
  if (!existsSync(folder)) return findFolderProblem(dirname(folder));
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    if (statSync(folder).isDirectory()) return undefined;
  } catch {
    // Reported below.
  }
  return "cannot be created, expected a folder that this user may write";
}

function findFileProblem(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    const version = readVersion(path);
    if (version <= SQLITE_MIGRATIONS.length) return undefined;
    return tooNew(version, SQLITE_MIGRATIONS.length);
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

/** Problems by the SQLSTATE that PostgreSQL reports. */
const SQLSTATE_PROBLEMS: Readonly<Record<string, string>> = {
  "28000": "names a user that the server rejects, expected one that it accepts",
  "28P01": "has a user or a password that the server rejects, expected ones that it accepts",
  "3D000": "names a database that does not exist, expected an existing one",
  "42501": "names a user who may not read the schema, expected its owner",
};

async function findPostgresProblem(url: string): Promise<string | undefined> {
  const client = readPostgresUrl(url)({ max: 1 });
  try {
    const version = await readSchemaVersion(client);
    if (version > POSTGRES_MIGRATIONS.length) return tooNew(version, POSTGRES_MIGRATIONS.length);
    return await findServerProblem(client, version);
  } catch (error) {
    const problem = SQLSTATE_PROBLEMS[sqlStateOf(error)];
    return problem ?? "names a server that cannot be reached, expected PostgreSQL to answer";
  } finally {
    await client.close();
  }
}

/** Checks the encoding of a reachable server, and the right to create tables when a migration is due. */
async function findServerProblem(client: SQL, version: number): Promise<string | undefined> {
  const [row] = await client.unsafe(`SELECT current_setting('server_encoding') AS encoding,
    coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may_create`);
  if (row.encoding !== "UTF8") return `has the encoding ${row.encoding}, expected a database in UTF8`;
  if (version < POSTGRES_MIGRATIONS.length && !row.may_create) {
    return "needs tables that its user may not create, expected a user who may create in the schema";
  }
  return undefined;
}

function sqlStateOf(error: unknown): string {
  return error instanceof Error && "errno" in error ? String(error.errno) : "";
}

function tooNew(version: number, newest: number): string {
  return `is at version ${version}, expected at most ${newest}: use a newer tollgate`;
}
