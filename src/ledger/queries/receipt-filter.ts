import { firstIdOf, ID_TIME_MAX } from "../../domain/id-time.ts";
import { LedgerError } from "../ledger.ts";
import type { ReceiptFilter } from "../records.ts";
import { type Dialect, isStorable, type Values } from "./query.ts";

/** The columns that a filter compares with a text. */
const TEXT_COLUMNS = {
  keyId: "key_id",
  surface: "surface",
  model: "model",
  upstream: "upstream",
  state: "state",
  outcome: "outcome",
} as const satisfies Partial<Record<keyof ReceiptFilter, string>>;

const STATES: ReadonlySet<string> = new Set(["held", "settled", "released", "expired"]);

/**
 * Returns the SQL conditions of a filter over `holds`. A time range becomes a range of ids, which the primary
 * key serves. Throws `invalid_query`.
 */
export function conditionsOf(filter: ReceiptFilter, values: Values, { member }: Dialect): readonly string[] {
  if (filter.state !== undefined && !STATES.has(filter.state)) throw new LedgerError("invalid_query");
  const conditions: string[] = [];
  if (filter.walletId !== undefined) conditions.push(`wallet_id = ${values.add(storable(filter.walletId))}`);
  if (filter.fromMs !== undefined) conditions.push(`hold_id >= ${values.add(boundOf(filter.fromMs))}`);
  if (filter.toMs !== undefined) conditions.push(`hold_id < ${values.add(boundOf(filter.toMs))}`);
  for (const [name, column] of Object.entries(TEXT_COLUMNS)) {
    // Safe because the keys of TEXT_COLUMNS are text fields of a filter.
    const text = filter[name as keyof typeof TEXT_COLUMNS];
    if (text !== undefined) conditions.push(`${column} = ${values.add(storable(text))}`);
  }
  if (filter.metadata) {
    const name = values.add(storable(filter.metadata.name));
    const text = `coalesce(${member("settle_metadata", name)}, ${member("metadata", name)})`;
    conditions.push(`${text} = ${values.add(storable(filter.metadata.value))}`);
  }
  return conditions;
}

/** Returns a text that can be in the database. Throws `invalid_query` for any other. */
function storable(text: string): string {
  if (!isStorable(text)) throw new LedgerError("invalid_query");
  return text;
}

/** Returns the smallest id of a millisecond. Throws `invalid_query` when no id can have the time. */
function boundOf(atMs: number): string {
  if (!Number.isInteger(atMs) || atMs < 0 || atMs > ID_TIME_MAX) throw new LedgerError("invalid_query");
  return firstIdOf(atMs);
}
