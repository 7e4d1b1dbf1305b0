import { existsSync } from "node:fs";
import type { DatabaseLocation } from "../db/location.ts";
import { readPostgresUrl } from "../db/postgres/connection.ts";
import { readSchemaVersion } from "../db/postgres/migrate.ts";
import { CommandError } from "./command-error.ts";

/**
 * Throws where there are no books yet: what only looks at them must neither make them nor find them in order,
 * for then the name of the database is wrong.
 */
export async function requireStorage(location: DatabaseLocation): Promise<void> {
  if (location.dialect === "sqlite") {
    if (!existsSync(location.path)) throw noBooks(`There is no file ${location.path}`);
    return;
  }
  const client = readPostgresUrl(location.url)({ max: 1 });
  const version = await readSchemaVersion(client).finally(() => client.close());
  if (version === 0) throw noBooks("The database has no tables of Tollgate");
}

function noBooks(because: string): CommandError {
  return new CommandError(`${because}: there are no books to audit. See DATABASE_URL.`);
}
