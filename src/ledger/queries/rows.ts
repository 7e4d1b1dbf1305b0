import type { CreditSource } from "../../domain/credit.ts";
import { itemsOf, type PricedItem, printItems } from "../../domain/items.ts";
import type { LimitPeriod } from "../../domain/period.ts";
import type { ScopeKind } from "../../domain/scope.ts";
// Converts between rows of the database and the types of core/book.ts. Both stores share it.
import type {
  Counter,
  CounterKey,
  CreditPart,
  Hold,
  Resolution,
  StoredLimit,
  Transfer,
  TransferKind,
  Wallet,
} from "../core/book.ts";
import { bindingOf, printScopes, readBinding, readScopes } from "../core/spender.ts";
import {
  ATTEMPTS_MAX,
  type Attempt,
  type Credit,
  type HoldState,
  type OutcomeFacts,
  type SpendLimit,
} from "../records.ts";

/** A wallet as a statement returns it: in this and the other row types, every integer is a bigint. */
export interface WalletRow {
  readonly wallet_id: string;
  readonly posted: bigint;
  readonly held: bigint;
  readonly credit_limit: bigint;
  readonly state: Wallet["state"];
  readonly last_seq: bigint;
  readonly created_at_ms: bigint;
  readonly newest_credit: bigint;
  readonly mixed: bigint;
  readonly newest_hold_ms: bigint;
}

export interface CreditRow {
  readonly wallet_id: string;
  readonly seq: bigint;
  readonly credit_id: string;
  readonly source: CreditSource;
  readonly amount: bigint;
  readonly left_amount: bigint;
  readonly expired: bigint;
  readonly expires_at_ms: bigint | null;
  readonly created_at_ms: bigint;
  readonly claims: bigint | null;
  readonly ended_at_ms: bigint | null;
}

export interface HoldRow {
  readonly wallet_id: string;
  readonly hold_id: string;
  readonly key_id: string;
  readonly scopes: string | null;
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
  /** What it binds: see {@link readBinding}. */
  readonly key_id: string | null;
  readonly each_kind: ScopeKind | null;
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
  readonly credits: string | null;
}

export function readWallet(row: WalletRow): Wallet {
  return {
    walletId: row.wallet_id,
    posted: row.posted,
    held: row.held,
    creditLimit: row.credit_limit,
    state: row.state,
    lastSeq: Number(row.last_seq),
    createdAtMs: Number(row.created_at_ms),
    newestCredit: Number(row.newest_credit),
    isMixed: row.mixed === 1n,
    newestHoldMs: Number(row.newest_hold_ms),
  };
}

/** The columns of {@link CreditRow}, of a table named `c`. */
export const CREDIT_COLUMNS = `c.wallet_id, c.seq, c.credit_id, c.source, c.amount, c.left_amount, c.expired,
  c.expires_at_ms, c.created_at_ms, c.claims, c.ended_at_ms`;

export function readCredit(row: CreditRow): Credit {
  return {
    seq: Number(row.seq),
    creditId: row.credit_id,
    source: row.source,
    amount: row.amount,
    left: row.left_amount,
    expired: row.expired,
    expiresAtMs: row.expires_at_ms === null ? undefined : Number(row.expires_at_ms),
    createdAtMs: Number(row.created_at_ms),
    claims: row.claims ?? undefined,
    endedAtMs: row.ended_at_ms === null ? undefined : Number(row.ended_at_ms),
  };
}

/** The columns of a credit, `wallet_id` to `created_at_ms`. */
export function creditValues(walletId: string, credit: Credit): readonly Value[] {
  const { seq, left, expired, claims, endedAtMs, creditId, source, amount, expiresAtMs, createdAtMs } =
    credit;
  const state = [left, expired, claims ?? null, endedAtMs ?? null, left > 0n];
  return [walletId, seq, ...state, creditId, source, amount, expiresAtMs ?? null, createdAtMs];
}

export function readHold(row: HoldRow): Hold {
  return {
    holdId: row.hold_id,
    keyId: row.key_id,
    scopes: readScopes(row.scopes),
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
    limits: readCounterKeys(row.limits),
    facts: { surface: row.surface, model: row.model },
    metadata: row.metadata ?? undefined,
  };
}

export function readSpendLimit(row: SpendLimitRow): StoredLimit {
  const deletedAtMs = row.deleted_at_ms === null ? undefined : Number(row.deleted_at_ms);
  return { ...readLimitInForce(row), deletedAtMs };
}

/** Reads all columns but `deleted_at_ms`, for statements that select limits in force only. */
export function readLimitInForce(row: Omit<SpendLimitRow, "deleted_at_ms">): SpendLimit {
  return {
    walletId: row.wallet_id,
    limitId: row.limit_id,
    ...readBinding(row.key_id),
    each: row.each_kind ?? undefined,
    period: row.period,
    timeZone: row.time_zone ?? undefined,
    amount: row.amount,
  };
}

export function readCounter(key: CounterKey, row: CounterRow | null): Counter {
  return { ...key, used: row?.used ?? 0n, held: row?.held ?? 0n };
}

