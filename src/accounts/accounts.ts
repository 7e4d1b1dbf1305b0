import { asc, eq, or } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import type { accounts } from "../db/sqlite/schema.ts";
import { GatewayError } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";

/** The owner of keys and of one wallet. The wallet has the account's id. */
export interface Account {
  readonly id: string;
  /** Unique among accounts. */
  readonly name: string;
  readonly email: string | undefined;
  readonly state: "active" | "suspended";
  readonly createdAtMs: number;
}

export interface AccountParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "createWallet">;
  readonly now?: () => number;
}

export interface NewAccount {
  /** Unique, and equal to no account's id. */
  readonly name: string;
  readonly email?: string | undefined;
}

/** Creates an account with an empty wallet. Rejects with `conflict` when the name is taken. */
export async function createAccount(
  { database, ledger, now = Date.now }: AccountParts,
  { name, email }: NewAccount,
): Promise<Account> {
  if (await findAccount(database, name)) throw new GatewayError("conflict");
  const createdAtMs = now();
  const id = Bun.randomUUIDv7("hex", createdAtMs);
  // The wallet comes first: a wallet without an account is harmless, an account without a wallet is not.
  await ledger.createWallet(id);
  const account: Account = { id, name, email, state: "active", createdAtMs };
  const { db, tables } = database;
  const inserted = await db.insert(tables.accounts).values(account).onConflictDoNothing().returning();
  if (inserted.length === 0) throw new GatewayError("conflict");
  return account;
}

/** Finds an account by its id or its name. The lookup is unambiguous, as no name equals an id. */
export async function findAccount(
  { db, tables: { accounts } }: Database,
  idOrName: string,
): Promise<Account | undefined> {
  const isMatch = or(eq(accounts.id, idOrName), eq(accounts.name, idOrName));
  const [row] = await db.select().from(accounts).where(isMatch);
  return row && readAccount(row);
}

/** Lists every account, oldest first. */
export async function listAccounts({ db, tables: { accounts } }: Database): Promise<readonly Account[]> {
  const order = [asc(accounts.createdAtMs), asc(accounts.id)];
  const rows = await db
    .select()
    .from(accounts)
    .orderBy(...order);
  return rows.map(readAccount);
}

function readAccount(row: typeof accounts.$inferSelect): Account {
  return { ...row, email: row.email ?? undefined };
}
