// Granted and expired credit of all wallets by month.
import { DAY_MS } from "../domain/id-time.ts";
import type { Month } from "../domain/month.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { CreditTotal } from "../ledger/records.ts";

/** What was granted and what expired in a month, by source. */
export interface CreditMonth {
  readonly month: Month;
  readonly totals: readonly CreditTotal[];
}

/** Transfers of a month may come so late, where clocks of processes differ. */
const SETTLED_MS = 3 * DAY_MS;

type CreditReads = Pick<Ledger, "creditTotals">;

/** Reads months. Those that are over for 3 days never change, and are read once. */
export function createCreditMonths({ ledger }: { readonly ledger: CreditReads }) {
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
