import { AMOUNTS } from "../../db/usage-columns.ts";
import { HISTOGRAM_BOUNDS_MS, type Histogram, type UsageRow } from "../usage-records.ts";
import type { Dialect, Row } from "./query.ts";
import { COSTED, partsOf } from "./sum-parts.ts";

/** A sum that usage reports. Roll-ups have a column of this name. */
interface Measure {
  readonly name: string;
  /** The SQL that sums up receipts. */
  readonly ofReceipts: string;
}

/** High and low parts of amounts are summed separately: a sum of 64-bit amounts may exceed 64 bits. */
const PART = 1_000_000_000n;

type Amount = (typeof AMOUNTS)[number];

const STATES = ["settled", "released", "expired"] as const;
const DURATIONS = ["first_output", "total"] as const;

/** The SQL of an amount of a receipt, where it is no column of its name. */
const EXPRESSIONS: Partial<Record<Amount, string>> = { costed: COSTED };

/** Every measure, in the order of the columns of the roll-ups. */
const MEASURES: readonly Measure[] = [
  { name: "requests", ofReceipts: "count(*)" },
  ...STATES.map((state) => ({ name: state, ofReceipts: `count(*) FILTER (WHERE state = '${state}')` })),
  ...AMOUNTS.flatMap((amount) => {
    const [high, low] = partsOf(EXPRESSIONS[amount] ?? amount);
    return [
      { name: `${amount}_high`, ofReceipts: `sum(${high})` },
      { name: `${amount}_low`, ofReceipts: `sum(${low})` },
    ];
  }),
  ...DURATIONS.flatMap((duration) =>
    Array.from({ length: HISTOGRAM_BOUNDS_MS.length + 1 }, (_, bucket) => ({
      name: `${duration}_${bucket}`,
      ofReceipts: `count(*) FILTER (WHERE ${isInBucket(`${duration}_ms`, bucket)})`,
    })),
  ),
];

function isInBucket(column: string, bucket: number): string {
  const above = HISTOGRAM_BOUNDS_MS[bucket - 1];
  const upTo = HISTOGRAM_BOUNDS_MS[bucket];
  const bounds = [
    above !== undefined && `${column} > ${above}`,
    upTo !== undefined && `${column} <= ${upTo}`,
  ];
  return bounds.filter(Boolean).join(" AND ");
}

/** The SQL that sums up rows that have a column for each measure. */
export const SUMS_OF_SUMS: readonly string[] = MEASURES.map(({ name }) => `sum(${name}) AS ${name}`);

/** The SQL that sums up receipts. */
export const SUMS_OF_RECEIPTS: readonly string[] = MEASURES.map(
  ({ name, ofReceipts }) => `${ofReceipts} AS ${name}`,
);

/** The SQL of all sums of rows that have a column for each measure, as the one column `measures`. */
export function measuresOfSums({ array }: Dialect): string {
  return `${array(MEASURES.map(({ name }) => `sum(${name})`))} AS measures`;
}

/** The SQL of all sums of receipts, as the one column `measures`. */
export function measuresOfReceipts({ array }: Dialect): string {
  return `${array(MEASURES.map(({ ofReceipts }) => ofReceipts))} AS measures`;
}

/** Reads the column `measures`, in the order of the columns of the roll-ups. A sum of no rows is null, and read as 0. */
export function parseMeasures({ measures }: Row): readonly (number | bigint)[] {
  const text = String(measures);
  // Safe because the column is an array of integers and nulls.
  const values = JSON.parse(text) as readonly (number | null)[];
  if (values.every((value) => value === null || Number.isSafeInteger(value))) {
    return values.map((value) => value ?? 0);
  }
  const parts = text.slice(1, -1).split(",");
  return parts.map((part) => (part.trim() === "null" ? 0 : BigInt(part)));
}

/** The number of each measure in the column `measures`. */
const POSITIONS: ReadonlyMap<string, number> = new Map(MEASURES.map(({ name }, index) => [name, index]));

/** Reads the measures of a row. */
export function readMeasures(row: Row): Omit<UsageRow, "group"> {
  const values = parseMeasures(row);
  const measure = (name: string) => values[POSITIONS.get(name) ?? -1] ?? 0;
  const count = (name: string) => Number(measure(name));
  const amount = (column: Amount) =>
    BigInt(measure(`${column}_high`)) * PART + BigInt(measure(`${column}_low`));
  const tokens = (column: Amount) => Number(amount(column));
  const histogram = (duration: (typeof DURATIONS)[number]): Histogram =>
    Array.from({ length: HISTOGRAM_BOUNDS_MS.length + 1 }, (_, bucket) => count(`${duration}_${bucket}`));
  const [requests, settled, released, expired] = ["requests", ...STATES].map(count);
  return {
    requests: requests ?? 0,
    open: (requests ?? 0) - (settled ?? 0) - (released ?? 0) - (expired ?? 0),
    settled: settled ?? 0,
    released: released ?? 0,
    expired: expired ?? 0,
    captured: amount("captured"),
    refunded: amount("refunded"),
    upstreamCost: amount("upstream_cost"),
    costed: amount("costed"),
    usage: {
      inputTokens: tokens("input_tokens"),
      cachedInputTokens: tokens("cached_input_tokens"),
      cacheWriteTokens: tokens("cache_write_tokens"),
      cacheWrite1hTokens: tokens("cache_write_1h_tokens"),
      outputTokens: tokens("output_tokens"),
    },
    firstOutputMs: histogram("first_output"),
    totalMs: histogram("total"),
  };
}
