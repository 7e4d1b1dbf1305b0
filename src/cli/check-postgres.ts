import type { SQL } from "bun";
import { readPostgresUrl } from "../db/postgres/connection.ts";
import { MIGRATIONS, readSchemaVersion } from "../db/postgres/migrate.ts";

/** What PostgreSQL says by its SQLSTATE, as "what is wrong, what is expected". */
const SAYS: Readonly<Record<string, string>> = {
  "28000": "names a user that the server refuses, expected one that it lets in",
  "28P01": "has a user or a password that the server refuses, expected ones that it accepts",
  "3D000": "names a database that is not there, expected one that was created",
  "42501": "names a user who may not read the schema, expected its owner",
};

/** Why a PostgreSQL database cannot be used; repeats nothing of its URL. Changes nothing. */
export async function findPostgresProblem(url: string): Promise<string | undefined> {
  const client = readPostgresUrl(url)({ max: 1 });
  try {
    const version = await readSchemaVersion(client);
    if (version <= MIGRATIONS.length) return await findServerFault(client, version);
    return `is at version ${version}, expected at most ${MIGRATIONS.length}: use a newer tollgate`;
  } catch (error) {
    return SAYS[sqlStateOf(error)] ?? "names a server that cannot be reached, expected PostgreSQL to answer";
  } finally {
    await client.close();
  }
}

/** What a start would stumble over on a server that lets us in. */
async function findServerFault(client: SQL, version: number): Promise<string | undefined> {
  const [row] = await client.unsafe(`SELECT current_setting('server_encoding') AS encoding,
    coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may_create`);
  if (row.encoding !== "UTF8") return `keeps texts in ${row.encoding}, expected a database in UTF8`;
  if (version < MIGRATIONS.length && !row.may_create) {
    return "needs tables that its user may not create, expected a user who may create in the schema";
  }
  return undefined;
}

function sqlStateOf(error: unknown): string {
  return error instanceof Error && "errno" in error ? String(error.errno) : "";
}
