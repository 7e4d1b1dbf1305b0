import { firstIdOf, ID_TIME_MAX, isUuid } from "../../domain/id-time.ts";
import { parseItems, readItems } from "../../domain/items.ts";
import type { Price } from "../../domain/model.ts";
import { FILTER_SCOPES_MAX } from "../../domain/scope.ts";
import type { UnitName } from "../../domain/units.ts";
import type { Usage } from "../../domain/usage.ts";
import { readScopes } from "../core/spender.ts";
import { LedgerError } from "../ledger.ts";
import type { Attempt, ChargeSource, HoldState, OutcomeFacts, Receipt, ReceiptFilter } from "../records.ts";
import { createValues, type Dialect, isStorable, type Row, type RunQuery, type Values } from "./query.ts";
import { countsFor } from "./scope-columns.ts";

export function createReceiptRead(run: RunQuery, dialect: Dialect) {
  return async (walletId: string, holdId: string): Promise<Receipt | undefined> => {
    if (!isStorable(walletId) || !isUuid(holdId)) return undefined;
    const values = createValues(dialect);
    const sql = `SELECT ${receiptColumns(dialect)} FROM holds
      WHERE wallet_id = ${values.add(walletId)} AND hold_id = ${values.add(holdId)}`;
    const [row] = await run({ sql, values: values.all });
    return row && readReceipt(row);
  };
}

/** The most receipts of one id. */
const SAME_ID_MAX = 10;

export function createReceiptFind(run: RunQuery, dialect: Dialect) {
  return async (holdId: string): Promise<readonly Receipt[]> => {
    if (!isUuid(holdId)) return [];
    const values = createValues(dialect);
    const sql = `SELECT ${receiptColumns(dialect)} FROM holds WHERE hold_id = ${values.add(holdId)}
      ORDER BY wallet_id LIMIT ${SAME_ID_MAX}`;
    return (await run({ sql, values: values.all })).map(readReceipt);
  };
}

const RECEIPT_COLUMNS = `wallet_id, hold_id, key_id, state, late, granted, captured, refunded, created_at_ms, resolved_at_ms,
  surface, model, outcome, source, upstream, upstream_model, price_input, price_output, price_cached_input,
  price_cache_write, price_cache_write_1h, input_tokens, cached_input_tokens, cache_write_tokens,
  cache_write_1h_tokens, output_tokens, first_output_ms, total_ms, upstream_cost, unit_name,
  units, unit_price, tier`;
const JSON_COLUMNS = ["scopes", "metadata", "settle_metadata", "attempts", "items"];

/** The columns that {@link readReceipt} reads. */
export function receiptColumns({ json }: Dialect): string {
  return [RECEIPT_COLUMNS, ...JSON_COLUMNS.map((column) => `${json(column)} AS ${column}`)].join(", ");
}

interface ReceiptRow {
  readonly wallet_id: string;
  readonly hold_id: string;
  readonly key_id: string;
  readonly scopes: string | null;
  readonly state: HoldState;
  /** An integer in SQLite, a boolean in PostgreSQL. */
  readonly late: bigint | boolean;
  readonly granted: bigint;
  readonly captured: bigint;
  readonly refunded: bigint;
  readonly created_at_ms: bigint;
  readonly resolved_at_ms: bigint | null;
  readonly surface: string;
  readonly model: string;
  readonly outcome: string | null;
  readonly source: ChargeSource | null;
  readonly upstream: string | null;
  readonly upstream_model: string | null;
  readonly price_input: bigint | null;
  readonly price_output: bigint | null;
  readonly price_cached_input: bigint | null;
  readonly price_cache_write: bigint | null;
  readonly price_cache_write_1h: bigint | null;
  readonly input_tokens: bigint | null;
  readonly cached_input_tokens: bigint | null;
  readonly cache_write_tokens: bigint | null;
  readonly cache_write_1h_tokens: bigint | null;
  readonly output_tokens: bigint | null;
  readonly first_output_ms: bigint | null;
  readonly total_ms: bigint | null;
  readonly upstream_cost: bigint | null;
  readonly unit_name: UnitName | null;
  readonly units: bigint | null;
  readonly unit_price: bigint | null;
  readonly tier: string | null;
  readonly metadata: string | null;
  readonly settle_metadata: string | null;
  readonly attempts: string | null;
  readonly items: string | null;
}

