import { type like, or, type SQL, sql } from "drizzle-orm";

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
