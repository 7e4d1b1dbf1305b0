import type {
  Counter,
  Hold,
  KeptLimit,
  LimitPeriodKey,
  Transfer,
  TransferKind,
  Wallet,
} from "../core/book.ts";
import type { HoldState, LimitPeriod, SpendLimit } from "../ledger.ts";

/** Rows as a statement with safe integers gives them: every integer a bigint. */
export interface WalletRow {
  readonly wallet_id: string;
  readonly posted: bigint;
  readonly held: bigint;
  readonly credit_limit: bigint;
  readonly state: Wallet["state"];
  readonly last_seq: bigint;
  readonly created_at_ms: bigint;
}

export interface HoldRow {
  readonly wallet_id: string;
  readonly hold_id: string;
  readonly key_id: string;
  readonly state: HoldState;
  readonly late: bigint;
  readonly requested: bigint;
  readonly minimum: bigint;
  readonly granted: bigint;
  readonly accrued: bigint;
  readonly actual: bigint | null;
  readonly captured: bigint;
  readonly refunded: bigint;
  readonly ttl_ms: bigint;
  readonly created_at_ms: bigint;
  readonly expires_at_ms: bigint;
  readonly resolved_at_ms: bigint | null;
  readonly limits: string | null;
  readonly surface: string;
  readonly model: string;
  readonly metadata: string | null;
}

export interface SpendLimitRow {
  readonly wallet_id: string;
  readonly limit_id: string;
  readonly key_id: string | null;
  readonly period: LimitPeriod;
  readonly time_zone: string | null;
  readonly amount: bigint;
  readonly deleted_at_ms: bigint | null;
}

export interface CounterRow {
  readonly used: bigint;
  readonly held: bigint;
}

export interface TransferRow {
  readonly seq: bigint;
  readonly transfer_id: string;
  readonly kind: bigint;
  readonly debit_account: bigint;
  readonly credit_account: bigint;
  readonly amount: bigint;
  readonly posted_after: bigint;
  readonly hold_id: string | null;
  readonly created_at_ms: bigint;
}

const NO_LIMITS: readonly LimitPeriodKey[] = [];

export function readWallet(row: WalletRow): Wallet {
  return {
    walletId: row.wallet_id,
    posted: row.posted,
    held: row.held,
    creditLimit: row.credit_limit,
    state: row.state,
    lastSeq: Number(row.last_seq),
    createdAtMs: Number(row.created_at_ms),
  };
}

export function readHold(row: HoldRow): Hold {
  return {
    holdId: row.hold_id,
    keyId: row.key_id,
    state: row.state,
    late: row.late === 1n,
    requested: row.requested,
    minimum: row.minimum,
    granted: row.granted,
    accrued: row.accrued,
    actual: row.actual ?? undefined,
    captured: row.captured,
    refunded: row.refunded,
    ttlMs: Number(row.ttl_ms),
    createdAtMs: Number(row.created_at_ms),
    expiresAtMs: Number(row.expires_at_ms),
    resolvedAtMs: row.resolved_at_ms === null ? undefined : Number(row.resolved_at_ms),
    limits: readLimitPeriods(row.limits),
    facts: { surface: row.surface, model: row.model },
    metadata: row.metadata ?? undefined,
  };
}

/** The inverse of {@link readLimitPeriods}: `[["limit", 1735689600000], …]`, null for none. */
export function printLimitPeriods(keys: readonly LimitPeriodKey[]): string | null {
  if (keys.length === 0) return null;
  return JSON.stringify(keys.map(({ limitId, periodStartMs }) => [limitId, periodStartMs]));
}

export function readSpendLimit(row: SpendLimitRow): KeptLimit {
  const deletedAtMs = row.deleted_at_ms === null ? undefined : Number(row.deleted_at_ms);
  return { ...readLimitInForce(row), deletedAtMs };
}

/** A limit of a statement that reads no others. */
export function readLimitInForce(row: Omit<SpendLimitRow, "deleted_at_ms">): SpendLimit {
  return {
    walletId: row.wallet_id,
    limitId: row.limit_id,
    keyId: row.key_id ?? undefined,
    period: row.period,
    timeZone: row.time_zone ?? undefined,
    amount: row.amount,
  };
}

export function readCounter(key: LimitPeriodKey, row: CounterRow | null): Counter {
  return { ...key, used: row?.used ?? 0n, held: row?.held ?? 0n };
}

export function readTransfer(row: TransferRow): Transfer {
  return {
    seq: Number(row.seq),
    transferId: row.transfer_id,
    // Safe because only transfers of these kinds are ever written.
    kind: Number(row.kind) as TransferKind,
    debitAccount: Number(row.debit_account),
    creditAccount: Number(row.credit_account),
    amount: row.amount,
    postedAfter: row.posted_after,
    holdId: row.hold_id ?? undefined,
    createdAtMs: Number(row.created_at_ms),
  };
}

function readLimitPeriods(printed: string | null): readonly LimitPeriodKey[] {
  if (printed === null) return NO_LIMITS;
  // Safe because printLimitPeriods is the only writer of the column.
  const pairs = JSON.parse(printed) as readonly (readonly [string, number])[];
  return pairs.map(([limitId, periodStartMs]) => ({ limitId, periodStartMs }));
}
