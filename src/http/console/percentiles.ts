import { HISTOGRAM_BOUNDS_MS, type Histogram } from "../../ledger/usage-records.ts";

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
export function percentilesOf(histogram: Histogram): Percentiles | undefined {
  const total = histogram.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  const at = (share: number) => valueAt(histogram, share * total);
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

/** The value below which `rank` of the counted requests are, `rank` above 0. */
function valueAt(histogram: Histogram, rank: number): number {
  let below = 0;
  for (const [index, count] of histogram.entries()) {
    if (count > 0 && below + count >= rank) {
      const lower = HISTOGRAM_BOUNDS_MS[index - 1] ?? 0;
      const upper = HISTOGRAM_BOUNDS_MS[index] ?? lower;
      return Math.round(lower + ((upper - lower) * (rank - below)) / count);
    }
    below += count;
  }
  return HISTOGRAM_BOUNDS_MS.at(-1) ?? 0;
}
