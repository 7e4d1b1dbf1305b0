import { type Static, type TSchema, t } from "elysia";
import { printUsd } from "../../../domain/money.ts";
import type { AccountAnomaly } from "../../../usage/anomalies.ts";
import type { Compared, PriceComparison } from "../../../usage/what-if.ts";
import { oneOf, scopeFilter, time, usd } from "../shapes.ts";

export const offsetHours = t.Integer({
  minimum: -14,
  maximum: 14,
  description: "whole hours that the viewer's days are ahead of UTC",
});

/** Filters and grouping of a usage view. Times default to the last 30 days. */
export const usageQuery = t.Object({
  from: t.Optional(time),
  to: t.Optional(time),
  by: t.Optional(oneOf(["hour", "day", "none"])),
  group: t.Optional(
    oneOf(
      [
        "none",
        "model",
        "key",
        "upstream",
        "outcome",
        "project",
        "member",
        "end_user",
        "tag",
        "run",
        "parent_key",
      ],
      { description: "(other): all but the dearest, and but the first 10,000 of a kind on a UTC day" },
    ),
  ),
  tag_key: t.Optional(t.String({ maxLength: 256, description: "key of the tags that `tag` groups by" })),
  scope: t.Optional(scopeFilter),
  key: t.Optional(t.String({ maxLength: 256 })),
  model: t.Optional(t.String({ maxLength: 256 })),
  upstream: t.Optional(t.String({ maxLength: 256 })),
  outcome: t.Optional(t.String({ maxLength: 256 })),
  offset_h: t.Optional(offsetHours),
});

export type UsageQueryText = Static<typeof usageQuery>;

/** Filters and grouping of a view of all accounts. */
export const operatorUsageQuery = t.Composite([
  t.Omit(usageQuery, ["group", "tag_key"]),
  t.Object({
    group: t.Optional(oneOf(["none", "account", "model", "key", "upstream", "outcome"])),
  }),
]);
export type OperatorUsageQueryText = Static<typeof operatorUsageQuery>;

/** Sums. The token classes are disjoint: `input_tokens` are neither read from a cache nor written to one. */
const sums = {
  requests: t.Integer(),
  errors: t.Integer({ description: "requests that ended with another outcome than ok" }),
  refused: t.Integer({ description: "refused before a hold was taken; in no other column" }),
  cost_usd: usd,
  input_tokens: t.Integer(),
  cached_input_tokens: t.Integer(),
  cache_write_tokens: t.Integer(),
  output_tokens: t.Integer(),
};

/** Members that only operators see. */
const margin = {
  upstream_cost_usd: t.String({ description: "billed by upstreams, of requests whose cost is known" }),
  margin_usd: t.String({ description: "charges less refunds and upstream costs of these requests" }),
  unknown_cost_usd: t.String({ description: "charges less refunds of all other requests" }),
};

const percentiles = t.Nullable(
  t.Object(
    { p50: t.Number(), p95: t.Number(), p99: t.Number() },
    { description: "milliseconds, interpolated inside of fixed buckets; 30000 means 30 s or more" },
  ),
);

const total = t.Object({
  ...sums,
  first_output: percentiles,
  total_time: percentiles,
  histograms: t.Object({
    bounds_ms: t.Array(t.Integer()),
    first_output: t.Array(t.Integer({ description: "requests per bucket; the last has no upper bound" })),
    total_time: t.Array(t.Integer()),
  }),
});
export type UsageTotal = Static<typeof total>;

const row = t.Object({
  time: t.Nullable(time),
  group: t.Nullable(t.String()),
  group_name: t.Nullable(t.String()),
  ...sums,
});
export type UsageRowJson = Static<typeof row>;

const names = t.Object({ group: t.Nullable(t.String()), group_name: t.Nullable(t.String()) });

function answerOf<Row extends TSchema, Total extends ReturnType<typeof t.Object>>(
  rowShape: Row,
  totalShape: Total,
) {
  return t.Object({
    from: time,
    to: time,
    resolution: oneOf(["hour", "day"], {
      description: "day: whole UTC days were read, and the range was widened to them",
    }),
    refused_since: t.String({ description: "refused requests are kept for 7 days; earlier ones count as 0" }),
    rows: t.Array(rowShape),
    total: totalShape,
    groups: t.Array(t.Composite([names, totalShape])),
    previous: t.Nullable(totalShape),
  });
}

export const usageAnswer = answerOf(row, total);
export type UsageAnswer = Static<typeof usageAnswer>;

const operatorTotal = t.Composite([total, t.Object(margin)]);
const operatorRow = t.Composite([row, t.Object(margin)]);
export type OperatorUsageRowJson = Static<typeof operatorRow>;

/** The answer for operators: every sum with its margin. */
export const operatorUsageAnswer = answerOf(operatorRow, operatorTotal);
export type OperatorUsageAnswer = Static<typeof operatorUsageAnswer>;

export const anomaliesAnswer = t.Object({
  items: t.Array(
    t.Object({
      day: t.String({ description: "UTC day: 2026-11-22" }),
      cost_usd: usd,
      usual_usd: t.String({ description: "median of the same weekday in the 8 weeks before" }),
      key_id: t.Nullable(t.String()),
      key_name: t.Nullable(t.String()),
    }),
  ),
});

export const whatIfBody = t.Object(
  {
    from: time,
    to: time,
    model: t.String({ maxLength: 256 }),
    key: t.Optional(t.String({ maxLength: 256 })),
  },
  { additionalProperties: false },
);

const compared = { requests: t.Integer(), actual_usd: usd, what_if_usd: usd };

export const whatIfAnswer = t.Object({
  ...compared,
  by_key: t.Array(t.Object({ key_id: t.String(), key_name: t.Nullable(t.String()), ...compared })),
});

export function printAnomalies(anomalies: readonly AccountAnomaly[]): typeof anomaliesAnswer.static {
  return {
    items: anomalies.map(({ dayMs, cost, usual, key }) => ({
      day: new Date(dayMs).toISOString().slice(0, 10),
      cost_usd: printUsd(cost),
      usual_usd: printUsd(usual),
      key_id: key?.id ?? null,
      key_name: key?.name ?? null,
    })),
  };
}

export function printComparison({ total, byKey }: PriceComparison): typeof whatIfAnswer.static {
  return {
    ...printCompared(total),
    by_key: byKey.map((key) => ({
      key_id: key.keyId,
      key_name: key.keyName ?? null,
      ...printCompared(key),
    })),
  };
}

function printCompared({ requests, actual, whatIf }: Compared) {
  return { requests, actual_usd: printUsd(actual), what_if_usd: printUsd(whatIf) };
}
