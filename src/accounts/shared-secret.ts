import { eq } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { createToken } from "./keys/key.ts";

/**
 * Returns a secret of 43 characters that all processes of one database share. The first process that needs it
 * creates its row.
 */
export async function readSharedSecret(database: Database, name: string): Promise<string> {
  const stored = await find(database, name);
  if (stored) return stored;
  const { transact, tables } = database;
  const row = { name, value: createToken() };
  await transact(async (tx) => {
    await tx.insert(tables.sharedValues).values(row).onConflictDoNothing();
  });
  const winner = await find(database, name);
  if (!winner) throw new Error(`The shared secret ${name} was deleted while it was created`);
  return winner;
}

async function find({ db, tables: { sharedValues } }: Database, name: string): Promise<string | undefined> {
  const [row] = await db.select().from(sharedValues).where(eq(sharedValues.name, name));
  return row?.value;
}

/** Returns the secret that signs session cookies. Changing its row signs everybody out. */
export function readCookieSecret(database: Database): Promise<string> {
  return readSharedSecret(database, "console_cookie_secret");
}
