import type { ApiKey } from "../accounts/key.ts";
import { listKeys } from "../accounts/keys.ts";
import type { Ledger, SpendLimitUsage } from "../ledger/ledger.ts";
import type { CommandResult } from "./command.ts";
import { printKey, printTable } from "./printing.ts";
import { requireAccount, type Storage } from "./storage.ts";

export interface KeyListOptions {
  readonly account?: string;
}

export async function runKeyList(
  { database, ledger }: Storage,
  options: KeyListOptions,
): Promise<CommandResult> {
  const account = options.account === undefined ? undefined : await requireAccount(database, options.account);
  const keys = await Promise.all(
    (await listKeys(database, account?.id)).map(async (key) =>
      printKey(key, await findSpendLimit(ledger, key)),
    ),
  );
  const rows = keys.map((key) => [
    key.id,
    key.hint,
    key.name,
    key.account_id,
    describeState(key),
    describeLimit(key),
  ]);
  return {
    json: { keys },
    text: printTable(["ID", "HINT", "NAME", "ACCOUNT", "STATE", "SPENDING LIMIT"], rows),
  };
}

/** The spending limit of the key itself; its wallet may have others. */
export async function findSpendLimit(
  ledger: Pick<Ledger, "spendLimits">,
  { id, accountId }: ApiKey,
): Promise<SpendLimitUsage | undefined> {
  const limits = await ledger.spendLimits(accountId, id);
  return limits.find(({ limitId }) => limitId === id);
}

type PrintedKey = ReturnType<typeof printKey>;

function describeState({ revoked_at: revokedAt, expires_at: expiresAt }: PrintedKey): string {
  if (revokedAt) return `revoked ${revokedAt}`;
  if (!expiresAt) return "in force";
  return `${Date.parse(expiresAt) <= Date.now() ? "expired" : "expires"} ${expiresAt}`;
}

function describeLimit({ spending_limit: limit }: PrintedKey): string {
  return limit ? `${limit.used_usd} of ${limit.amount_usd} USD (${limit.reset})` : "none";
}
