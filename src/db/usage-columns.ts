/** What usage sums up of receipts: amounts in nanos, and tokens by class. */
export const AMOUNTS = [
  "captured",
  "refunded",
  "input_tokens",
  "cached_input_tokens",
  "cache_write_tokens",
  "cache_write_1h_tokens",
  "output_tokens",
  // Known upstream costs, and the charges less refunds of their receipts.
  "upstream_cost",
  "costed",
] as const;
const BUCKETS = 10;

/**
 * The columns of roll-ups that count or sum, in both databases. Null is 0. An amount is
 * `high * 1,000,000,000 + low`, because a sum of 64-bit amounts may exceed 64 bits. `first_output_N` and
 * `total_N` are buckets of histograms.
 */
export const MEASURE_COLUMNS: readonly string[] = [
  "requests",
  "settled",
  "released",
  "expired",
  ...AMOUNTS.flatMap((amount) => [`${amount}_high`, `${amount}_low`]),
  ...bucketsOf("first_output"),
  ...bucketsOf("total"),
];

/** The columns of the summed journal: a count, and amounts of nanos in parts as those of roll-ups. */
export const JOURNAL_SUM_COLUMNS: readonly string[] = [
  "transfers",
  ...["topped_up", "charged", "refunded"].flatMap((amount) => [`${amount}_high`, `${amount}_low`]),
];

/** The columns of what is recorded of dropped receipts: a count, and amounts of nanos in parts as above. */
export const DROPPED_SUM_COLUMNS: readonly string[] = [
  "receipts",
  ...["captured", "refunded", "above"].flatMap((amount) => [`${amount}_high`, `${amount}_low`]),
];

/**
 * Those of {@link MEASURE_COLUMNS} about costs, which dropped receipts have too. In roll-ups they are null where
 * a program wrote them that knew no costs.
 */
export const COST_COLUMNS: readonly string[] = [
  ...["upstream_cost", "costed"].flatMap((amount) => [`${amount}_high`, `${amount}_low`]),
];

function bucketsOf(duration: string): readonly string[] {
  return Array.from({ length: BUCKETS }, (_, bucket) => `${duration}_${bucket}`);
}

/** Stands for an unknown value in the key of a roll-up. No fact of a receipt has control characters. */
export const UNKNOWN = "\u0001";

/** The most scopes of a wallet, day and kind, by their first hold ids, with rows of their own in `usage_scope_days`. */
export const OWN_ROWS_MAX = 10_000;
/** The id of the row that sums up the others. No id of a scope has control characters. */
export const OTHER = "\u0002";

/** The upper bounds of the buckets of `first_output_N` in `route_hours`, in milliseconds; the last has none. */
export const ROUTE_BOUNDS_MS: readonly number[] = Object.freeze([
  50, 100, 150, 200, 300, 400, 500, 700, 1_000, 1_500, 2_000, 3_000, 5_000, 7_500, 10_000, 15_000, 20_000,
  30_000, 60_000,
]);

/** The columns of `route_hours` that count: what was answered, what failed, and a histogram of first outputs. */
export const ROUTE_COUNT_COLUMNS: readonly string[] = [
  "answered",
  "failed",
  ...Array.from({ length: ROUTE_BOUNDS_MS.length + 1 }, (_, bucket) => `first_output_${bucket}`),
];
