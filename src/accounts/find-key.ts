import { eq, or } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import type { ApiKey } from "./key.ts";
import { readKey } from "./read-key.ts";
import { digestOf } from "./secret.ts";

/** Every key that a text can mean: its id, its hint or its secret. Only a hint can mean several. */
export async function findKeys(
  { db, tables: { apiKeys } }: Database,
  text: string,
): Promise<readonly ApiKey[]> {
  const isMeant = or(eq(apiKeys.id, text), eq(apiKeys.hint, text), eq(apiKeys.digest, digestOf(text)));
  const rows = await db.select().from(apiKeys).where(isMeant);
  return rows.map(readKey);
}
