// The statement of a month as one page: every sum of it, and what the charges were for.
import type { Database } from "../db/database.ts";
import { CREDIT_SOURCES, type CreditSource } from "../domain/credit.ts";
import type { Nanos } from "../domain/money.ts";
import type { Month } from "../domain/month.ts";
import { GatewayError } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { CreditTotal } from "../ledger/records.ts";
import { platform } from "../platform.ts";
import { type ChargebackLine, readProjectsAndKeys } from "./chargeback.ts";
import { type Move, readMoves } from "./month-moves.ts";

export interface SheetParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "transfers" | "transferTotals" | "creditTotals">;
  /** Unix milliseconds. */
  readonly now: () => number;
}

export interface SheetRequest {
  readonly account: { readonly id: string; readonly createdAtMs: number };
  readonly month: Month;
}

/** What credits of one source were granted, or lost at their ends. */
export interface SourceSum {
  readonly source: CreditSource;
  readonly amount: Nanos;
  readonly transfers: number;
}

/**
 * The statement of a month. `closing` = `opening` + what was granted + `returned` − `charged` + `refunded` − what
 * expired − `reversed` − `corrected`. The charges of all projects are `charged`, and so are those of all keys.
 */
export interface MonthSheet {
  readonly month: Month;
  /** Transfers before this time are part of it: that of the month's end, or while it is running of the read. */
  readonly toMs: number;
  readonly isRunning: boolean;
  readonly opening: Nanos;
  readonly closing: Nanos;
  /** By source, without what was given back. */
  readonly granted: readonly SourceSum[];
  readonly charged: Nanos;
  readonly refunded: Nanos;
  readonly expired: readonly SourceSum[];
  /** Payments that their payers have back: refunds and disputes. */
  readonly reversed: Nanos;
  /** What reversals took and gave back: won disputes, and refunds that failed. */
  readonly returned: Nanos;
  /** Corrections by operators. */
  readonly corrected: Nanos;
  readonly projects: readonly ChargebackLine[];
  readonly keys: readonly ChargebackLine[];
  /** Every correction, reversal and return, the oldest first. */
  readonly moves: readonly Move[];
  readonly transfers: number;
}

/** How often the sums are read while transfers come in between. */
const ATTEMPTS_MAX = 8;
const PAUSE_MS = 25;

/**
 * Reads the statement of a month. It is several sums of the ledger: those of a running month are read again until they
 * agree. Rejects with `conflict` where they never do, because a clock of another process is ahead.
 */
export async function readMonthSheet(
  parts: SheetParts,
  { account, month }: SheetRequest,
): Promise<MonthSheet> {
  const nowMs = parts.now();
  const toMs = Math.max(month.fromMs, Math.min(month.toMs, nowMs + 1));
  const cut = { name: month.name, fromMs: month.fromMs, toMs };
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const sums = await readSums(parts, account, cut);
    if (agree(sums)) return { ...sheetOf(sums), month, toMs, isRunning: nowMs < month.toMs };
    await platform.sleep(PAUSE_MS);
  }
  throw new GatewayError("conflict", { message: "The wallet changes too fast: ask again in a moment." });
}

interface Sums extends Awaited<ReturnType<typeof readProjectsAndKeys>> {
  readonly credits: readonly CreditTotal[];
  readonly moves: readonly Move[];
}

async function readSums(parts: SheetParts, account: SheetRequest["account"], month: Month): Promise<Sums> {
  const { fromMs, toMs } = month;
  const [charges, credits, moves] = await Promise.all([
    readProjectsAndKeys(parts, { account, month }),
    parts.ledger.creditTotals({ walletId: account.id, fromMs, toMs }),
    readMoves(parts, account.id, month),
  ]);
  return { ...charges, credits, moves };
}

/** Whether all sums are of the same transfers. */
function agree({ byProject: { total }, credits, moves }: Sums): boolean {
  const taken = moves.reduce((sum, { kind, line }) => (kind === "return" ? sum : sum + line.amount), 0n);
  return (
    sumOf(credits, ({ granted }) => granted) === total.toppedUp &&
    sumOf(credits, ({ expired }) => expired) === total.expired &&
    taken === total.other
  );
}

function sheetOf({ byProject, byKey, credits, moves }: Sums) {
  const { opening, closing, total } = byProject;
  const amountOf = (kind: Move["kind"]) =>
    sumOf(moves, (move) => (move.kind === kind ? move.line.amount : 0n));
  const returned = amountOf("return");
  const returns = moves.filter(({ kind }) => kind === "return").length;
  return {
    opening,
    closing,
    granted: bySource(credits, ({ source, granted, grants }) =>
      // What is given back is booked as a purchase.
      source === "purchase"
        ? { amount: granted - returned, transfers: grants - returns }
        : { amount: granted, transfers: grants },
    ),
    charged: total.charged,
    refunded: total.refunded,
    expired: bySource(credits, ({ expired, ends }) => ({ amount: expired, transfers: ends })),
    reversed: -amountOf("reversal"),
    returned,
    corrected: -amountOf("correction"),
    projects: byProject.lines.filter(isOfRequests),
    keys: byKey.lines.filter(isOfRequests),
    moves,
    transfers: total.transfers,
  };
}

function isOfRequests({ charged, refunded }: ChargebackLine): boolean {
  return charged !== 0n || refunded !== 0n;
}

function bySource(
  credits: readonly CreditTotal[],
  sumIn: (total: CreditTotal) => Omit<SourceSum, "source">,
): readonly SourceSum[] {
  return CREDIT_SOURCES.flatMap((source) => {
    const total = credits.find((each) => each.source === source);
    const sum = total && sumIn(total);
    return sum && sum.transfers > 0 ? [{ source, ...sum }] : [];
  });
}

export function sumOf<Item>(items: readonly Item[], amountOf: (item: Item) => Nanos): Nanos {
  return items.reduce((sum, item) => sum + amountOf(item), 0n);
}
