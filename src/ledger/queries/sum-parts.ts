// Sums of amounts in two parts, because a sum of 64-bit amounts may exceed 64 bits.

import { COST_COLUMNS } from "../../db/usage-columns.ts";

/** The SQL of a receipt's charge less refunds where its upstream cost is known, else null. */
export const COSTED = "CASE WHEN upstream_cost IS NULL THEN NULL ELSE captured - refunded END";

/** An amount is `high * PART + low`. */
export const PART = "1000000000";

/** SQL of an amount's high and low part. */
export function partsOf(amount: string): readonly [high: string, low: string] {
  return [`(${amount}) / ${PART}`, `(${amount}) % ${PART}`];
}

/** Whether two sums differ: the columns `amount_high` and `amount_low`, and those with `prefix`. Null is 0. */
export function sumsDiffer(amount: string, prefix: string): string {
  const part = (name: string) => `(coalesce(${name}, 0) - coalesce(${prefix}_${name}, 0))`;
  return `${part(`${amount}_high`)} * ${PART} + ${part(`${amount}_low`)} <> 0`;
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
