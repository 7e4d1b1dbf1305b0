// What the accounts of each plan were charged, and what their requests cost upstream.
import type { Nanos } from "../domain/money.ts";
import type { Month } from "../domain/month.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Subscription } from "../plans/subscription.ts";
import {
  addSpending,
  lessSpending,
  NO_SPENDING,
  readSpending,
  readTotalSpending,
  type Spending,
} from "./spending.ts";

/** A plan, or the accounts without one. */
export interface PlanMargin extends Spending {
  /** `undefined` for accounts without a subscription. */
  readonly planId: string | undefined;
  readonly accounts: number | undefined;
}

/** Returns what is left of the charges whose upstream cost is known. */
export function marginOf({ costed, upstreamCost }: Spending): Nanos {
  return costed - upstreamCost;
}

/**
 * Reads the margins of a month, by the plan that each account has now, the dearest first. The accounts without a plan are
 * the rest: all lines together are the usage of all wallets.
 */
export async function readMargins(
  ledger: Pick<Ledger, "usage">,
  live: readonly Subscription[],
  month: Month,
): Promise<readonly PlanMargin[]> {
  const range = { fromMs: month.fromMs, toMs: month.toMs };
  const byPlan = Map.groupBy(live, ({ plan }) => plan.id);
  const ids = live.map(({ accountId }) => accountId).toSorted();
  const [total, spending] = await Promise.all([
    readTotalSpending(ledger, range),
    readSpending(ledger, ids, range),
  ]);
  const lines = [...byPlan].map(([planId, of]) => ({
    planId,
    accounts: of.length,
    ...of.map(({ accountId }) => spending.get(accountId) ?? NO_SPENDING).reduce(addSpending, NO_SPENDING),
  }));
  const rest = lines.reduce<Spending>(lessSpending, total);
  return [
    ...lines.toSorted((one, other) =>
      one.charged === other.charged ? 0 : one.charged < other.charged ? 1 : -1,
    ),
    { planId: undefined, accounts: undefined, ...rest },
  ];
}
