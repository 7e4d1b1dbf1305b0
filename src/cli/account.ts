import { createAccount, listAccounts } from "../accounts/accounts.ts";
import { GatewayError } from "../errors.ts";
import { CommandError, type CommandResult } from "./command.ts";
import { printAccount, printBalances, printTable } from "./printing.ts";
import type { Storage } from "./storage.ts";

export interface AccountCreateOptions {
  readonly name: string;
  readonly email?: string;
}

export async function runAccountCreate(
  storage: Storage,
  options: AccountCreateOptions,
): Promise<CommandResult> {
  const account = await createAccount(storage, options).catch((thrown: unknown) => {
    const isTaken = thrown instanceof GatewayError && thrown.kind === "conflict";
    throw isTaken ? new CommandError(`There is an account "${options.name}" already.`) : thrown;
  });
  const balances = await storage.ledger.balances(account.id);
  return {
    json: { ...printAccount(account), ...printBalances(balances) },
    text: `Created account ${account.name} (${account.id}). Its wallet is empty: top it up.`,
  };
}

export async function runAccountList({ database, ledger }: Storage): Promise<CommandResult> {
  const accounts = await Promise.all(
    (await listAccounts(database)).map(async (account) => ({
      ...printAccount(account),
      ...printBalances(await ledger.balances(account.id)),
    })),
  );
  const rows = accounts.map((each) => [
    each.id,
    each.name,
    each.state,
    each.available_usd,
    each.posted_usd,
    each.held_usd,
  ]);
  return {
    json: { accounts },
    text: printTable(["ID", "NAME", "STATE", "AVAILABLE USD", "POSTED USD", "HELD USD"], rows),
  };
}
