import { listAccounts } from "../accounts/list.ts";
import type { Books } from "./books.ts";
import type { Outcome } from "./outcome.ts";
import { printAccount, printBalances, printTable } from "./print-values.ts";

export async function runAccountList({ database, ledger }: Books): Promise<Outcome> {
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
