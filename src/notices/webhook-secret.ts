import { createHmac, randomBytes } from "node:crypto";
import { eq } from "drizzle-orm";
import type { Database } from "../db/database.ts";

const NAME = "webhook_secret";

/**
 * Returns the secret that signs the webhooks of a rule: "whsec_" and 43 characters. It is derived from one
 * shared value, so that no secret of a rule is stored.
 */
export async function readWebhookSecret(database: Database, ruleId: string): Promise<string> {
  const shared = await readSharedSecret(database);
  return `whsec_${createHmac("sha256", shared).update(`notice_rule:${ruleId}`).digest("base64url")}`;
}

/** The first process that needs the value creates it. */
async function readSharedSecret(database: Database): Promise<string> {
  const stored = await find(database);
  if (stored) return stored;
  const { transact, tables } = database;
  const value = randomBytes(32).toString("base64url");
  await transact(async (tx) => {
    await tx.insert(tables.sharedValues).values({ name: NAME, value }).onConflictDoNothing();
  });
  const winner = await find(database);
  if (!winner) throw new Error("The secret of webhooks was deleted while it was created");
  return winner;
}

async function find({ db, tables: { sharedValues } }: Database): Promise<string | undefined> {
  const [row] = await db.select().from(sharedValues).where(eq(sharedValues.name, NAME));
  return row?.value;
}
