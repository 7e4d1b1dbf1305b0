import type { SqliteDatabase } from "../db/sqlite/database.ts";
import { accounts } from "../db/sqlite/schema.ts";
import { GatewayError } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Account } from "./account.ts";
import { findAccount } from "./find.ts";

export interface AccountParts {
  readonly database: SqliteDatabase;
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
  if (findAccount(database, name)) throw new GatewayError("conflict");
  const createdAtMs = now();
  const id = Bun.randomUUIDv7("hex", createdAtMs);
  // The wallet comes first: one without an account is harmless, an account without a wallet is not.
  await ledger.createWallet(id);
  const account: Account = { id, name, email, state: "active", createdAtMs };
  const inserted = database.db.insert(accounts).values(account).onConflictDoNothing().returning().all();
  if (inserted.length === 0) throw new GatewayError("conflict");
  return account;
}
