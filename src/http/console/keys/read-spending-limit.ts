import type { Static } from "elysia";
import type { SpendingLimit } from "../../../accounts/spending-limits.ts";
import { parseUsd } from "../../../domain/money.ts";
import { isLimitPeriod, isTimeZone } from "../../../domain/period.ts";
import { GatewayError } from "../../../errors.ts";
import type { spendingLimitBody } from "./shapes.ts";

/** Reads the limit at a path of a body. Throws `wrong_shape` for a wrong amount, period or zone. */
export function readSpendingLimit<Absent extends null | undefined>(
  limit: Static<typeof spendingLimitBody> | Absent,
  path = "spending_limit",
): SpendingLimit | Absent {
  if (!limit) return limit;
  const { amount_usd, period, time_zone: timeZone } = limit;
  const wrongShape = (member: string) => new GatewayError("wrong_shape", { path: `${path}.${member}` });
  if (!isLimitPeriod(period)) throw wrongShape("period");
  if (timeZone !== undefined && !isTimeZone(timeZone)) throw wrongShape("time_zone");
  try {
    return { amount: parseUsd(amount_usd), period, timeZone };
  } catch {
    throw wrongShape("amount_usd");
  }
}
