import { listAccounts } from "../accounts/accounts.ts";
import { printCsvRow } from "../domain/csv.ts";
import { printUsd } from "../domain/money.ts";
import { addMonths, type MonthEnd, sumMonth } from "../payments/month-end.ts";
import { type Month, readMonth } from "../payments/statement.ts";
import { CommandError, type CommandResult } from "./command.ts";
import { printTable } from "./printing.ts";
import { requireAccount, type Storage } from "./storage.ts";

export interface StatementOptions {
  /** "2026-11". Default: the month before this one, in UTC. */
  readonly month?: string;
  /** Id or name. Default: every account. */
  readonly account?: string;
  readonly csv?: boolean;
}

/** Shows the opening, the transfers by kind and the closing of a month, per account and over all of them. */
export async function runStatement(
  { database, ledger }: Storage,
  { month: name, account, csv = false }: StatementOptions,
  now: () => number = Date.now,
): Promise<CommandResult> {
  const month = parseMonth(name ?? lastMonth(now()));
  const accounts =
    account === undefined ? await listAccounts(database) : [await requireAccount(database, account)];
  const ends: (MonthEnd & { readonly id: string; readonly name: string })[] = [];
  // One after the other: a month may have millions of transfers.
  for (const { id, name: title } of accounts)
    ends.push({ id, name: title, ...(await sumMonth(ledger, id, month)) });
  const rows = ends.map((end) => ({ account_id: end.id, account: end.name, ...printEnd(end) }));
  const total = printEnd(addMonths(ends));
  const json = { month: month.name, is_running: now() < month.toMs, accounts: rows, total };
  const table = [...rows, { account_id: "", account: "total", ...total }].map((row) =>
    Object.values(row).map(String),
  );
  if (csv) {
    const titles = ["account_id", "account", ...Object.keys(total)];
    return { json, text: [titles, ...table].map(printCsvRow).join("").trimEnd() };
  }
  const running = json.is_running ? "\nThe month is not over: its closing is that of now." : "";
  return { json, text: `${printTable(TITLES, table)}${running}` };
}

const TITLES = [
  "ACCOUNT ID",
  "ACCOUNT",
  "OPENING USD",
  "TOPPED UP USD",
  "CHARGED USD",
  "REFUNDED USD",
  "OTHER USD",
  "CLOSING USD",
  "TRANSFERS",
];

function printEnd(end: MonthEnd) {
  return {
    opening_usd: printUsd(end.opening),
    topped_up_usd: printUsd(end.toppedUp),
    charged_usd: printUsd(end.charged),
    refunded_usd: printUsd(end.refunded),
    other_usd: printUsd(end.other),
    closing_usd: printUsd(end.closing),
    transfers: end.transfers,
  };
}

function parseMonth(name: string): Month {
  try {
    return readMonth(name);
  } catch (error) {
    if (error instanceof RangeError) throw new CommandError("Expected a month such as 2026-11.", 2);
    throw error;
  }
}

function lastMonth(nowMs: number): string {
  const date = new Date(nowMs);
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - 1)).toISOString().slice(0, 7);
}
