import type { Price } from "../../domain/model.ts";
import type { Usage } from "../../domain/usage.ts";
import type { Attempt, ChargeSource, HoldState, OutcomeFacts, Receipt } from "../ledger.ts";
import type { Dialect, Row } from "./query.ts";

const COLUMNS = `wallet_id, hold_id, key_id, state, late, granted, captured, refunded, created_at_ms, resolved_at_ms,
  surface, model, outcome, source, upstream, upstream_model, price_input, price_output, price_cached_input,
  price_cache_write, price_cache_write_1h, input_tokens, cached_input_tokens, cache_write_tokens,
  cache_write_1h_tokens, output_tokens, first_output_ms, total_ms`;
const JSON_COLUMNS = ["metadata", "settle_metadata", "attempts"];

/** The columns that {@link readReceipt} reads. */
export function receiptColumns({ json }: Dialect): string {
  return [COLUMNS, ...JSON_COLUMNS.map((column) => `${json(column)} AS ${column}`)].join(", ");
}

interface ReceiptRow {
  readonly wallet_id: string;
  readonly hold_id: string;
  readonly key_id: string;
  readonly state: HoldState;
  /** An integer in one store, a boolean in the other. */
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
  readonly metadata: string | null;
  readonly settle_metadata: string | null;
  readonly attempts: string | null;
}

export function readReceipt(given: Row): Receipt {
  // Safe because the statement names these columns, whose types are the schema's.
  const row = given as unknown as ReceiptRow;
  return {
    walletId: row.wallet_id,
    holdId: row.hold_id,
    keyId: row.key_id,
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
  return {
    outcome: row.outcome,
    source: row.source,
    upstream: row.upstream ?? undefined,
    upstreamModel: row.upstream_model ?? undefined,
    price: readPrice(row),
    usage: readUsage(row),
    firstOutputMs: readNumber(row.first_output_ms),
    totalMs: readNumber(row.total_ms),
    // Safe because the writer prints nothing but attempts here.
    attempts: JSON.parse(row.attempts ?? "[]") as readonly Attempt[],
  };
}

/** What the hold came with, and laid over it what its settlement added. */
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
  };
}

function readNumber(value: bigint | null): number | undefined {
  return value === null ? undefined : Number(value);
}
