import { AMOUNTS, COST_COLUMNS } from "../../db/usage-columns.ts";
import { HISTOGRAM_BOUNDS_MS, type Histogram, type UsageRow } from "../usage-records.ts";
import type { Dialect, Row } from "./query.ts";

/** The SQL of a receipt's charge less refunds where its upstream cost is known, else null. */
export const COSTED = "CASE WHEN upstream_cost IS NULL THEN NULL ELSE captured - refunded END";

/** A sum of amounts is `high * PART + low`, because a sum of 64-bit amounts may exceed 64 bits. */
export const PART = 1_000_000_000n;

/** SQL of an amount's high and low part. */
export function partsOf(amount: string): readonly [high: string, low: string] {
  return [`(${amount}) / ${PART}`, `(${amount}) % ${PART}`];
}

/** Whether two sums differ: the columns `amount_high` and `amount_low`, and those with `prefix`. Null is 0. */
export function sumsDiffer(amount: string, prefix: string): string {
  const part = (name: string) => `(coalesce(${name}, 0) - coalesce(${prefix}_${name}, 0))`;
  return `${part(`${amount}_high`)} * ${PART} + ${part(`${amount}_low`)} <> 0`;
}

/**
 * Two sides to compare: SQL of rows, at most one for each value of the keys, which both sides have. A key that is an
 * expression must be cast to its type: SQLite looks nothing up by a value without one.
 */
interface Sides {
  readonly keys: readonly [string, ...string[]];
  readonly one: string;
  readonly other: string;
}

/**
 * Selects from the rows of both sides where the condition holds, with nulls where a side lacks a row. Not by FULL
 * JOIN, for which SQLite compares each row of one side with each of the other.
 */
export function selectDiffering(select: string, { keys, one, other }: Sides, condition: string): string {
  const join = (side: string, joined: string) =>
    `SELECT ${select} FROM ${side} LEFT JOIN ${joined} USING (${keys.join(", ")}) WHERE (${condition})`;
  return `SELECT * FROM (
      WITH one_side AS MATERIALIZED (${one}), other_side AS MATERIALIZED (${other})
      ${join("one_side", "other_side")}
      UNION ALL ${join("other_side", "one_side")} AND one_side.${keys[0]} IS NULL
    ) AS differing`;
}

/** The costs that roll-ups sum up: amounts with a high and a low column. */
const COSTS = ["upstream_cost", "costed"];

/** SQL that counts rows of a roll-up that a program wrote which knew no costs. */
export const UNCOUNTED_COSTS = "count(*) FILTER (WHERE upstream_cost_high IS NULL)";

/** Whether the costs of two sides differ, see {@link sumsDiffer}; `uncounted` is the sum of both counts. */
export function costsDiffer(prefix: string, uncounted: string): string {
  return `(${uncounted} = 0 AND (${COSTS.map((amount) => sumsDiffer(amount, prefix)).join(" OR ")}))`;
}

/** SQL of the sums of costs of receipts as columns with a prefix. */
export function receiptCosts(prefix: string): string {
  return [
    ["upstream_cost", "upstream_cost"],
    ["costed", COSTED],
  ]
    .flatMap(([name = "", amount = ""]) => {
      const [high, low] = partsOf(amount);
      return [`sum(${high}) AS ${prefix}${name}_high`, `sum(${low}) AS ${prefix}${name}_low`];
    })
    .join(", ");
}

/** SQL of the sums of costs of roll-ups as columns with a prefix. */
export function rollUpCosts(prefix: string): string {
  return COST_COLUMNS.map((name) => `sum(${name}) AS ${prefix}${name}`).join(", ");
}

/** A sum that usage reports. Roll-ups have a column of this name. */
interface Measure {
  readonly name: string;
  /** The SQL that sums up receipts. */
  readonly ofReceipts: string;
}

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

const MONEY: ReadonlySet<string> = new Set([
  "requests",
  ...["captured", "refunded", "upstream_cost", "costed"].flatMap((name) => [`${name}_high`, `${name}_low`]),
]);

/** Like {@link SUMS_OF_SUMS}, with 0 for all but requests and amounts of money. */
export const MONEY_OF_SUMS: readonly string[] = MEASURES.map(({ name }) =>
  MONEY.has(name) ? `sum(${name}) AS ${name}` : `0 AS ${name}`,
);

/** Like {@link SUMS_OF_RECEIPTS}, with 0 for all but requests and amounts of money. */
export const MONEY_OF_RECEIPTS: readonly string[] = MEASURES.map(
  ({ name, ofReceipts }) => `${MONEY.has(name) ? ofReceipts : "0"} AS ${name}`,
);

/** The SQL that sums up receipts. */
export const SUMS_OF_RECEIPTS: readonly string[] = MEASURES.map(
  ({ name, ofReceipts }) => `${ofReceipts} AS ${name}`,
);

/** The SQL that counts the receipts that ended well, which roll-ups have under their outcome. */
export const OK_OF_RECEIPTS = "count(*) FILTER (WHERE outcome = 'ok') AS ok";
export const OK_OF_ROLL_UPS = "coalesce(sum(requests) FILTER (WHERE outcome = 'ok'), 0) AS ok";

/** The SQL of charges less refunds of rows with a column for each measure, to sort by. Roll-ups have null for 0. */
export const COST_OF_SUMS = printCost();

function printCost(): string {
  const difference = (part: string) =>
    `coalesce(sum(captured_${part}), 0) - coalesce(sum(refunded_${part}), 0)`;
  return `(${difference("high")}) * ${PART} + ${difference("low")}`;
}

/** The SQL of all sums of rows that have a column for each measure, as the one column `measures`. */
export function measuresOfSums({ array }: Dialect): string {
  return `${array(MEASURES.map(({ name }) => `sum(${name})`))} AS measures`;
}

/** Like {@link measuresOfSums}, of requests and amounts of money alone. */
export function moneyOfSums({ array }: Dialect): string {
  return `${array([...MONEY].map((name) => `sum(${name})`))} AS measures`;
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

/** The number of each measure in the column `measures`: of {@link measuresOfSums}, and of {@link moneyOfSums}. */
const POSITIONS: ReadonlyMap<string, number> = new Map(MEASURES.map(({ name }, index) => [name, index]));
const MONEY_POSITIONS: ReadonlyMap<string, number> = new Map([...MONEY].map((name, index) => [name, index]));

/** Reads the measures of a row. Those that it lacks are 0. */
export function readMeasures(row: Row, isMoneyOnly = false): Omit<UsageRow, "group" | "ok"> {
  const values = parseMeasures(row);
  const positions = isMoneyOnly ? MONEY_POSITIONS : POSITIONS;
  const measure = (name: string) => values[positions.get(name) ?? -1] ?? 0;
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
