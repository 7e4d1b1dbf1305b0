import { type AnyColumn, type SQL, sql } from "drizzle-orm";
import type { Database } from "./database.ts";

/** The values that {@link isInList} compares with, in a prepared query. */
const LIST = "list";

/** The condition that a column has one of the texts of {@link listOf}. The query is prepared once for all lists. */
export function isInList({ dialect }: Pick<Database, "dialect">, column: AnyColumn): SQL {
  const list = sql.placeholder(LIST);
  return dialect === "postgres"
    ? sql`${column} = ANY(${list}::text[])`
    : sql`${column} IN (SELECT value FROM json_each(${list}))`;
}

/** The parameters of a prepared query with {@link isInList}. The texts must be of letters, digits and hyphens. */
export function listOf({ dialect }: Pick<Database, "dialect">, texts: readonly string[]): { list: string } {
  return { [LIST]: dialect === "postgres" ? `{${texts.join()}}` : JSON.stringify(texts) };
}
