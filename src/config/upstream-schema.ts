import { Type } from "@sinclair/typebox";
import { DAY_MS } from "../domain/id-time.ts";
import { BetaNames, Betas, Count, Mapping, Text } from "./schema-parts.ts";

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
  protocol: Type.Union(
    [
      Type.Literal("openai"),
      Type.Literal("anthropic"),
      Type.Literal("azure"),
      Type.Literal("bedrock"),
      Type.Literal("gemini"),
      Type.Literal("vertex"),
    ],
    { description: "openai, anthropic, azure, bedrock, gemini or vertex" },
  ),
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
  entra: Type.Optional(Type.Boolean({ description: "true or false" })),
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
  responses: Type.Optional(Type.Boolean({ description: "true or false" })),
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
  api: Type.Optional(
    Type.Union([Type.Literal("invoke"), Type.Literal("converse")], { description: "invoke or converse" }),
  ),
  circuit_failures: Type.Optional(Count(1, 1_000_000)),
  output_limit_field: Type.Optional(
    Type.Union([Type.Literal("max_tokens"), Type.Literal("max_completion_tokens")], {
      description: "max_tokens or max_completion_tokens",
    }),
  ),
});
