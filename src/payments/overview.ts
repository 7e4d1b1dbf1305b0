import { DAY_MS, HOUR_MS, printTime } from "../domain/id-time.ts";
import { type Nanos, printUsd } from "../domain/money.ts";
import { monthOf } from "../domain/month.ts";
import { type Ledger, LedgerError } from "../ledger/ledger.ts";
import { CREDITS_SHOWN_MAX, isSpendable, printCredit } from "../ledger/print-credit.ts";
import {
  type Credit,
  type JournalLine,
  type JournalTotals,
  PAGE_SIZE_MAX,
  type RunningHold,
  type RunningTotals,
  type WalletSummary,
} from "../ledger/records.ts";

/** What a wallet's page shows: posted − held + credit = available, and what moves them. */
interface WalletOverview {
  /** The terms of the equation, all of one moment. */
  readonly wallet: WalletSummary;
  readonly running: Pick<RunningTotals, "count"> & { readonly oldestCreatedAtMs: number | undefined };
  /** Charges less refunds of the requests since midnight UTC. */
  readonly spentToday: Nanos;
  /** Charges less refunds of the requests since the month began in UTC. */
  readonly spentMonth: Nanos;
  /** Days until nothing is available at the rate of the last 7 days; `undefined` without spending. */
  readonly runwayDays: number | undefined;
  readonly totals: JournalTotals;
  /** Those that can be spent, in the order of spending. */
  readonly credits: readonly Credit[];
}

const RATE_DAYS = 7;
const TENTHS = 10n;

/** Rejects with `wallet_not_found`. */
export async function readOverview(
  ledger: Pick<Ledger, "wallet" | "runningTotals" | "usage" | "journalTotals" | "credits">,
  walletId: string,
  nowMs: number,
): Promise<WalletOverview> {
  const spentSince = async (fromMs: number) => {
    const { rows } = await ledger.usage({ walletId, fromMs, groupBy: [] });
    return rows.reduce((sum, { captured, refunded }) => sum + captured - refunded, 0n);
  };
  const dayMs = nowMs - (nowMs % DAY_MS);
  // Whole hours, which are summed up in advance.
  const rateFromMs = nowMs - (nowMs % HOUR_MS) - RATE_DAYS * DAY_MS;
  const [wallet, [running], totals, credits, spentToday, spentMonth, spentWeek] = await Promise.all([
    ledger.wallet(walletId),
    ledger.runningTotals(walletId),
    ledger.journalTotals(walletId, { derivesCharged: true }),
    ledger.credits(walletId, { size: PAGE_SIZE_MAX }, { isLive: true }),
    spentSince(dayMs),
    spentSince(monthOf(nowMs).fromMs),
    spentSince(rateFromMs),
  ]);
  if (!wallet) throw new LedgerError("wallet_not_found");
  const spanMs = Math.max(DAY_MS, nowMs - Math.max(rateFromMs, wallet.createdAtMs));
  const { available } = wallet.balances;
  return {
    wallet,
    running: { count: running?.count ?? 0, oldestCreatedAtMs: running?.oldestCreatedAtMs },
    spentToday,
    spentMonth,
    runwayDays: runwayOf({ available, spent: spentWeek, spanMs }),
    totals,
    credits: credits.items.filter(isSpendable),
  };
}

/** Days with one decimal, rounded down. `spent` is the spending of the last `spanMs`. */
export function runwayOf(rate: {
  readonly available: Nanos;
  readonly spent: Nanos;
  readonly spanMs: number;
}): number | undefined {
  const { available, spent, spanMs } = rate;
  if (spent <= 0n) return undefined;
  if (available <= 0n) return 0;
  return Number((available * BigInt(spanMs) * TENTHS) / (spent * BigInt(DAY_MS))) / Number(TENTHS);
}

/** Converts an overview to JSON, for the console and the command line. */
export function printOverview({ wallet, running, totals, credits, ...spending }: WalletOverview) {
  const { balances, creditLimit, state } = wallet;
  return {
    posted_usd: printUsd(balances.posted),
    held_usd: printUsd(balances.held),
    credit_usd: printUsd(creditLimit),
    available_usd: printUsd(balances.available),
    running: running.count,
    oldest_hold_at: printTime(running.oldestCreatedAtMs),
    spent_today_usd: printUsd(spending.spentToday),
    spent_month_usd: printUsd(spending.spentMonth),
    runway_days: spending.runwayDays ?? null,
    totals: {
      topped_up_usd: printUsd(totals.toppedUp),
      charged_usd: printUsd(totals.charged),
      refunded_usd: printUsd(totals.refunded),
      expired_usd: printUsd(totals.expired),
    },
    credits: credits.slice(0, CREDITS_SHOWN_MAX).map(printCredit),
    next_end: printNextEnd(credits),
    state,
  };
}

/** What the next end of a credit takes off, unless it is spent before. Credits of one end are spent in a row. */
function printNextEnd(credits: readonly Credit[]) {
  const at = credits[0]?.expiresAtMs;
  if (at === undefined) return null;
  const ending = credits.filter(({ expiresAtMs }) => expiresAtMs === at);
  return { at: printTime(at), amount_usd: printUsd(ending.reduce((sum, { left }) => sum + left, 0n)) };
}

/** Converts a transfer to JSON, for the console and the command line, with what it says beside its id. */
export function printTransfer(line: JournalLine, reason?: string) {
  return {
    seq: line.seq,
    at: printTime(line.createdAtMs),
    kind: line.kind,
    id: line.transferId,
    amount_usd: printUsd(line.amount),
    balance_after_usd: printUsd(line.postedAfter),
    request_id: line.holdId ?? null,
    reason: reason ?? null,
  };
}

/** Converts a running hold to JSON, for the console and the command line. */
export function printHold(hold: RunningHold) {
  return {
    request_id: hold.holdId,
    key_id: hold.keyId,
    model: hold.model,
    granted_usd: printUsd(hold.granted),
    accrued_usd: printUsd(hold.accrued),
    created_at: printTime(hold.createdAtMs),
    expires_at: printTime(hold.expiresAtMs),
  };
}
