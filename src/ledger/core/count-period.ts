import { NANOS_MAX } from "../../domain/money.ts";
import { periodStart } from "../../domain/period.ts";
import type { SpendLimit } from "../records.ts";
import { type Book, type Changes, type Hold, type LimitPeriodKey, spendKey } from "./book.ts";
import { counterOf } from "./resolve.ts";

/**
 * Counts what a limit's current period has seen before the limit was set. Receipts that have ended become an
 * opening of the counter: they are too many to list the limit. Open holds come to list it, so that their ends
 * count once. A later refund or late settlement of an ended receipt leaves the counter unchanged.
 */
export function countPeriod(book: Book, limit: SpendLimit, nowMs: number): Changes {
  const { limitId, period, timeZone } = limit;
  const key = { limitId, periodStartMs: periodStart(period, nowMs, timeZone) };
  const spend = book.spends.get(spendKey(key, limit.keyId));
  if (!spend) throw new Error("Cannot decide: the spending of a limit's period was not read");
  const counter = counterOf(book, key);
  const missed = leastOf(spend.amount, NANOS_MAX) - counter.used;
  const opening = missed > 0n ? missed : 0n;
  const boundHolds: Hold[] = [];
  let held = counter.held;
  for (const hold of book.holds.values()) {
    const isOfKey = limit.keyId === undefined || limit.keyId === hold.keyId;
    if (hold.state !== "held" || !isOfKey || hold.holdId < spend.firstId || lists(hold, key)) continue;
    boundHolds.push({ ...hold, limits: [...hold.limits, key] });
    held += hold.granted;
  }
  return {
    counters: opening > 0n || boundHolds.length > 0 ? [{ ...key, used: counter.used + opening, held }] : [],
    openings: opening > 0n ? [{ ...key, used: opening }] : [],
    boundHolds,
  };
}

function lists({ limits }: Hold, { limitId, periodStartMs }: LimitPeriodKey): boolean {
  return limits.some((each) => each.limitId === limitId && each.periodStartMs === periodStartMs);
}

function leastOf(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
