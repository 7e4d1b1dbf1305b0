import { LedgerError, type ReceiptFilter } from "../ledger.ts";
import type { Values } from "./query.ts";
import { isStorable } from "./text.ts";

/** Unix milliseconds have 48 bits in an id. */
const TIME_MS_MAX = 2 ** 48 - 1;

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
 * The conditions of a filter over `holds`. A range of time is a range of ids, which the primary key
 * serves. Throws `invalid_query`.
 */
export function printFilter(filter: ReceiptFilter, values: Values): readonly string[] {
  if (!isStorable(filter.walletId)) throw new LedgerError("invalid_query");
  if (filter.state !== undefined && !STATES.has(filter.state)) throw new LedgerError("invalid_query");
  const conditions = [`wallet_id = ${values.add(filter.walletId)}`];
  if (filter.fromMs !== undefined) conditions.push(`hold_id >= ${values.add(firstIdOf(filter.fromMs))}`);
  if (filter.toMs !== undefined) conditions.push(`hold_id < ${values.add(firstIdOf(filter.toMs))}`);
  for (const [name, column] of Object.entries(TEXT_COLUMNS)) {
    // Safe because the table names nothing but texts of a filter.
    const text = filter[name as keyof typeof TEXT_COLUMNS];
    if (text === undefined) continue;
    if (!isStorable(text)) throw new LedgerError("invalid_query");
    conditions.push(`${column} = ${values.add(text)}`);
  }
  return conditions;
}

/** The least id of a millisecond. */
function firstIdOf(atMs: number): string {
  if (!Number.isInteger(atMs) || atMs < 0 || atMs > TIME_MS_MAX) throw new LedgerError("invalid_query");
  const digits = atMs.toString(16).padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`;
}
