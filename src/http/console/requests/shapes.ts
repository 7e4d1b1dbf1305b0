import { type Static, t } from "elysia";
import { oneOf, pageOf, scopeFilter, time, usd } from "../shapes.ts";

/** PostgreSQL has no text with a NUL. */
const text = t.String({ maxLength: 256, pattern: "^[^\\0]*$" });

/** Filters of the list of requests. */
export const requestsQuery = t.Object({
  page: t.Optional(t.String({ maxLength: 4_000 })),
  size: t.Optional(t.Integer({ minimum: 1, maximum: 100, description: "default: 50" })),
  key: t.Optional(text),
  model: t.Optional(text),
  upstream: t.Optional(text),
  outcome: t.Optional(text),
  failed: t.Optional(
    t.Boolean({ description: "those that ended with another outcome than ok, or with none" }),
  ),
  surface: t.Optional(text),
  state: t.Optional(oneOf(["held", "settled", "released", "expired"])),
  from: t.Optional(time),
  to: t.Optional(time),
  metadata: t.Optional(t.String({ maxLength: 512, description: "name:value of a member of the metadata" })),
  scope: t.Optional(scopeFilter),
  sort: t.Optional(
    t.Union([t.Literal("-charged"), t.Literal("-duration")], {
      description: "the dearest or the slowest first, one page of the newest that match, at most 2,000",
    }),
  ),
});
export type RequestsQueryText = Static<typeof requestsQuery>;

const rowMembers = {
  id: t.String({ description: "the request id, UUIDv7" }),
  at: time,
  model: t.String(),
  upstream: t.Nullable(t.String()),
  key_id: t.String(),
  key_name: t.Nullable(t.String()),
  surface: t.String(),
  state: t.String({ description: "held, settled, released or expired" }),
  outcome: t.Nullable(t.String()),
  input_tokens: t.Nullable(t.Integer({ description: "all classes of input" })),
  cached_input_tokens: t.Nullable(t.Integer()),
  output_tokens: t.Nullable(t.Integer()),
  first_output_ms: t.Nullable(t.Integer()),
  total_ms: t.Nullable(t.Integer()),
  granted_usd: usd,
  charged_usd: usd,
  source: t.Nullable(t.String()),
};

const row = t.Object(rowMembers);
export type RequestRow = Static<typeof row>;

export const requestsAnswer = t.Object({
  items: t.Array(row),
  next: t.Nullable(t.String()),
  ordered_from: t.Nullable(
    t.String({ description: "since when requests were put in an order, where older ones match too" }),
  ),
  searched_to: t.Nullable(
    t.String({ description: "how far back a search by metadata has come; null when it came to the end" }),
  ),
});

export const receiptAnswer = t.Object({
  ...rowMembers,
  scopes: t.Array(t.Object({ kind: t.String(), id: t.String(), name: t.Nullable(t.String()) }), {
    description: "what it counts for beside account and key: project, member, end_user, tag, run, parent_key",
  }),
  resolved_at: t.Nullable(time),
  late: t.Boolean(),
  refunded_usd: usd,
  released_usd: usd,
  upstream_model: t.Nullable(t.String()),
  tier: t.Nullable(t.String({ description: "the service tier of the price; null for the standard one" })),
  attempts: t.Array(
    t.Object({
      upstream: t.String(),
      key: t.Nullable(t.String({ description: "Label of the upstream's key" })),
      reason: t.Nullable(
        t.String({ description: "Why the route and key were taken, or what a skipped route cannot" }),
      ),
      report: t.Nullable(
        t.String({
          description: "Why its reported usage was not charged: missing, uncountable, above_bound, tier",
        }),
      ),
      status: t.Integer({ description: "0 without a response" }),
      ms: t.Integer(),
    }),
  ),
  lines: t.Array(
    t.Object({
      class: t.String({
        description:
          "input, cached_input, cache_write, cache_write_1h, output, tokens such as audio.input, a tool such as web_search, a unit (search, image, character, second), or other: an amount without tokens",
      }),
      tokens: t.Integer({ description: "tokens of the class, calls of the tool, or units" }),
      price_usd_per_million: t.String(),
      amount_usd: t.String({ description: "exact USD with up to 12 decimals" }),
    }),
  ),
  upstream_cost_usd: t.Nullable(
    t.String({ description: "what the upstream bills; null when unknown, and for all but operators" }),
  ),
  rounding_usd: t.String({ description: "under one nano-USD: the sum of lines and rounding is charged_usd" }),
  saved_by_caching_usd: t.Nullable(
    t.String({ description: "what prompt caching saved, below zero for a loss; null without usage" }),
  ),
  source_text: t.String(),
  outcome_text: t.String(),
  metadata: t.Nullable(t.Record(t.String(), t.Unknown())),
});
export type ReceiptJson = Static<typeof receiptAnswer>;

export const findAnswer = t.Object({
  items: t.Array(
    t.Object({
      kind: oneOf(["request", "refusal", "key", "model", "account"]),
      account_id: t.Nullable(t.String()),
      id: t.String(),
      title: t.String(),
    }),
  ),
});
export type Found = Static<typeof findAnswer>["items"][number];

const quantity = t.Nullable(
  t.Object({
    amount: t.String(),
    unit: oneOf(["usd", "requests", "tokens"]),
  }),
);

/** Refused requests of one key, cause, model and minute. The quantities are those of the last of them. */
const refusalMembers = {
  minute: time,
  key_id: t.String({ description: "empty where refusals of several keys and models are added up" }),
  key_name: t.Nullable(t.String()),
  model: t.Nullable(t.String()),
  code: t.String(),
  cause: t.String(),
  text: t.String(),
  count: t.Integer(),
  last_request_id: t.String(),
  needed_usd: t.Nullable(usd),
  available_usd: t.Nullable(usd),
  needed: quantity,
  had: quantity,
};

export const refusalsQuery = t.Object({
  page: t.Optional(t.String({ maxLength: 4_000 })),
  size: t.Optional(t.Integer({ minimum: 1, maximum: 500, description: "default: 100" })),
  from: t.Optional(time),
  to: t.Optional(time),
  key: t.Optional(text),
  code: t.Optional(text),
});

const refusal = t.Object(refusalMembers);
export type RefusalJson = Static<typeof refusal>;

export const refusalsAnswer = pageOf(refusal);

export const refusalAnswer = t.Object({
  ...refusalMembers,
  request_id: t.String(),
  exact: t.Boolean({
    description:
      "false when only other requests of the same key, cause and minute are stored: the numbers are theirs",
  }),
  at: time,
  rule: t.String({ description: "the rule that refused the request, as a sentence" }),
  spending_limit: t.Nullable(
    t.Object({
      limit_id: t.String(),
      kind: t.String({ description: "account, or what the limit binds: key, project, end_user, run, …" }),
      id: t.Nullable(t.String({ description: "of what the limit binds; of a template, what it counted" })),
      name: t.Nullable(t.String({ description: "of a key, project or member" })),
      limit_usd: t.Nullable(usd),
      used_usd: t.Nullable(usd),
      on_hold_usd: t.Nullable(usd),
      period: t.Nullable(t.String()),
      resets_at: t.Nullable(time),
    }),
  ),
  held_by: t.Array(t.Object({ request_id: t.String(), granted_usd: usd })),
  cure: oneOf(["raise_limit", "top_up", "wait", "none"]),
  cure_text: t.String(),
  retry_after_s: t.Nullable(t.Integer()),
  key: t.Nullable(t.Object({ id: t.String(), name: t.String(), hint: t.String() })),
});
export type RefusalDetailJson = Static<typeof refusalAnswer>;
