import { type like, or, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";

/** A member of the JSON object in a column of text, as text. */
export function memberOf({ dialect }: Pick<Database, "dialect">, column: SQLWrapper, name: string): SQL {
  return dialect === "sqlite" ? sql`${column} ->> ${name}` : sql`${column}::json ->> ${name}`;
}

type Columns = readonly Parameters<typeof like>[0][];

/**
 * Returns the condition that one of the columns contains a text, wildcards as plain text. `undefined` for "".
 * ASCII letters are compared without case, as `lower` of SQLite does.
 */
export function containsText(columns: Columns, text = ""): SQL | undefined {
  if (text === "") return undefined;
  const lower = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const pattern = `%${lower.replace(/[\\%_]/g, "\\$&")}%`;
  return or(...columns.map((column) => sql`lower(${column}) LIKE ${pattern} ESCAPE '\\'`));
}
