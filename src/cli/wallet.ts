import { findReasons } from "../payments/bookings.ts";
import { printOverview, readOverview } from "../payments/overview.ts";
import { printHold, printTransfer } from "../payments/wallet-lines.ts";
import type { CommandResult } from "./command.ts";
import { printTable } from "./printing.ts";
import { requireAccount, type Storage } from "./storage.ts";

export interface WalletOptions {
  readonly account: string;
}

/** Transfers and running holds that are shown. */
const SHOWN_MAX = 10;

/** Shows posted − held + credit = available, the latest transfers and the oldest running holds. */
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
  const corrections = transfers.items.filter(({ kind }) => kind === "correction");
  const ids = corrections.map(({ transferId }) => transferId);
  const reasons = await findReasons(database, account.id, ids);
  const lines = transfers.items.map((line) => printTransfer(line, reasons.get(line.transferId)));
  const running = holds.items.map(printHold);
  return {
    json: { account_id: account.id, name: account.name, ...printed, transfers: lines, holds: running },
    text: [
      `Wallet of account ${account.name} (${account.id})`,
      printEquation(printed),
      printSpending(printed),
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
  const { spent_today_usd: today, spent_month_usd: month, runway_days: days, state } = overview;
  const runway = days === null ? "" : ` It lasts for about ${days} days at the rate of the last 7.`;
  const frozen = state === "frozen" ? " The wallet is frozen: it takes no new requests." : "";
  return `Spent ${today} USD today and ${month} USD this month (UTC).${runway}${frozen}`;
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
