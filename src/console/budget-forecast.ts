import { type Nanos, parseUsd } from "../domain/money.ts";
import { DAY_MS, HOUR_MS } from "./times.ts";

/** The share of a period below which its spending shows no rate. */
const ELAPSED_MIN = 0.1;

/** A limit with what it has counted, as the API answers it. */
export interface ForecastLimit {
  readonly amount_usd: string;
  readonly period: string;
  readonly used_usd: string;
  readonly held_usd: string;
  readonly resets_at: string | null;
}

/** What was spent in a time before now, for a limit without a period. */
export interface RecentSpending {
  readonly spent: Nanos;
  readonly ms: number;
}

/** Where a limit comes to at the rate of its period so far. */
type BudgetForecast =
  | { readonly kind: "reached"; readonly atMs: number }
  /** What will have been spent at the end of the period. */
  | { readonly kind: "kept"; readonly spent: Nanos };

/**
 * Forecasts a limit by the rate of its running period, or for a limit in total by the rate of recent spending.
 * `undefined` where that is unknown: nothing spent, a period that has just begun, a limit that is reached already.
 */
export function forecastBudget(
  limit: ForecastLimit,
  nowMs: number,
  recent?: RecentSpending,
): BudgetForecast | undefined {
  const used = parseUsd(limit.used_usd);
  const left = parseUsd(limit.amount_usd) - used - parseUsd(limit.held_usd);
  const resetsMs = limit.resets_at === null ? undefined : Date.parse(limit.resets_at);
  const rate = resetsMs === undefined ? recent : rateOf(limit.period, { used, resetsMs, nowMs });
  if (left <= 0n || !rate || rate.spent <= 0n || rate.ms <= 0) return undefined;
  const untilMs = (Number(left) / Number(rate.spent)) * rate.ms;
  if (resetsMs === undefined || nowMs + untilMs < resetsMs) return { kind: "reached", atMs: nowMs + untilMs };
  const more = BigInt(Math.round((Number(rate.spent) * (resetsMs - nowMs)) / rate.ms));
  return { kind: "kept", spent: used + more };
}

interface Running {
  readonly used: Nanos;
  readonly resetsMs: number;
  readonly nowMs: number;
}

function rateOf(period: string, { used, resetsMs, nowMs }: Running): RecentSpending | undefined {
  const startMs = startOf(period, resetsMs);
  if (startMs === undefined || resetsMs <= nowMs) return undefined;
  const ms = nowMs - startMs;
  return ms < (resetsMs - startMs) * ELAPSED_MIN ? undefined : { spent: used, ms };
}

/** The start of the period that ends at a time. Clocks that are set forward or back within it are left out. */
function startOf(period: string, endMs: number): number | undefined {
  if (period === "day") return endMs - DAY_MS;
  if (period === "week") return endMs - 7 * DAY_MS;
  if (period === "month") return monthBefore(endMs);
  const hours = /^(\d+)h$/.exec(period)?.[1];
  return hours === undefined ? undefined : endMs - Number(hours) * HOUR_MS;
}

/** Months end at midnight of the first, or hours from it in other zones than UTC. */
function monthBefore(endMs: number): number {
  const date = new Date(endMs + DAY_MS / 2);
  const days = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 0)).getUTCDate();
  return endMs - days * DAY_MS;
}
