import { printCsvRow } from "../domain/csv.ts";
import { printTime } from "../domain/id-time.ts";
import { type Nanos, printUsd } from "../domain/money.ts";
import { type Month, monthOf } from "../domain/month.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type JournalLine, pagesOf } from "../ledger/records.ts";

type StatementReads = Pick<Ledger, "transfers">;

/** The sums of one month: `closing` is `opening` and all its lines, and the opening of the next month. */
export interface MonthSummary {
  readonly month: string;
  readonly opening: Nanos;
  readonly closing: Nanos;
  readonly lines: number;
}

/** A line of a statement. */
interface StatementLine {
  readonly line: JournalLine;
  /** The opening balance and all lines up to this one. */
  readonly balance: Nanos;
}

/** A statement being read: its opening, its lines in order, and after the last of them its closing. */
export interface Statement {
  readonly opening: Nanos;
  /** May be read once. Transfers that are booked after the statement was opened are not part of it. */
  lines(): AsyncGenerator<StatementLine>;
}

const PAGE_SIZE = 1_000;
/** Months that are listed at most: three years. */
const MONTHS_MAX = 36;

/** The transfers before a moment: how many there are, and their sum. */
interface Position {
  readonly lines: number;
  readonly balance: Nanos;
}

/**
 * Opens the statement of a month. A transfer belongs to the month of its own time, so that months add up
 * although clocks of several processes differ: the balance before a month is the sum of all transfers that
 * are older, not the balance that one of them recorded.
 */
export async function openStatement(
  ledger: StatementReads,
  walletId: string,
  month: Month,
): Promise<Statement> {
  const top = await findNewest(ledger, walletId);
  const { balance: opening } = await findPosition(ledger, walletId, { atMs: month.fromMs, top });
  async function* lines(): AsyncGenerator<StatementLine> {
    const { fromMs, toMs } = month;
    let balance = opening;
    for await (const line of readLines(ledger, walletId, { fromMs, toMs, order: "oldest_first" })) {
      if (line.seq > top) return;
      balance += line.amount;
      yield { line, balance };
    }
  }
  return { opening, lines };
}

/** Lists the months from the first transfer to now, newest first. A wallet without transfers has none. */
export async function listMonths(
  ledger: StatementReads,
  walletId: string,
  nowMs: number,
): Promise<readonly MonthSummary[]> {
  const { items } = await ledger.transfers(walletId, { size: 1 }, { order: "oldest_first" });
  const [first] = items;
  if (!first) return [];
  const top = await findNewest(ledger, walletId);
  const summaries: MonthSummary[] = [];
  let month = monthOf(Math.max(nowMs, first.createdAtMs));
  let after = await findPosition(ledger, walletId, { atMs: month.toMs, top });
  while (after.lines > 0 && summaries.length < MONTHS_MAX) {
    const before = await findPosition(ledger, walletId, { atMs: month.fromMs, top });
    const sums = { opening: before.balance, closing: after.balance, lines: after.lines - before.lines };
    summaries.push({ month: month.name, ...sums });
    after = before;
    month = monthOf(month.fromMs - 1);
  }
  return summaries;
}

async function findNewest(ledger: StatementReads, walletId: string): Promise<number> {
  const { items } = await ledger.transfers(walletId, { size: 1 });
  return items[0]?.seq ?? 0;
}

/** Sums the transfers up to number `top` that are older than a moment. */
async function findPosition(
  ledger: StatementReads,
  walletId: string,
  { atMs, top }: { readonly atMs: number; readonly top: number },
): Promise<Position> {
  const last = await findLastBefore(ledger, walletId, { atMs, top });
  if (!last) return { lines: 0, balance: 0n };
  let { seq: lines, postedAfter: balance } = last;
  // A clock behind the others: lower numbers may have later times. Nearly always the first line ends the loop.
  const later = readLines(ledger, walletId, { fromMs: atMs, order: "oldest_first" }, 1);
  for await (const line of later) {
    if (line.seq > last.seq) break;
    lines -= 1;
    balance -= line.amount;
  }
  return { lines, balance };
}

async function findLastBefore(
  ledger: StatementReads,
  walletId: string,
  { atMs, top }: { readonly atMs: number; readonly top: number },
): Promise<JournalLine | undefined> {
  for await (const line of readLines(ledger, walletId, { toMs: atMs }, 1)) {
    if (line.seq <= top) return line;
  }
  return undefined;
}

/** Reads the pages of a list of transfers, the first with `firstSize` lines. */
async function* readLines(
  ledger: StatementReads,
  walletId: string,
  range: Parameters<Ledger["transfers"]>[2],
  firstSize: number = PAGE_SIZE,
): AsyncGenerator<JournalLine> {
  const sizeOf = (token: string | undefined) => (token === undefined ? firstSize : PAGE_SIZE);
  const pages = pagesOf((token) => ledger.transfers(walletId, { size: sizeOf(token), token }, range));
  for await (const { items } of pages) yield* items;
}

const TITLES = ["time", "kind", "id", "request_id", "amount_usd", "balance_usd", "reason"];

interface StatementOptions {
  readonly nowMs: number;
  /** The reason of a correction, or of what gives it back; of the end of a credit, the credit's id. */
  noteOf(line: JournalLine): Promise<string | undefined>;
}

/**
 * Prints a statement as CSV, a piece per line: the opening balance, every transfer, the closing balance. The
 * amounts sum to closing − opening. A file without a closing line is incomplete.
 */
export async function* printStatement(
  month: Month,
  { opening, lines }: Statement,
  { nowMs, noteOf }: StatementOptions,
): AsyncGenerator<string> {
  yield printCsvRow(TITLES) + printBalance("opening", month.fromMs, opening);
  let closing = opening;
  let lastMs = nowMs;
  for await (const line of lines()) {
    closing = line.balance;
    lastMs = Math.max(lastMs, line.line.createdAtMs);
    yield printLine(line, await noteOf(line.line));
  }
  // A running month closes now; a line of another process's clock may be later.
  yield printBalance("closing", Math.min(month.toMs - 1, lastMs), closing);
}

function printBalance(kind: "opening" | "closing", atMs: number, balance: Nanos): string {
  return printCsvRow([printTime(atMs), kind, "", "", "", printUsd(balance), ""]);
}

function printLine({ line, balance }: StatementLine, reason = ""): string {
  const { createdAtMs, kind, transferId, holdId, amount } = line;
  const amounts = [printUsd(amount), printUsd(balance)];
  return printCsvRow([printTime(createdAtMs), kind, transferId, holdId ?? "", ...amounts, reason]);
}
