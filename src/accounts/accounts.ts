import type { Database } from "../db/database.ts";
import { GatewayError } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Account } from "./account.ts";
import { findAccount } from "./find.ts";

export interface AccountParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "createWallet">;
  readonly now?: () => number;
}

export interface NewAccount {
  /** Unique, and no other account's id. */
  readonly name: string;
  readonly email?: string | undefined;
}

/** Creates an account with its wallet, which is empty. Rejects with `conflict` when the name is taken. */
export async function createAccount(
  { database, ledger, now = Date.now }: AccountParts,
  { name, email }: NewAccount,
): Promise<Account> {
  if (await findAccount(database, name)) throw new GatewayError("conflict");
  const createdAtMs = now();
  const id = Bun.randomUUIDv7("hex", createdAtMs);
  // The wallet comes first: one without an account is harmless, an account without a wallet is not.
  await ledger.createWallet(id);
  const account: Account = { id, name, email, state: "active", createdAtMs };
  const { db, tables } = database;
  const inserted = await db.insert(tables.accounts).values(account).onConflictDoNothing().returning();
  if (inserted.length === 0) throw new GatewayError("conflict");
  return account;
}
