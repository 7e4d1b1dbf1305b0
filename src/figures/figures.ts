// The operator's figures: recurring revenue, granted and expired credit, and margins of plans.

import type { Database } from "../db/database.ts";
import { CREDIT_SOURCES } from "../domain/credit.ts";
import { DAY_MS, printTime } from "../domain/id-time.ts";
import { type Nanos, printUsd } from "../domain/money.ts";
import { type Month, monthOf } from "../domain/month.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { CreditTotal } from "../ledger/records.ts";
import { isLive, readLived } from "../plans/reads.ts";
import { marginOf, type PlanMargin, readMargins } from "./margins.ts";
import { type PlanRevenue, revenueAt, revenueByPlan } from "./revenue.ts";

/** Months that are shown, with the running one. */
const MONTHS = 6;

export interface FigureParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "creditTotals" | "usage">;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Creates the reader of the figures, which keeps what past months granted. */
export function createFigures(parts: FigureParts) {
  const credits = createCreditMonths(parts);
  return {
    async read() {
      const nowMs = parts.now();
      const months = Array.from({ length: MONTHS }, (_, back) => monthOf(nowMs, back));
      const lived = readLived(parts.database, months.at(-1)?.fromMs ?? nowMs);
      const [creditMonths, subscriptions, margins] = await Promise.all([
        credits.read(months, nowMs),
        lived,
        lived.then((all) => readMargins(parts.ledger, all.filter(isLive), monthOf(nowMs))),
      ]);
      const live = subscriptions.filter(isLive);
      const plans = revenueByPlan(live);
      const monthly = plans.reduce((sum, each) => sum + each.monthly, 0n);
      return {
        at: printTime(nowMs),
        revenue: {
          monthly_usd: printUsd(monthly),
          plans: plans.map(printPlan),
          months: months.slice(0, -1).map((month) => ({
            month: month.name,
            // At its beginning, so that the running month has one too.
            monthly_usd: printUsd(revenueAt(subscriptions, month.fromMs)),
          })),
        },
        credit: creditMonths.map(printCreditMonth),
        margins: margins.map(printMargin),
      };
    },
  };
}

function printPlan({ planId, name, active, paused, cancelling, monthly }: PlanRevenue) {
  return { plan: planId, name, active, paused, cancelling, monthly_usd: printUsd(monthly) };
}

function printCreditMonth({ month, totals }: CreditMonth) {
  const sum = (amountOf: (total: CreditMonth["totals"][number]) => Nanos) =>
    printUsd(totals.reduce((amount, total) => amount + amountOf(total), 0n));
  const sources = CREDIT_SOURCES.flatMap((source) => totals.filter((total) => total.source === source));
  return {
    month: month.name,
    granted_usd: sum(({ granted }) => granted),
    expired_usd: sum(({ expired }) => expired),
    sources: sources.map(({ source, granted, expired }) => ({
      source,
      granted_usd: printUsd(granted),
      expired_usd: printUsd(expired),
    })),
  };
}

function printMargin(line: PlanMargin) {
  return {
    plan: line.planId ?? null,
    accounts: line.accounts ?? null,
    requests: line.requests,
    charged_usd: printUsd(line.charged),
    costed_usd: printUsd(line.costed),
    upstream_cost_usd: printUsd(line.upstreamCost),
    margin_usd: printUsd(marginOf(line)),
  };
}

/** What was granted and what expired in a month, by source. */
interface CreditMonth {
  readonly month: Month;
  readonly totals: readonly CreditTotal[];
}

/** Transfers of a month may come so late, where clocks of processes differ. */
const SETTLED_MS = 3 * DAY_MS;

type CreditReads = Pick<Ledger, "creditTotals">;

/** Reads months. Those that are over for 3 days never change, and are read once. */
function createCreditMonths({ ledger }: { readonly ledger: CreditReads }) {
  const kept = new Map<string, readonly CreditTotal[]>();
  const read = async (month: Month, nowMs: number): Promise<CreditMonth> => {
    const known = kept.get(month.name);
    if (known) return { month, totals: known };
    const totals = await ledger.creditTotals({ fromMs: month.fromMs, toMs: month.toMs });
    if (nowMs >= month.toMs + SETTLED_MS) kept.set(month.name, totals);
    return { month, totals };
  };
  return {
    async read(months: readonly Month[], nowMs: number): Promise<readonly CreditMonth[]> {
      for (const name of kept.keys()) if (!months.some((month) => month.name === name)) kept.delete(name);
      return Promise.all(months.map((month) => read(month, nowMs)));
    },
  };
}
