import { expect, test } from "bun:test";
import fc from "fast-check";
import { HISTOGRAM_BOUNDS_MS } from "../../src/ledger/usage-records.ts";
import { percentilesOf } from "../../src/usage/sums.ts";

const LAST = HISTOGRAM_BOUNDS_MS.length;
const bucketOf = (ms: number) => {
  const index = HISTOGRAM_BOUNDS_MS.findIndex((bound) => ms <= bound);
  return index < 0 ? LAST : index;
};
const histogramOf = (durations: readonly number[]) => {
  const counts = Array.from({ length: LAST + 1 }, () => 0);
  for (const ms of durations) counts[bucketOf(ms)] = (counts[bucketOf(ms)] ?? 0) + 1;
  return counts;
};

test("a percentile is in the bucket of the value of the sorted list", () => {
  const duration = fc.oneof(fc.nat({ max: 60_000 }), fc.constantFrom(...HISTOGRAM_BOUNDS_MS));
  fc.assert(
    fc.property(fc.array(duration, { minLength: 1, maxLength: 300 }), (durations) => {
      const sorted = durations.toSorted((one, other) => one - other);
      const percentiles = percentilesOf(histogramOf(durations));
      for (const [name, share] of [
        ["p50", 0.5],
        ["p95", 0.95],
        ["p99", 0.99],
      ] as const) {
        const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
        const bucket = bucketOf(exact);
        const estimate = percentiles?.[name] ?? Number.NaN;
        expect(estimate).toBeGreaterThanOrEqual(HISTOGRAM_BOUNDS_MS[bucket - 1] ?? 0);
        expect(estimate).toBeLessThanOrEqual(HISTOGRAM_BOUNDS_MS[bucket] ?? 30_000);
      }
    }),
  );
});

test("percentiles never decrease, and nothing has none", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 1e6 }), { minLength: LAST + 1, maxLength: LAST + 1 }), (counts) => {
      const percentiles = percentilesOf(counts);
      if (counts.every((count) => count === 0)) return expect(percentiles).toBeUndefined();
      const { p50 = 0, p95 = 0, p99 = 0 } = percentiles ?? {};
      expect(p50 <= p95 && p95 <= p99).toBe(true);
    }),
  );
});

test("a duration above the last bound counts as that bound", () =>
  expect(percentilesOf(histogramOf([45_000, 90_000]))).toEqual({ p50: 30_000, p95: 30_000, p99: 30_000 }));
