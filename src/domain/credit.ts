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

const PLAN_CREDIT = /^plan-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}-/;

/** Whether an id is one of those that the credits of subscriptions have: booked by another, it would block one. */
export function isPlanCreditId(id: string): boolean {
  return PLAN_CREDIT.test(id);
}
