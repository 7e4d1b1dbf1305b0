// What wallets were charged, read from sums of usage.

import { chunksOf } from "../domain/chunks.ts";
import type { Nanos } from "../domain/money.ts";
import { type Ledger, LedgerError } from "../ledger/ledger.ts";
import { USAGE_WALLETS_MAX } from "../ledger/records.ts";
import type { UsageRow } from "../ledger/usage-records.ts";

/** Charges of requests in a range of time. */
export interface Spending {
  /** Charges less refunds. */
  readonly charged: Nanos;
  /** Of those whose upstream cost is known. */
  readonly costed: Nanos;
  readonly upstreamCost: Nanos;
  readonly requests: number;
}

export const NO_SPENDING: Spending = Object.freeze({
  charged: 0n,
  costed: 0n,
  upstreamCost: 0n,
  requests: 0,
});

type UsageReads = Pick<Ledger, "usage">;

interface Range {
  readonly fromMs: number;
  readonly toMs?: number | undefined;
}

/** Reads what each of these wallets was charged. */
export async function readSpending(
  ledger: UsageReads,
  walletIds: readonly string[],
  range: Range,
): Promise<ReadonlyMap<string, Spending>> {
  const query = { walletId: undefined, ...range, groupBy: ["wallet"], isMoneyOnly: true } as const;
  if (walletIds.length > USAGE_WALLETS_MAX) {
    const all = await ledger.usage(query).catch(undefinedWhereTooMany);
    if (all) return byWallet(all.rows);
  }
  const rows: UsageRow[] = [];
  for (const some of chunksOf(walletIds, USAGE_WALLETS_MAX))
    rows.push(...(await ledger.usage({ ...query, walletIds: some })).rows);
  return byWallet(rows);
}

/** The ledger reads at most 10,000 wallets at once. */
function undefinedWhereTooMany(fault: unknown): undefined {
  if (!(fault instanceof LedgerError) || fault.code !== "invalid_query") throw fault;
}

function byWallet(rows: readonly UsageRow[]): ReadonlyMap<string, Spending> {
  return new Map(rows.map((row) => [String(row.group.wallet), spendingOf(row)]));
}

/** Reads what all wallets were charged together. */
export async function readTotalSpending(ledger: UsageReads, range: Range): Promise<Spending> {
  const { rows } = await ledger.usage({ walletId: undefined, ...range, groupBy: [], isMoneyOnly: true });
  return rows.map(spendingOf).reduce(addSpending, NO_SPENDING);
}

function spendingOf({ captured, refunded, costed, upstreamCost, requests }: UsageRow): Spending {
  return { charged: captured - refunded, costed, upstreamCost, requests };
}

export function addSpending(one: Spending, other: Spending): Spending {
  return {
    charged: one.charged + other.charged,
    costed: one.costed + other.costed,
    upstreamCost: one.upstreamCost + other.upstreamCost,
    requests: one.requests + other.requests,
  };
}

export function lessSpending(one: Spending, other: Spending): Spending {
  return {
    charged: one.charged - other.charged,
    costed: one.costed - other.costed,
    upstreamCost: one.upstreamCost - other.upstreamCost,
    requests: one.requests - other.requests,
  };
}
