import { forgetEndUser } from "../accounts/attribution/forget.ts";
import { COMMAND_LINE } from "../accounts/audit-trail.ts";
import { forgetEndUser as forgetInLedger } from "../ledger/end-users.ts";
import { LedgerError } from "../ledger/ledger.ts";
import { CommandError, type CommandResult } from "./command.ts";
import { requireAccount, type Storage } from "./storage.ts";

export interface EndUserForgetOptions {
  /** Id or name. */
  readonly account: string;
  /** The text that clients send. */
  readonly user: string;
}

/** Replaces the name of one end user by a pseudonym. Sums stay. */
export async function runEndUserForget(
  { database, ledger }: Storage,
  { account: idOrName, user: endUser }: EndUserForgetOptions,
): Promise<CommandResult> {
  const { id: accountId, name } = await requireAccount(database, idOrName);
  const parts = {
    database,
    now: Date.now,
    forget: (forgetting: Parameters<typeof forgetInLedger>[1]) =>
      forgetInLedger({ database, ledger }, forgetting),
  };
  const change = { accountId, endUser };
  const forgotten = await forgetEndUser(parts, COMMAND_LINE, change).catch((thrown: unknown) => {
    const isRunning = thrown instanceof LedgerError && thrown.code === "conflict";
    throw isRunning
      ? new CommandError("A limit names the end user, and requests run: try again later.")
      : thrown;
  });
  const { receipts, running, pseudonym } = forgotten;
  const rest =
    running === 0 ? "" : ` ${running} requests run still: run the command again when they have ended.`;
  return {
    json: { account_id: accountId, receipts, running, pseudonym },
    text: `Account ${name}: ${receipts} receipts name ${pseudonym} now.${rest}`,
  };
}
