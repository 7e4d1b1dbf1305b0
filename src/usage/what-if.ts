import { findKeyNames } from "../accounts/find-items.ts";
import type { Database } from "../db/database.ts";
import { costOf, type Price } from "../domain/model.ts";
import type { Nanos } from "../domain/money.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { UsageRow } from "../ledger/usage-records.ts";
import type { Range } from "./view.ts";

/** What requests were charged, and what their tokens cost at other prices. */
export interface Compared {
  readonly requests: number;
  readonly actual: Nanos;
  readonly whatIf: Nanos;
}

interface KeyCompared extends Compared {
  readonly keyId: string;
  readonly keyName: string | undefined;
}

export interface PriceComparison {
  readonly total: Compared;
  /** The dearest first. */
  readonly byKey: readonly KeyCompared[];
}

interface ComparedUsage {
  readonly accountId: string;
  /** `undefined` compares all keys. */
  readonly keyId: string | undefined;
  readonly range: Range;
}

/**
 * Compares the charges of a range with those of the same tokens at other prices. The share of cached tokens is
 * kept; prices of long input and the rounding of each request are not applied.
 */
export async function comparePrices(
  { database, ledger }: { readonly database: Database; readonly ledger: Pick<Ledger, "usage"> },
  { accountId, keyId, range }: ComparedUsage,
  price: Price,
): Promise<PriceComparison> {
  const { rows } = await ledger.usage({ walletId: accountId, ...range, keyId, groupBy: ["key"] });
  const names = await findKeyNames(database, accountId, rows.map(keyOf));
  const keys = rows.map((row) => ({
    keyId: keyOf(row),
    keyName: names.get(keyOf(row)),
    ...compare(row, price),
  }));
  return {
    total: keys.reduce(add, { requests: 0, actual: 0n, whatIf: 0n }),
    byKey: keys.toSorted((one, other) => (one.actual < other.actual ? 1 : -1)),
  };
}

function keyOf({ group }: UsageRow): string {
  return String(group.key);
}

function compare({ requests, captured, refunded, usage }: UsageRow, price: Price): Compared {
  return { requests, actual: captured - refunded, whatIf: costOf(usage, price) };
}

function add(sum: Compared, { requests, actual, whatIf }: Compared): Compared {
  return {
    requests: sum.requests + requests,
    actual: sum.actual + actual,
    whatIf: sum.whatIf + whatIf,
  };
}
