// Usage: sums of receipts by group, and the state of the roll-ups that make them fast.

import { OTHER } from "../db/usage-columns.ts";
import type { Nanos } from "../domain/money.ts";
import type { TokenUsage } from "../domain/usage.ts";

/** The most dimensions of a usage query. */
export const DIMENSIONS_MAX = 4;

/**
 * A dimension to group usage by. `hour` is in UTC; `day` starts at midnight, see `offsetHours`. Those of scopes have
 * the id of the scope; `tag` has the value of one key's tags. A receipt without a project is of the default one, whose
 * id is the wallet's.
 */
export type UsageDimension =
  | "hour"
  | "day"
  | "wallet"
  | "key"
  | "surface"
  | "model"
  | "upstream"
  | "outcome"
  | "source"
  | ScopeDimension;

export type ScopeDimension = "project" | "member" | "end_user" | "tag" | "run" | "parent_key";

/**
 * The group of the scopes of a kind after the first 10,000 of a UTC day, in the order of their first holds. No id of a
 * scope has control characters.
 */
export const OTHER_SCOPES: string = OTHER;

/** The sums over all receipts that match a query, exact to the last committed one. */
export interface UsageReport {
  /** Sorted by the dimensions of `groupBy`; the dearest first where these are asked for. */
  readonly rows: readonly UsageRow[];
  /** What suits the range: hours up to 31 days, UTC days beyond. */
  readonly resolution: "hour" | "day";
  /** The offset that groups by `day` have: that of the query, or 0 where days are in UTC. */
  readonly offsetHours: number;
}

/** The sums of a group of receipts. */
export interface UsageRow {
  /**
   * One value per dimension of the query: Unix milliseconds for `hour` and `day`, null for an unknown value,
   * {@link OTHER_SCOPES} for scopes that a closed day has summed up together.
   */
  readonly group: Readonly<Partial<Record<UsageDimension, string | number | null>>>;
  /** All receipts: the sum of the four states. */
  readonly requests: number;
  readonly open: number;
  /** Those with the outcome `ok`. A remote ledger of an older version sends none. */
  readonly ok?: number | undefined;
  readonly settled: number;
  readonly released: number;
  readonly expired: number;
  readonly captured: Nanos;
  readonly refunded: Nanos;
  /** The sum of the known upstream costs. */
  readonly upstreamCost: Nanos;
  /** `captured − refunded` of the receipts whose upstream cost is known; the margin is this − `upstreamCost`. */
  readonly costed: Nanos;
  /** Summed over the receipts that have a usage. */
  readonly usage: TokenUsage;
  /** Receipts by their time to the first output; those without output are not counted. */
  readonly firstOutputMs: Histogram;
  /** Receipts by their total time; those without one are not counted. */
  readonly totalMs: Histogram;
}

/**
 * Counts of durations by bucket, one more than {@link HISTOGRAM_BOUNDS_MS} has bounds. A bucket counts
 * durations above the bound before it and up to its own; the last has no bound.
 */
export type Histogram = readonly number[];

/** The upper bounds of the buckets in milliseconds, inclusive. */
export const HISTOGRAM_BOUNDS_MS: readonly number[] = Object.freeze([
  50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000,
]);

/** Which hours of usage are summed up in advance. The others are summed from the receipts. */
export interface RollUpState {
  /** Unix milliseconds: hours from `closedFromMs` to before `closedToMs` are summed up. Equal: none is. */
  readonly closedFromMs: number;
  readonly closedToMs: number;
  /** Hours of wallets that changed since, or that have open holds. */
  readonly staleHours: number;
  /** Whether hours before `closedFromMs` are still to be summed up. */
  readonly isBackfilling: boolean;
}
