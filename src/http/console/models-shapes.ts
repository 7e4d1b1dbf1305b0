import { t } from "elysia";
import { oneOf, time, usd } from "./shapes.ts";

const price = t.String({ description: "USD per million tokens" });
const count = t.Integer({ minimum: 0 });
const tokens = t.Integer({ minimum: 0, maximum: 1_000_000_000 });

const tokenPrice = t.Object({
  input: price,
  output: price,
  cached_input: price,
  cache_write: price,
  cache_write_1h: price,
});

const modalPrice = t.Object({
  input: t.Nullable(price),
  cached_input: t.Nullable(price),
  output: t.Nullable(price),
});

const milliseconds = t.Number({ description: "milliseconds, interpolated inside of fixed buckets" });
const firstOutput = t.Nullable(
  t.Object(
    { p50: milliseconds, p95: milliseconds },
    { description: "from request to first output, of streamed answers; null of too few" },
  ),
);

const day = t.Object(
  {
    success: t.Number({
      description: "share of requests that were answered, in whole percent, rounded down",
    }),
    first_output: firstOutput,
  },
  { description: "the last 24 hours of all accounts, rounded; null below 50 requests" },
);

const attempts = {
  answered: count,
  failed: t.Integer({ description: "attempts that the upstream refused, broke off or let time out" }),
  first_output: firstOutput,
};

const route = t.Object({
  upstream: t.String(),
  model: t.String(),
  priority: t.Integer(),
  weight: t.Integer(),
  cost: t.Nullable(tokenPrice),
  unit_cost: t.Nullable(t.String({ description: "USD per unit" })),
  can: t.Nullable(t.Array(t.String())),
  day: t.Object(attempts, { description: "attempts of the last 24 hours" }),
});

export const model = t.Object({
  id: t.String(),
  context_window: count,
  max_output_tokens: count,
  default_max_output_tokens: count,
  price: tokenPrice,
  tier_prices: t.Nullable(
    t.Record(t.String(), tokenPrice, { description: "prices of tokens by service tier; null without any" }),
  ),
  unit_price: t.Nullable(
    t.Object({
      unit: t.String(),
      usd: t.String({ description: "USD per unit; of the dearest kind where there are several" }),
      kinds: t.Nullable(t.Record(t.String(), t.String())),
    }),
  ),
  surfaces: t.Array(t.String()),
  can: t.Nullable(t.Array(t.String(), { description: "what the model can do, where it is known" })),
  long_price: t.Nullable(
    t.Object(
      { above_input_tokens: count, price: tokenPrice },
      { description: "of requests with long input" },
    ),
  ),
  tool_prices: t.Nullable(t.Record(t.String(), t.String(), { description: "USD per call of a tool" })),
  apart_prices: t.Nullable(
    t.Object(
      { audio: t.Nullable(modalPrice), image: t.Nullable(modalPrice) },
      { description: "prices of tokens that differ from text" },
    ),
  ),
  day: t.Nullable(day),
  routes: t.Nullable(t.Array(route)),
  is_demo: t.Boolean(),
});

export const estimateBody = t.Object({
  model: t.String({ minLength: 1, maxLength: 256 }),
  input_tokens: t.Optional(tokens),
  text: t.Optional(t.String({ maxLength: 500_000 })),
  output_tokens: t.Optional(t.Integer({ minimum: 1, maximum: 1_000_000_000 })),
});

export const estimate = t.Object({
  cost_usd: usd,
  hold_usd: usd,
  lines: t.Array(
    t.Object({
      class: oneOf(["input", "output"]),
      tokens: count,
      price,
      amount_usd: usd,
    }),
  ),
  rounding_usd: usd,
});

export const hoursQuery = t.Object({
  model: t.Optional(
    t.String({ minLength: 1, maxLength: 256, description: "every route in use without one" }),
  ),
});

export const hours = t.Object({
  items: t.Array(
    t.Object({
      model: t.String(),
      upstream: t.String(),
      upstream_model: t.String(),
      hours: t.Array(t.Object({ at: time, ...attempts }), { description: "24 UTC hours, the oldest first" }),
    }),
  ),
});
