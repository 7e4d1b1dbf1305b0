import { eq, or } from "drizzle-orm";
import type { SqliteDatabase } from "../db/sqlite/database.ts";
import { apiKeys } from "../db/sqlite/schema.ts";
import type { ApiKey } from "./key.ts";
import { readKey } from "./read-key.ts";
import { digestOf } from "./secret.ts";

/** Every key that a text can mean: its id, its hint or its secret. Only a hint can mean several. */
export function findKeys({ db }: SqliteDatabase, text: string): readonly ApiKey[] {
  const isMeant = or(eq(apiKeys.id, text), eq(apiKeys.hint, text), eq(apiKeys.digest, digestOf(text)));
  return db.select().from(apiKeys).where(isMeant).all().map(readKey);
}
