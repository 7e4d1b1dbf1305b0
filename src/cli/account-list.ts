import { listAccounts } from "../accounts/accounts.ts";
import type { CommandResult } from "./command.ts";
import { printAccount, printBalances, printTable } from "./printing.ts";
import type { Storage } from "./storage.ts";

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
