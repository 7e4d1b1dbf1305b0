/** Latencies in milliseconds. */
export interface Percentiles {
  readonly p50: number;
  readonly p99: number;
}

export function percentilesOf(latenciesMs: readonly number[]): Percentiles {
  const sorted = Float64Array.from(latenciesMs).sort();
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

/** The middle one, or the mean of the middle two. */
export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2;
}
