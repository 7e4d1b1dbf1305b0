import { DAY_MS } from "../../domain/id-time.ts";
import { LedgerError } from "../ledger.ts";
import { type ReceiptFilter, USAGE_WALLETS_MAX, type UsageQuery } from "../records.ts";
import { type Coverage, ceilOf, isEmpty, NO_TOTALS_MS, type TimeRange } from "./coverage.ts";
import { isStorable, type Values } from "./query.ts";

export type RollUpTable = "usage_hours" | "usage_days" | TotalsTable | "usage_scope_days";

/** The tables of the sums of all wallets and keys. */
export type TotalsTable = "usage_total_hours" | "usage_total_days";

export function isOfTotals(table: RollUpTable): table is TotalsTable {
  return table === "usage_total_hours" || table === "usage_total_days";
}

export function isOfDays(table: RollUpTable): boolean {
  return table !== "usage_hours" && table !== "usage_total_hours";
}

/** A part of a range that is summed from one table. */
export interface RollUpPart {
  readonly table: RollUpTable;
  readonly range: TimeRange;
}

/** Splits the hours and days of a coverage: a query that needs no wallet and no key takes totals. */
export function partsOf(query: UsageQuery, { hours, days, totalsFromMs }: Coverage): readonly RollUpPart[] {
  const fromMs = isInTotals(query) ? totalsFromMs : NO_TOTALS_MS;
  return [
    ...splitRanges(hours, fromMs, ["usage_hours", "usage_total_hours"]),
    ...splitRanges(days, ceilOf(fromMs, DAY_MS), ["usage_days", "usage_total_days"]),
  ];
}

function splitRanges(
  ranges: readonly TimeRange[],
  atMs: number,
  [before, after]: readonly [RollUpTable, RollUpTable],
): readonly RollUpPart[] {
  return ranges
    .flatMap(({ fromMs, toMs }) => [
      { table: before, range: { fromMs, toMs: Math.min(toMs, atMs) } },
      { table: after, range: { fromMs: Math.max(fromMs, atMs), toMs } },
    ])
    .filter(({ range }) => !isEmpty(range));
}

/** Whether the totals of all wallets have what a query selects and groups by. */
function isInTotals({ walletId, walletIds, keyId, groupBy }: UsageQuery): boolean {
  const needsAll = walletId === undefined && walletIds === undefined && keyId === undefined;
  return needsAll && !groupBy.includes("wallet") && !groupBy.includes("key");
}

/** Returns the table and the conditions that select the wallets of a query, and the column to group them by. */
export function walletsOf(
  table: RollUpTable,
  { walletId, walletIds }: Pick<UsageQuery, "walletId" | "walletIds">,
  values: Values,
) {
  const wallet = "wallet_id";
  if (isOfTotals(table)) return { from: table, conditions: [], wallet };
  if (walletId !== undefined)
    return { from: table, conditions: [`wallet_id = ${values.add(walletId)}`], wallet };
  const among = walletIds ? `WHERE wallet_id IN (${addAll(walletIds, values)})` : "";
  // By wallet, because the table is sorted by wallet first.
  const from = `(SELECT wallet_id AS owner FROM wallets ${among}) AS w CROSS JOIN ${table}`;
  // SQLite knows the order of the owners alone, and would sort all rows by the other column.
  return { from, conditions: ["wallet_id = owner"], wallet: "owner" };
}

export function addAll(texts: readonly string[], values: Values): string {
  return texts.map((text) => values.add(text)).join(", ");
}

type RollUpCondition = "keyId" | "model" | "upstream" | "outcome" | "failed";

/** Returns the conditions of a filter on the columns of a roll-up. */
export function rollUpConditions(
  { keyId, model, upstream, outcome, failed }: Pick<ReceiptFilter, RollUpCondition>,
  values: Values,
): readonly string[] {
  const conditions: string[] = [];
  if (failed) conditions.push("outcome <> 'ok'");
  for (const [column, text] of Object.entries({ key_id: keyId, model, upstream, outcome })) {
    if (text !== undefined) conditions.push(`${column} = ${values.add(text)}`);
  }
  return conditions;
}

/** Throws `invalid_query` for wallets that cannot be selected. */
export function checkWallets({ walletId, walletIds }: UsageQuery): void {
  if (walletIds === undefined) return;
  const isList = walletIds.length > 0 && walletIds.length <= USAGE_WALLETS_MAX;
  if (walletId !== undefined || !isList || !walletIds.every(isStorable))
    throw new LedgerError("invalid_query");
}
