/** Where the money of a credit comes from, in the order in which credits of one end are spent. */
export const CREDIT_SOURCES = Object.freeze([
  "promotion",
  "plan",
  "refund",
  "adjustment",
  "purchase",
] as const);
export type CreditSource = (typeof CREDIT_SOURCES)[number];

export function isCreditSource(text: unknown): text is CreditSource {
  return CREDIT_SOURCES.some((source) => source === text);
}
