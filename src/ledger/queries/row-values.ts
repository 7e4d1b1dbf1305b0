import type { Ending, Hold, KeptLimit, Transfer } from "../core/book.ts";
import { printLimitPeriods } from "./rows.ts";

/** What a column of a row may be, in either database. */
export type Value = string | number | bigint | boolean | null;

const ATTEMPTS_MAX = 8;

/** What never changes of a hold, from `key_id` to `metadata`. */
export function requestValues(hold: Hold): readonly Value[] {
  return [
    hold.keyId,
    hold.requested,
    hold.minimum,
    hold.granted,
    hold.ttlMs,
    hold.createdAtMs,
    printLimitPeriods(hold.limits),
    hold.facts.surface,
    hold.facts.model,
    hold.metadata ?? null,
  ];
}

/** What any command may change of a hold, from `state` to `resolved_at_ms`. */
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

/** What its end adds to a hold, from `outcome` to `settle_metadata`. */
export function endingValues({ facts, metadata }: Ending): readonly Value[] {
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
    JSON.stringify(facts.attempts.slice(-ATTEMPTS_MAX)),
    metadata ?? null,
  ];
}

/** A whole transfer, from `wallet_id` to `created_at_ms`. */
export function transferValues(walletId: string, transfer: Transfer): readonly Value[] {
  const { seq, transferId, kind, debitAccount, creditAccount, amount, postedAfter, createdAtMs } = transfer;
  const head = [walletId, seq, transferId, kind, debitAccount, creditAccount, amount, postedAfter];
  return [...head, transfer.holdId ?? null, createdAtMs];
}

/** A whole limit, from `wallet_id` to `deleted_at_ms`. */
export function limitValues(limit: KeptLimit): readonly Value[] {
  const { walletId, limitId, keyId, period, timeZone, amount, deletedAtMs } = limit;
  return [walletId, limitId, keyId ?? null, period, timeZone ?? null, amount, deletedAtMs ?? null];
}
