import { type Account, listAccounts } from "../accounts/accounts.ts";
import { type Cell, printCsv, printCsvRow } from "../domain/csv.ts";
import { printUsd } from "../domain/money.ts";
import { type Month, monthOf, readMonth } from "../domain/month.ts";
import {
  CHARGEBACK_COLUMNS,
  type ChargebackKind,
  chargebackRows,
  printChargeback,
  readChargeback,
} from "../payments/chargeback.ts";
import { addMonths, type MonthEnd, sumMonth } from "../payments/month-end.ts";
import { printHold, printOverview, printTransfer, readOverview } from "../payments/overview.ts";
import { findTransferNotes } from "../payments/transfer-notes.ts";
import { CommandError, type CommandResult } from "./command.ts";
import { printTable } from "./printing.ts";
import { showSheet } from "./sheet.ts";
import { requireAccount, type Storage } from "./storage.ts";

export interface WalletOptions {
  readonly account: string;
}

/** Transfers and running holds that are shown. */
const SHOWN_MAX = 10;

/** Shows posted − held + credit = available, the credits, the latest transfers and the oldest running holds. */
export async function runWallet(
  { database, ledger }: Storage,
  options: WalletOptions,
  now: () => number = Date.now,
): Promise<CommandResult> {
  const account = await requireAccount(database, options.account);
  const [overview, transfers, holds] = await Promise.all([
    readOverview(ledger, account.id, now()),
    ledger.transfers(account.id, { size: SHOWN_MAX }),
    ledger.runningHolds(account.id, { size: SHOWN_MAX }),
  ]);
  const printed = printOverview(overview);
  const notes = await findTransferNotes({ database, ledger }, account.id, transfers.items);
  const lines = transfers.items.map((line) => printTransfer(line, notes.get(line.transferId)));
  const running = holds.items.map(printHold);
  return {
    json: { account_id: account.id, name: account.name, ...printed, transfers: lines, holds: running },
    text: [
      `Wallet of account ${account.name} (${account.id})`,
      printEquation(printed),
      printSpending(printed),
      ...(printed.credits.length > 0 ? [printCredits(printed.credits)] : []),
      printTransfers(lines),
      ...(running.length > 0 ? [printHolds(running)] : []),
    ].join("\n\n"),
  };
}

type PrintedOverview = ReturnType<typeof printOverview>;

function printEquation(overview: PrintedOverview): string {
  const { running, oldest_hold_at: oldest } = overview;
  const holds = running === 0 ? "" : `  (${running} running, oldest since ${oldest})`;
  const terms = [
    ["  posted", overview.posted_usd],
    ["− held", `${overview.held_usd}`],
    ["+ credit", overview.credit_usd],
    ["= available", overview.available_usd],
  ] as const;
  const width = Math.max(...terms.map(([, amount]) => amount.length));
  const rows = terms.map(([name, amount]) => `${name.padEnd(12)}${amount.padStart(width)} USD`);
  return rows.map((row, index) => (index === 1 ? row + holds : row)).join("\n");
}

function printSpending(overview: PrintedOverview): string {
  const {
    spent_today_usd: today,
    spent_month_usd: month,
    runway_days: days,
    next_end: end,
    state,
  } = overview;
  const runway = days === null ? "" : ` It lasts for about ${days} days at the rate of the last 7.`;
  const frozen = state === "frozen" ? " The wallet is frozen: it takes no new requests." : "";
  const ending = end ? ` ${end.amount_usd} USD end at ${end.at} unless they are spent before.` : "";
  return `Spent ${today} USD today and ${month} USD this month (UTC).${runway}${ending}${frozen}`;
}

function printCredits(credits: PrintedOverview["credits"]): string {
  const rows = credits.map((credit) => [
    credit.expires_at ?? "never",
    credit.source,
    credit.id,
    credit.left_usd,
    credit.amount_usd,
  ]);
  return printTable(["ENDS", "CREDIT", "ID", "LEFT USD", "OF USD"], rows);
}

function printTransfers(lines: readonly ReturnType<typeof printTransfer>[]): string {
  const rows = lines.map((line) => [line.at, line.kind, line.id, line.amount_usd, line.balance_after_usd]);
  return printTable(["TIME", "TRANSFER", "ID", "USD", "POSTED USD"], rows);
}

function printHolds(holds: readonly ReturnType<typeof printHold>[]): string {
  const rows = holds.map((hold) => [
    hold.created_at,
    hold.request_id,
    hold.model,
    hold.granted_usd,
    hold.accrued_usd,
  ]);
  return printTable(["RUNNING SINCE", "REQUEST", "MODEL", "HELD USD", "ACCRUED USD"], rows);
}

export interface StatementOptions {
  /** "2026-11". Default: the month before this one, in UTC. */
  readonly month?: string;
  /** Id or name. Default: every account. */
  readonly account?: string;
  readonly csv?: boolean;
  /** Splits the statement of each account. */
  readonly by?: ChargebackKind;
  /** Shows all of one account's month. */
  readonly sheet?: boolean;
}

/** Shows the opening, the transfers by kind and the closing of a month, per account and over all of them. */
export async function runStatement(
  { database, ledger }: Storage,
  { month: name, account, csv = false, by, sheet = false }: StatementOptions,
  now: () => number = Date.now,
): Promise<CommandResult> {
  const month = name === undefined ? monthOf(now(), 1) : parseMonth(name);
  const accounts =
    account === undefined ? await listAccounts(database) : [await requireAccount(database, account)];
  const [only] = accounts;
  if (sheet) {
    if (account === undefined || !only || by) {
      throw new CommandError("The option --sheet needs --account, and goes without --by.", 2);
    }
    return showSheet({ database, ledger }, { account: only, month, csv, now });
  }
  if (by) return showChargeback({ database, ledger }, { accounts, month, by, csv, nowMs: now() });
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
  "EXPIRED USD",
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
    expired_usd: printUsd(end.expired),
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

interface SplitStatement {
  readonly accounts: readonly Account[];
  readonly month: Month;
  readonly by: ChargebackKind;
  readonly csv: boolean;
  readonly nowMs: number;
}

/** Shows the statements of a month, split by project, member or key. */
async function showChargeback(
  storage: Storage,
  { accounts, month, by, csv, nowMs }: SplitStatement,
): Promise<CommandResult> {
  const statements = [];
  // One after the other: a month may have millions of transfers.
  for (const account of accounts) {
    const printed = printChargeback(await readChargeback(storage, { account, month, by }), nowMs);
    const { month: _, is_running: __, by: ___, ...sums } = printed;
    statements.push({ account_id: account.id, account: account.name, ...sums });
  }
  const is_running = nowMs < month.toMs;
  const json = { month: month.name, is_running, by, accounts: statements };
  const rows = statements.flatMap((each) =>
    chargebackRows(each).map((cells): readonly Cell[] => [each.account_id, each.account, ...cells]),
  );
  const titles = ["account_id", "account", ...CHARGEBACK_COLUMNS];
  if (csv) return { json, text: printCsv(titles, rows).trimEnd() };
  const running = is_running ? "\nThe month is not over: its closing is that of now." : "";
  const heads = titles.slice(1).map((title) => title.replaceAll("_", " ").toUpperCase());
  const table = rows.map((cells) => cells.slice(1).map((cell) => String(cell ?? "-")));
  return { json, text: `${printTable(heads, table)}${running}` };
}
