import { type Nanos, printUsd } from "../domain/money.ts";
import type { Usage } from "../domain/usage.ts";
import { HISTOGRAM_BOUNDS_MS, type Histogram, type UsageRow } from "../ledger/usage-records.ts";

/** The sums of a group of requests. */
export interface Sums {
  readonly requests: number;
  readonly errors: number;
  readonly refused: number;
  /** Charges less refunds. */
  readonly cost: Nanos;
  /** What upstreams billed for the requests whose cost is known, and the charges less refunds of these. */
  readonly upstreamCost: Nanos;
  readonly costed: Nanos;
  readonly usage: Usage;
  readonly firstOutputMs: Histogram;
  readonly totalMs: Histogram;
}

const NO_COUNTS: Histogram = Object.freeze(Array.from({ length: HISTOGRAM_BOUNDS_MS.length + 1 }, () => 0));

export const NO_SUMS: Sums = Object.freeze({
  requests: 0,
  errors: 0,
  refused: 0,
  cost: 0n,
  upstreamCost: 0n,
  costed: 0n,
  usage: {
    inputTokens: 0,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    outputTokens: 0,
  },
  firstOutputMs: NO_COUNTS,
  totalMs: NO_COUNTS,
});

/** The sums of a row of the ledger, of which `ok` requests ended well. Running requests are no errors. */
export function sumsOf(row: UsageRow, ok: number): Sums {
  const { requests, open, captured, refunded, upstreamCost, costed, usage, firstOutputMs, totalMs } = row;
  const errors = Math.max(requests - open - ok, 0);
  const money = { cost: captured - refunded, upstreamCost, costed };
  return { requests, errors, refused: 0, ...money, usage, firstOutputMs, totalMs };
}

export function addSums(one: Sums, other: Sums): Sums {
  return combine(one, other, 1);
}

/** The difference of two sums; `other` is contained in `one`. */
export function subtractSums(one: Sums, other: Sums): Sums {
  return combine(one, other, -1);
}

function combine(one: Sums, other: Sums, sign: 1 | -1): Sums {
  const add = (a: number, b: number) => a + sign * b;
  const addNanos = (a: Nanos, b: Nanos) => a + BigInt(sign) * b;
  const addAll = (a: Histogram, b: Histogram) => a.map((count, index) => add(count, b[index] ?? 0));
  const { usage: a } = one;
  const { usage: b } = other;
  return {
    requests: add(one.requests, other.requests),
    errors: add(one.errors, other.errors),
    refused: add(one.refused, other.refused),
    cost: addNanos(one.cost, other.cost),
    upstreamCost: addNanos(one.upstreamCost, other.upstreamCost),
    costed: addNanos(one.costed, other.costed),
    usage: {
      inputTokens: add(a.inputTokens, b.inputTokens),
      cachedInputTokens: add(a.cachedInputTokens, b.cachedInputTokens),
      cacheWriteTokens: add(a.cacheWriteTokens, b.cacheWriteTokens),
      cacheWrite1hTokens: add(a.cacheWrite1hTokens, b.cacheWrite1hTokens),
      outputTokens: add(a.outputTokens, b.outputTokens),
    },
    firstOutputMs: addAll(one.firstOutputMs, other.firstOutputMs),
    totalMs: addAll(one.totalMs, other.totalMs),
  };
}

/** Prints the sums of a group for the console, shared links and the command line. */
export function printSums({ requests, errors, refused, cost, usage }: Sums) {
  return {
    requests,
    errors,
    refused,
    cost_usd: printUsd(cost),
    input_tokens: usage.inputTokens,
    cached_input_tokens: usage.cachedInputTokens,
    cache_write_tokens: usage.cacheWriteTokens + usage.cacheWrite1hTokens,
    output_tokens: usage.outputTokens,
  };
}

/**
 * Prints what operators see beside the charges. The margin is that of the requests whose upstream cost is known;
 * `unknown_cost_usd` are the charges of the others.
 */
export function printMargin({ cost, upstreamCost, costed }: Pick<Sums, "cost" | "upstreamCost" | "costed">) {
  return {
    upstream_cost_usd: printUsd(upstreamCost),
    margin_usd: printUsd(costed - upstreamCost),
    unknown_cost_usd: printUsd(cost - costed),
  };
}

/** Milliseconds below which 50, 95 and 99 of 100 requests were. */
export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/**
 * Estimates percentiles from a histogram, linearly inside of a bucket: the error is at most the width of the
 * bucket. In the last bucket, which has no upper bound, returns its lower bound. `undefined` without a count.
 */
export function percentilesOf(
  histogram: Histogram,
  bounds: readonly number[] = HISTOGRAM_BOUNDS_MS,
): Percentiles | undefined {
  const total = histogram.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  const at = (share: number) => valueAt(histogram, bounds, share * total);
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

/** The value below which `rank` of the counted requests are, `rank` above 0. */
function valueAt(histogram: Histogram, bounds: readonly number[], rank: number): number {
  let below = 0;
  for (const [index, count] of histogram.entries()) {
    if (count > 0 && below + count >= rank) {
      const lower = bounds[index - 1] ?? 0;
      const upper = bounds[index] ?? lower;
      return Math.round(lower + ((upper - lower) * (rank - below)) / count);
    }
    below += count;
  }
  return bounds.at(-1) ?? 0;
}
