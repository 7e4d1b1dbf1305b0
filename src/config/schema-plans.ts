import { Type } from "@sinclair/typebox";
import { MARKUP_PATTERN } from "../domain/money.ts";
import { Count, Mapping, Text } from "./schema-parts.ts";

/** Below what a table reads exactly as a number. */
const Amount = Type.String({
  pattern: "^[0-8]?\\d{1,6}(\\.\\d{1,9})?$",
  description: 'USD below 9000000 in quotes, such as "20.00", with at most 9 decimals',
});

/** The most periods that a credit outlives its own, so that its end is within a lifetime. */
const CARRY_OVER_MAX = 120;
const LIMITS_MAX = 8;
const GRACE_DAYS_MAX = 60;

/** The shape of one plan. Its rules are in `plans.ts`. */
export const Plan = Mapping({
  name: Type.Optional(Text("a name of 1 to 100 characters in one line")),
  period: Text('month, or days in quotes such as "30d"'),
  grant: Amount,
  carry_over: Type.Optional(Count(0, CARRY_OVER_MAX)),
  late_days: Type.Optional(Count(1, 366)),
  spending_limits: Type.Optional(
    Type.Array(Mapping({ amount: Amount, period: Text('day, week, month, total, or hours such as "5h"') }), {
      maxItems: LIMITS_MAX,
      description: `a list of at most ${LIMITS_MAX} limits`,
    }),
  ),
  models: Type.Optional(
    Type.Array(Text("the id of a model"), {
      minItems: 1,
      maxItems: 1_000,
      description: "a list of 1 to 1000 model ids",
    }),
  ),
  markup: Type.Optional(
    Type.String({
      pattern: MARKUP_PATTERN,
      description: 'a factor in quotes, such as "1.15": 0.0001 to 1000 with at most 4 decimals',
    }),
  ),
  price: Type.Optional(Amount),
  sold_by: Type.Optional(Type.Literal("stripe", { description: "stripe" })),
  stripe_price: Type.Optional(
    Type.String({ pattern: "^price_\\w{1,100}$", description: "the id of a price at Stripe" }),
  ),
  grace_days: Type.Optional(Count(1, GRACE_DAYS_MAX)),
});