export function readReceipt(given: Row): Receipt {
  // Safe because the statement selects these columns, which have the schema's types.
  const row = given as unknown as ReceiptRow;
  return {
    walletId: row.wallet_id,
    holdId: row.hold_id,
    keyId: row.key_id,
    scopes: readScopes(row.scopes),
    state: row.state,
    late: Boolean(row.late),
    granted: row.granted,
    captured: row.captured,
    refunded: row.refunded,
    createdAtMs: Number(row.created_at_ms),
    resolvedAtMs: readNumber(row.resolved_at_ms),
    request: { surface: row.surface, model: row.model },
    outcome: readOutcome(row),
    metadata: readMetadata(row),
  };
}

function readOutcome(row: ReceiptRow): OutcomeFacts | undefined {
  if (row.outcome === null || row.source === null) return undefined;
  const items = row.items === null ? undefined : readItems(parseItems(row.items));
  return {
    outcome: row.outcome,
    source: row.source,
    upstream: row.upstream ?? undefined,
    upstreamModel: row.upstream_model ?? undefined,
    price: withItems(readPrice(row), items?.price),
    tier: row.tier ?? undefined,
    upstreamCost: row.upstream_cost ?? undefined,
    usage: withItems(readUsage(row), items?.usage),
    firstOutputMs: readNumber(row.first_output_ms),
    totalMs: readNumber(row.total_ms),
    // Safe because the column is only written with attempts.
    attempts: JSON.parse(row.attempts ?? "[]") as readonly Attempt[],
  };
}

function withItems<T extends object>(value: T | undefined, items: object | undefined): T | undefined {
  return value && items ? { ...value, ...items } : value;
}

/** The metadata of the hold, overridden by that of its settlement. */
function readMetadata({ metadata, settle_metadata }: ReceiptRow): Receipt["metadata"] {
  if (metadata === null && settle_metadata === null) return undefined;
  return { ...JSON.parse(metadata ?? "{}"), ...JSON.parse(settle_metadata ?? "{}") };
}

function readPrice(row: ReceiptRow): Price | undefined {
  if (row.price_input === null) return undefined;
  return {
    input: row.price_input,
    output: row.price_output ?? 0n,
    cachedInput: row.price_cached_input ?? 0n,
    cacheWrite: row.price_cache_write ?? 0n,
    cacheWrite1h: row.price_cache_write_1h ?? 0n,
    unit: row.unit_name === null ? undefined : { name: row.unit_name, picos: row.unit_price ?? 0n },
  };
}

function readUsage(row: ReceiptRow): Usage | undefined {
  if (row.input_tokens === null) return undefined;
  return {
    inputTokens: Number(row.input_tokens),
    cachedInputTokens: Number(row.cached_input_tokens),
    cacheWriteTokens: Number(row.cache_write_tokens),
    cacheWrite1hTokens: Number(row.cache_write_1h_tokens),
    outputTokens: Number(row.output_tokens),
    units: readNumber(row.units),
  };
}

function readNumber(value: bigint | null): number | undefined {
  return value === null ? undefined : Number(value);
}

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
export function conditionsOf(filter: ReceiptFilter, values: Values, dialect: Dialect): readonly string[] {
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
  if (filter.failed) conditions.push("state <> 'held' AND coalesce(outcome, '') <> 'ok'");
  if (filter.metadata) {
    const name = values.add(storable(filter.metadata.name));
    const { member } = dialect;
    const text = `coalesce(${member("settle_metadata", name)}, ${member("metadata", name)})`;
    conditions.push(`${text} = ${values.add(storable(filter.metadata.value))}`);
  }
  const { scopes = [] } = filter;
  if (scopes.length > FILTER_SCOPES_MAX) throw new LedgerError("invalid_query");
  for (const scope of scopes) conditions.push(countsFor(scope, { values, dialect }));
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