export function readTransfer(row: TransferRow): Transfer {
  return {
    seq: Number(row.seq),
    transferId: row.transfer_id,
    // Safe because only transfers of these kinds are written.
    kind: Number(row.kind) as TransferKind,
    debitAccount: Number(row.debit_account),
    creditAccount: Number(row.credit_account),
    amount: row.amount,
    postedAfter: row.posted_after,
    holdId: row.hold_id ?? undefined,
    createdAtMs: Number(row.created_at_ms),
    credits: row.credits === null ? undefined : readParts(row.credits),
  };
}

function readParts(json: string): readonly CreditPart[] {
  // Safe because only `printParts` writes the column.
  return (JSON.parse(json) as [number, string][]).map(([seq, amount]) => [seq, BigInt(amount)]);
}

/** Amounts as text: JSON readers take numbers above 2^53 for others. */
function printParts(parts: readonly CreditPart[]): string {
  return JSON.stringify(parts.map(([seq, amount]) => [seq, `${amount}`]));
}

/** A value of a column, in either database. */
export type Value = string | number | bigint | boolean | null;

/** The columns of a hold that never change, `key_id` to `scopes`. */
export function requestValues(hold: Hold): readonly Value[] {
  return [
    hold.keyId,
    hold.requested,
    hold.minimum,
    hold.granted,
    hold.ttlMs,
    hold.createdAtMs,
    printCounterKeys(hold.limits),
    hold.facts.surface,
    hold.facts.model,
    hold.metadata ?? null,
    printScopes(hold.scopes),
  ];
}

/** The columns of a hold that any command may change, `state` to `resolved_at_ms`. */
export function stateValues(hold: Hold): readonly Value[] {
  return [
    hold.state,
    hold.late,
    hold.accrued,
    hold.actual ?? null,
    hold.captured,
    hold.refunded,
    hold.expiresAtMs,
    hold.resolvedAtMs ?? null,
  ];
}

/** The columns of a hold that its resolution sets, `outcome` to `items`. */
export function resolutionValues({ facts, metadata }: Resolution): readonly Value[] {
  const { price, usage, firstOutputMs, totalMs } = facts;
  return [
    facts.outcome,
    facts.source,
    facts.upstream ?? null,
    facts.upstreamModel ?? null,
    price?.input ?? null,
    price?.output ?? null,
    price?.cachedInput ?? null,
    price?.cacheWrite ?? null,
    price?.cacheWrite1h ?? null,
    usage?.inputTokens ?? null,
    usage?.cachedInputTokens ?? null,
    usage?.cacheWriteTokens ?? null,
    usage?.cacheWrite1hTokens ?? null,
    usage?.outputTokens ?? null,
    firstOutputMs === undefined ? null : Math.round(firstOutputMs),
    totalMs === undefined ? null : Math.round(totalMs),
    JSON.stringify(lastAttempts(facts)),
    metadata ?? null,
    facts.upstreamCost ?? null,
    price?.unit?.name ?? null,
    usage?.units ?? null,
    price?.unit?.picos ?? null,
    facts.tier ?? null,
    price && usage ? storeItems(itemsOf(price, usage)) : null,
  ];
}

function storeItems(items: readonly PricedItem[]): string | null {
  return items.length === 0 ? null : printItems(items);
}

function lastAttempts({ attempts }: OutcomeFacts): readonly Attempt[] {
  return attempts.length > ATTEMPTS_MAX ? attempts.slice(-ATTEMPTS_MAX) : attempts;
}

/** The columns of a transfer, `wallet_id` to `created_at_ms`. */
export function transferValues(walletId: string, transfer: Transfer): readonly Value[] {
  return [
    walletId,
    transfer.seq,
    transfer.transferId,
    transfer.kind,
    transfer.debitAccount,
    transfer.creditAccount,
    transfer.amount,
    transfer.postedAfter,
    transfer.holdId ?? null,
    transfer.createdAtMs,
    transfer.credits ? printParts(transfer.credits) : null,
  ];
}

/** The columns of a limit, `wallet_id` to `each_kind`. */
export function limitValues(limit: StoredLimit): readonly Value[] {
  const { walletId, limitId, each, period, timeZone, amount, deletedAtMs } = limit;
  const binding = bindingOf(limit) ?? null;
  return [walletId, limitId, binding, period, timeZone ?? null, amount, deletedAtMs ?? null, each ?? null];
}

/** Returns the counters of a hold as JSON text, `[["limit", 1735689600000], …]`; null for none. */
export function printCounterKeys(keys: readonly CounterKey[]): string | null {
  if (keys.length === 0) return null;
  return JSON.stringify(keys.map(({ counterId, periodStartMs }) => [counterId, periodStartMs]));
}

const NO_LIMITS: readonly CounterKey[] = [];

/** Parses the column `limits` of a hold. */
export function readCounterKeys(printed: string | null): readonly CounterKey[] {
  if (printed === null) return NO_LIMITS;
  // Safe because printCounterKeys is the only writer of the column.
  const pairs = JSON.parse(printed) as readonly (readonly [string, number])[];
  return pairs.map(([counterId, periodStartMs]) => ({ counterId, periodStartMs }));
}
