import { parseMarkup, parseUsd } from "../domain/money.ts";
import { NAME } from "../domain/name-characters.ts";
import { isLimitPeriod } from "../domain/period.ts";
import type { Plan } from "../domain/plan.ts";
import { isPlanPeriod } from "../domain/plan-period.ts";
import type { Path, Problems } from "./problems.ts";
import type { ConfigFile, Partly, PlanEntry } from "./schema.ts";

/** Reports problems of plans beyond the schema. Models are checked where the file has any. */
export function checkPlans({ plans = {}, models }: Partly<ConfigFile>, problems: Problems): void {
  for (const [id, plan = {}] of Object.entries(plans)) {
    const path = ["plans", id];
    if (!/^[a-z\d][a-z\d_-]{0,63}$/.test(id)) {
      const expected = "1 to 64 lower-case letters, digits, dashes and underscores";
      problems.add(path, "is not a valid id of a plan", expected);
    }
    if (plan.name !== undefined && !NAME.test(plan.name))
      problems.add([...path, "name"], "is not a valid name", "1 to 100 characters in one line");
    if (plan.period !== undefined && !isPlanPeriod(plan.period))
      problems.add([...path, "period"], "is not a period", 'month, or "1d" to "366d"');
    checkLimits(path, plan, problems);
    checkSale(path, plan, problems);
    if (models) checkModels(path, plan, { known: models, problems });
  }
  checkPrices(plans, problems);
}

function checkLimits(path: Path, { spending_limits: limits = [] }: Partly<PlanEntry>, problems: Problems) {
  for (const [index, limit] of Object.entries(limits)) {
    const period = typeof limit === "object" ? limit.period : undefined;
    if (period === undefined || isLimitPeriod(period)) continue;
    const at = [...path, "spending_limits", index, "period"];
    problems.add(at, "is not a period", 'day, week, month, total, or "1h" to "168h"');
  }
}

const PRICE_MIN = parseUsd("0.50");
const PRICE_MAX = parseUsd("999999.99");
const CENT = parseUsd("0.01");

function checkSale(path: Path, plan: Partly<PlanEntry>, problems: Problems) {
  if (plan.sold_by === undefined) {
    for (const key of ["stripe_price", "grace_days"] as const) {
      if (plan[key] !== undefined) problems.add([...path, key], "has no effect", "sold_by: stripe beside it");
    }
  } else if (!isPayable(plan.price)) {
    problems.add([...path, "price"], "is no price that Stripe takes", "0.50 to 999999.99 USD in whole cents");
  }
}

function isPayable(price: unknown): boolean {
  if (typeof price !== "string" || !/^\d{1,7}(\.\d{1,9})?$/.test(price)) return false;
  const amount = parseUsd(price);
  return amount >= PRICE_MIN && amount <= PRICE_MAX && amount % CENT === 0n;
}

/** Two plans of one price at Stripe: a paid invoice would be of either. */
function checkPrices(
  plans: Readonly<Record<string, Partly<PlanEntry> | undefined>>,
  problems: Problems,
): void {
  const known = new Set<unknown>();
  for (const [id, { stripe_price: price } = {}] of Object.entries(plans)) {
    if (price === undefined) continue;
    if (known.has(price)) problems.add(["plans", id, "stripe_price"], "is that of another plan", "its own");
    known.add(price);
  }
}

interface ModelCheck {
  readonly known: object;
  readonly problems: Problems;
}

function checkModels(path: Path, { models = [] }: Partly<PlanEntry>, { known, problems }: ModelCheck): void {
  for (const [index, id] of Object.entries(models)) {
    if (typeof id !== "string" || Object.hasOwn(known, id)) continue;
    problems.add([...path, "models", index], "is not the id of a model", "one of the keys of models");
  }
}

/** Reads the plans of a checked file. */
export function readPlans({ plans = {} }: ConfigFile): readonly Plan[] {
  return Object.entries(plans).map(([id, entry]) => readPlan(id, entry));
}

const LATE_DAYS = 1;
const GRACE_DAYS = 3;

function readPlan(id: string, entry: PlanEntry): Plan {
  const { period, markup, price } = entry;
  return {
    id,
    name: entry.name ?? id,
    // The rules of the file demand a period.
    period: isPlanPeriod(period) ? period : "month",
    grant: parseUsd(entry.grant),
    carryOver: entry.carry_over ?? 0,
    lateDays: entry.late_days ?? LATE_DAYS,
    limits: readLimits(entry),
    models: entry.models && [...new Set(entry.models)],
    markup: markup === undefined ? undefined : parseMarkup(markup),
    price: price === undefined ? undefined : parseUsd(price),
    ...readSale(entry),
  };
}

function readSale({ sold_by: seller, stripe_price: price, grace_days: days }: PlanEntry): Pick<Plan, "sale"> {
  return seller ? { sale: { graceDays: days ?? GRACE_DAYS, stripePrice: price } } : {};
}

function readLimits({ spending_limits: limits = [] }: PlanEntry): Plan["limits"] {
  return limits.flatMap(({ amount, period }) =>
    isLimitPeriod(period) ? [{ amount: parseUsd(amount), period }] : [],
  );
}
