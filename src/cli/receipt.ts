import { listAccounts } from "../accounts/accounts.ts";
import { printOperatorReceipt } from "../ledger/print-receipt.ts";
import { CommandError, type CommandResult } from "./command.ts";
import type { Storage } from "./storage.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Shows the receipt of a request by its id, of whichever account. */
export async function runReceipt({ database, ledger }: Storage, text: string): Promise<CommandResult> {
  const id = text.trim().toLowerCase();
  if (!UUID.test(id)) throw new CommandError("Expected the id of a request, as in x-request-id.", 2);
  const names = new Map((await listAccounts(database)).map((account) => [account.id, account.name]));
  const receipts = (await ledger.receiptsById(id)).map((receipt) => ({
    account_id: receipt.walletId,
    account: names.get(receipt.walletId) ?? null,
    ...printOperatorReceipt(receipt),
  }));
  if (receipts.length > 0) return { json: { receipts }, text: receipts.map(printMembers).join("\n\n") };
  throw new CommandError(
    "There is no receipt of this request. A refused request has none: search for its id in the console or the log.",
  );
}

/** Prints an object, one member a line. Nested values are JSON. */
function printMembers(members: object): string {
  const entries = Object.entries(members).filter(([, value]) => value !== null);
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries
    .map(
      ([name, value]) =>
        `${name.padEnd(width)}  ${typeof value === "object" ? JSON.stringify(value) : value}`,
    )
    .join("\n");
}
