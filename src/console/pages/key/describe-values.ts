import { formatCount, formatExact, readUsd } from "../../format.ts";
import type { FieldInWords } from "../../parts/conflict-dialog.tsx";
import { formatTime } from "../../times.ts";
import { type KeyValues, PERIOD_TEXTS } from "../keys/key-values.ts";

/** Puts every field of a key into words. */
export function describeValues(values: KeyValues): readonly FieldInWords[] {
  const { models, expires_at } = values;
  return [
    ["Name", values.name],
    ["Spending limit", describeSpending(values.spending_limit)],
    ["Requests per minute", describeCount(values.requests_per_minute)],
    ["Tokens per minute", describeCount(values.tokens_per_minute)],
    ["Running at once", describeCount(values.concurrent_requests)],
    ["Models", models ? [...models].sort().join(", ") : "every model"],
    ["Expires", expires_at === null ? "never" : formatTime(expires_at, "second")],
    ["Shortens answers", values.allows_clamp ? "yes" : "no"],
  ];
}

function describeSpending(limit: KeyValues["spending_limit"]): string {
  if (!limit) return "none";
  const zone = limit.time_zone ? `, ${limit.time_zone}` : "";
  return `${describeAmount(limit.amount_usd)} ${PERIOD_TEXTS[limit.period]}${zone}`;
}

/** What was typed may be no amount. */
function describeAmount(text: string): string {
  try {
    return formatExact(readUsd(text));
  } catch {
    return text;
  }
}

function describeCount(count: number | null): string {
  return count === null ? "default" : formatCount(count);
}
