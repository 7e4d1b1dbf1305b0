import { Type } from "@sinclair/typebox";
import { DAY_MS } from "../domain/id-time.ts";
import { CAPABILITIES } from "../domain/model.ts";
import { TIERS } from "../domain/tiers.ts";
import { TOOL_CALLS_MAX } from "../domain/tool-fees.ts";
import { BetaNames, Betas, Count, Flag, Mapping, OneOf, Text, TOKENS_MAX } from "./schema-parts.ts";
import { LongPrices, Price, Prices } from "./schema-prices.ts";

const Known = Text("the id of a known model, such as anthropic/claude-sonnet-4-5");

const Abilities = Type.Array(
  Type.Union(
    CAPABILITIES.map((name) => Type.Literal(name)),
    { description: `one of ${CAPABILITIES.join(", ")}` },
  ),
  { uniqueItems: true, description: "a list of what the model can do" },
);

const Retention = OneOf("none", "some");

const Route = Mapping({
  known: Type.Optional(Known),
  upstream: Text("the name of an upstream"),
  // The bounds of this name on a receipt.
  model: Type.String({
    pattern: "^[^\\x00-\\x1f\\x7f-\\x9f\\ud800-\\udfff]{1,256}$",
    description: "the upstream's name for the model, 1 to 256 characters",
  }),
  priority: Type.Optional(Count(0, 1_000)),
  weight: Type.Optional(Count(1, 1_000_000)),
  price: Type.Optional(Price),
  cost: Type.Optional(Prices),
  long_context_price: Type.Optional(LongPrices),
  long_context_cost: Type.Optional(LongPrices),
  reasoning: Type.Optional(OneOf("none", "effort", "budget", "adaptive")),
  sampling: Type.Optional(Flag),
  can: Type.Optional(Abilities),
  retention: Type.Optional(Retention),
  context_window: Type.Optional(Count(1, TOKENS_MAX)),
  max_output_tokens: Type.Optional(Count(1, TOKENS_MAX)),
});

/** A model of tollgate.yaml. */
export const Model = Mapping({
  known: Type.Optional(Known),
  can: Type.Optional(Abilities),
  routes: Type.Array(Route, { minItems: 1, maxItems: 32, description: "a list of 1 to 32 routes" }),
  context_window: Type.Optional(Count(1, TOKENS_MAX)),
  max_output_tokens: Type.Optional(Count(0, TOKENS_MAX)),
  default_max_output_tokens: Type.Optional(Count(1, TOKENS_MAX)),
  image_tokens: Type.Optional(Count(1, TOKENS_MAX)),
  default_max_tool_calls: Type.Optional(Count(1, TOOL_CALLS_MAX)),
  route_choice: Type.Optional(OneOf("priority", "cheapest", "fastest", "least_busy")),
  prompt_affinity: Type.Optional(Flag),
  anthropic_betas: Type.Optional(Betas),
  prompt_caching: Type.Optional(OneOf("off", "auto")),
  long_context: Type.Optional(
    Mapping({
      context_window: Type.Optional(Count(1, TOKENS_MAX)),
      above_input_tokens: Type.Optional(Count(1, TOKENS_MAX)),
      price: Type.Optional(LongPrices),
      cost: Type.Optional(LongPrices),
    }),
  ),
  price: Type.Optional(Price),
  cost: Type.Optional(Prices),
});

const ApiKey = Type.String({
  pattern: "^[\\x21-\\x7e]+$",
  description: "a key without spaces or line breaks",
});

const PooledKey = Mapping({
  api_key: ApiKey,
  weight: Type.Optional(Count(1, 1_000_000)),
  limits: Type.Optional(
    Mapping({
      requests_per_minute: Type.Optional(Count(1, Number.MAX_SAFE_INTEGER)),
      tokens_per_minute: Type.Optional(Count(1, Number.MAX_SAFE_INTEGER)),
      concurrent_requests: Type.Optional(Count(1, Number.MAX_SAFE_INTEGER)),
    }),
  ),
});

/** An upstream of tollgate.yaml. */
export const Upstream = Mapping({
  protocol: OneOf("openai", "anthropic", "azure", "bedrock", "gemini", "vertex"),
  base_url: Type.Optional(Text("an https URL")),
  api_key: Type.Optional(ApiKey),
  keys: Type.Optional(
    Type.Record(Type.String(), PooledKey, {
      minProperties: 1,
      maxProperties: 1_000,
      description: "a mapping of 1 to 1000 keys by label",
    }),
  ),
  api_version: Type.Optional(
    Type.String({
      pattern: "^\\d{4}-\\d{2}-\\d{2}(-preview)?$",
      description: 'a version in quotes, such as "2024-10-21"',
    }),
  ),
  entra: Type.Optional(Flag),
  entra_scope: Type.Optional(
    Type.String({
      pattern: "^https://[\\x21-\\x7e]+/\\.default$",
      description: "a scope such as https://cognitiveservices.azure.us/.default",
    }),
  ),
  project: Type.Optional(
    Type.String({ pattern: "^[a-z\\d][a-z\\d.:-]{0,99}$", description: "the id of a Google Cloud project" }),
  ),
  location: Type.Optional(
    Type.String({
      pattern: "^[a-z]+(-[a-z]+\\d+)?$",
      description: "global, us, eu or a region of Google Cloud",
    }),
  ),
  credentials: Type.Optional(Text("the JSON of a credentials file of Google Cloud")),
  timeouts: Type.Optional(
    Mapping({
      connect_ms: Type.Optional(Count(1, DAY_MS)),
      first_output_ms: Type.Optional(Count(1, DAY_MS)),
      idle_ms: Type.Optional(Count(1, DAY_MS)),
      total_ms: Type.Optional(Count(1, DAY_MS)),
    }),
  ),
  responses: Type.Optional(Flag),
  anthropic_betas: Type.Optional(Betas),
  anthropic_beta_names: Type.Optional(BetaNames),
  region: Type.Optional(
    Type.String({
      pattern: "^[a-z]{2,3}(-[a-z]+)+-\\d{1,2}$",
      description: "a region of AWS such as us-east-1",
    }),
  ),
  profile: Type.Optional(
    Type.String({ pattern: "^[\\x21-\\x7e]{1,128}$", description: "the name of a profile of AWS" }),
  ),
  api: Type.Optional(OneOf("invoke", "converse")),
  circuit_failures: Type.Optional(Count(1, 1_000_000)),
  retention: Type.Optional(Retention),
  default_tier: Type.Optional(
    Type.Union(
      TIERS.map((name) => Type.Literal(name)),
      { description: `one of ${TIERS.join(", ")}` },
    ),
  ),
  output_limit_field: Type.Optional(OneOf("max_tokens", "max_completion_tokens")),
});
