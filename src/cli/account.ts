import { createAccount } from "../accounts/accounts.ts";
import { GatewayError } from "../errors.ts";
import type { CommandResult } from "./command.ts";
import { CommandError } from "./command-error.ts";
import { printAccount, printBalances } from "./printing.ts";
import type { Storage } from "./storage.ts";

export interface AccountCreateOptions {
  readonly name: string;
  readonly email?: string;
}

export async function runAccountCreate(
  books: Storage,
  options: AccountCreateOptions,
): Promise<CommandResult> {
  const account = await createAccount(books, options).catch((thrown: unknown) => {
    const isTaken = thrown instanceof GatewayError && thrown.kind === "conflict";
    throw isTaken ? new CommandError(`There is an account "${options.name}" already.`) : thrown;
  });
  const balances = await books.ledger.balances(account.id);
  return {
    json: { ...printAccount(account), ...printBalances(balances) },
    text: `Created account ${account.name} (${account.id}). Its wallet is empty: top it up.`,
  };
}
