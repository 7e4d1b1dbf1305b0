// Sums of amounts in two parts, because a sum of 64-bit amounts may exceed 64 bits.

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
