import type { Database } from "bun:sqlite";
import type { Price } from "../../domain/model.ts";
import type { Usage } from "../../domain/usage.ts";
import { balancesOf } from "../book.ts";
import {
  type Attempt,
  type Balances,
  type ChargeSource,
  LedgerError,
  type OutcomeFacts,
  type Receipt,
  type SpendLimitUsage,
} from "../ledger.ts";
import { periodEnd, periodStart } from "../period.ts";
import { type HoldRow, readHold, readSpendLimit, readWallet, type SpendLimitRow } from "./rows.ts";
import { prepareCounterRead, prepareRead, prepareWalletRead } from "./statements.ts";

/** What may be asked of the books without changing them; sees what is committed. */
export interface LedgerReads {
  balances(walletId: string): Balances;
  spendLimits(walletId: string, keyId: string): readonly SpendLimitUsage[];
  receipt(walletId: string, holdId: string): Receipt | undefined;
}

interface ReceiptRow extends HoldRow {
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
  readonly attempts: string | null;
}

export function createSqliteReads({ client, now }: { client: Database; now: () => number }): LedgerReads {
  const wallet = prepareWalletRead(client);
  const receipt = prepareRead<ReceiptRow, [string, string]>(
    client,
    "SELECT * FROM holds WHERE wallet_id = ? AND hold_id = ?",
  );
  const limits = prepareRead<SpendLimitRow, [string, string]>(
    client,
    "SELECT * FROM spend_limits WHERE wallet_id = ? AND (key_id IS NULL OR key_id = ?) ORDER BY limit_id",
  );
  const counter = prepareCounterRead(client);

  return {
    balances(walletId) {
      const row = wallet.get(walletId);
      if (!row) throw new LedgerError("wallet_not_found");
      return balancesOf(readWallet(row));
    },
    spendLimits(walletId, keyId) {
      const nowMs = now();
      return limits.all(walletId, keyId).map((row) => {
        const limit = readSpendLimit(row);
        const counted = counter.get(walletId, limit.limitId, periodStart(limit.period, nowMs));
        const { used, held } = counted ?? { used: 0n, held: 0n };
        return { ...limit, used, held, resetsAtMs: periodEnd(limit.period, nowMs) };
      });
    },
    receipt(walletId, holdId) {
      const row = receipt.get(walletId, holdId);
      return row ? readReceipt(row) : undefined;
    },
  };
}

function readReceipt(row: ReceiptRow): Receipt {
  const { facts, metadata, requested, ...hold } = readHold(row);
  return {
    walletId: row.wallet_id,
    holdId: hold.holdId,
    keyId: hold.keyId,
    state: hold.state,
    late: hold.late,
    granted: hold.granted,
    captured: hold.captured,
    refunded: hold.refunded,
    createdAtMs: hold.createdAtMs,
    resolvedAtMs: hold.resolvedAtMs,
    request: facts,
    outcome: readOutcome(row),
    metadata: metadata === undefined ? undefined : JSON.parse(metadata),
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
    firstOutputMs: row.first_output_ms === null ? undefined : Number(row.first_output_ms),
    totalMs: Number(row.total_ms),
    // Safe because the writer prints nothing but attempts here.
    attempts: JSON.parse(row.attempts ?? "[]") as readonly Attempt[],
  };
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
