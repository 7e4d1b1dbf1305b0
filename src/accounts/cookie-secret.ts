import { randomBytes } from "node:crypto";
import { eq } from "drizzle-orm";
import type { Database } from "../db/database.ts";

const NAME = "console_cookie_secret";

/**
 * Returns the secret that signs session cookies, equal in all processes of one database. The first process
 * creates it. Changing its row signs everybody out.
 */
export async function readCookieSecret(database: Database): Promise<string> {
  const stored = await find(database);
  if (stored) return stored;
  const value = randomBytes(32).toString("base64url");
  const { transact, tables } = database;
  await transact(async (tx) => {
    await tx.insert(tables.sharedValues).values({ name: NAME, value }).onConflictDoNothing();
  });
  const winner = await find(database);
  if (!winner) throw new Error("The secret of the cookies was deleted while it was created");
  return winner;
}

async function find({ db, tables: { sharedValues } }: Database): Promise<string | undefined> {
  const [row] = await db.select().from(sharedValues).where(eq(sharedValues.name, NAME));
  return row?.value;
}
