import { describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { nearestIds } from "../../src/catalog/catalog.ts";
import {
  type KnownModel,
  providerOf,
  readKnownModels,
  upstreamModelOf,
} from "../../src/catalog/known-models.ts";
import {
  conventionalProvider,
  findProvider,
  ownerOf,
  providerBehind,
  upstreamOf,
} from "../../src/catalog/providers.ts";
import { readTraits } from "../../src/catalog/traits.ts";
import { CAPABILITIES } from "../../src/domain/model.ts";
import { TIERS } from "../../src/domain/tiers.ts";
import { loadYaml, problemsOf } from "../config/temp-config.ts";

const known = readKnownModels();
const models = known.list();

const Usd = Type.String({ pattern: "^\\d{1,5}\\.\\d{2,6}$" });
const UsdPerUnit = Type.String({ pattern: "^\\d{1,4}\\.\\d{2,9}$" });
const Day = Type.String({ pattern: "^20\\d{2}-\\d{2}-\\d{2}$" });
const Tokens = Type.Integer({ minimum: 1, maximum: 100_000_000 });
const CLASSES = {
  input: Usd,
  output: Usd,
  cached_input: Type.Optional(Usd),
  cache_write: Type.Optional(Usd),
  cache_write_1h: Type.Optional(Usd),
};
const TierCost = Type.Optional(Type.Object(CLASSES, { additionalProperties: false }));
const Cost = Type.Object(
  {
    ...CLASSES,
    tiers: Type.Optional(
      Type.Object(Object.fromEntries(TIERS.map((tier) => [tier, TierCost])), {
        additionalProperties: false,
        minProperties: 1,
      }),
    ),
  },
  { additionalProperties: false },
);
const Line = Type.Object(
  {
    id: Type.String({ pattern: "^[a-z_]+/[\\x21-\\x7e]{1,200}$" }),
    model: Type.Optional(Type.String({ minLength: 1 })),
    mode: Type.Union(
      ["chat", "embedding", "rerank", "moderation", "image", "speech", "transcription"].map((mode) =>
        Type.Literal(mode),
      ),
    ),
    context_window: Type.Optional(Tokens),
    max_input_tokens: Type.Optional(Tokens),
    max_output_tokens: Type.Optional(Tokens),
    cost: Type.Optional(Cost),
    long: Type.Optional(
      Type.Object({ above_input_tokens: Tokens, cost: Cost }, { additionalProperties: false }),
    ),
    unit_cost: Type.Optional(
      Type.Object(
        {
          image: Type.Optional(Type.Union([UsdPerUnit, Type.Record(Type.String(), UsdPerUnit)])),
          million_characters: Type.Optional(UsdPerUnit),
          minute: Type.Optional(UsdPerUnit),
          search: Type.Optional(UsdPerUnit),
        },
        { additionalProperties: false, minProperties: 1, maxProperties: 1 },
      ),
    ),
    other_cost: Type.Optional(
      Type.Object({
        audio_input: Type.Optional(Usd),
        audio_output: Type.Optional(Usd),
        request: Type.Optional(UsdPerUnit),
      }),
    ),
    regional: Type.Optional(Type.String({ pattern: "^1\\.\\d{2}$" })),
    can: Type.Array(Type.Union(CAPABILITIES.map((name) => Type.Literal(name))), { uniqueItems: true }),
    reasoning: Type.Optional(
      Type.Union(["none", "effort", "budget", "adaptive"].map((name) => Type.Literal(name))),
    ),
    sampling: Type.Optional(Type.Boolean()),
    responses_only: Type.Optional(Type.Literal(true)),
    ends: Type.Optional(Day),
    source: Type.String({ minLength: 1, maxLength: 120 }),
    since: Day,
    last_seen: Type.Optional(Day),
  },
  { additionalProperties: false },
);

/** A configuration with one model for each of the given, whose upstreams are named like their providers. */
function yamlOf(some: readonly KnownModel[]): string {
  const providers = [...new Set(some.map(providerOf))];
  return JSON.stringify({
    upstreams: Object.fromEntries(
      providers.map((name) => [name, { protocol: "openai", base_url: "https://up.example", api_key: "k" }]),
    ),
    models: Object.fromEntries(some.map(({ id }) => [id, { known: id }])),
  });
}

function hasNoOutput({ mode, context_window: window }: KnownModel): boolean {
  return window !== undefined && ["embedding", "rerank", "moderation"].includes(mode);
}

describe("the catalog of known models", () => {
  test("has only lines of its schema, in the order of their ids", () => {
    const wrong = models.flatMap((model) =>
      [...Value.Errors(Line, model)].map(({ path, message }) => `${model.id}${path}: ${message}`),
    );
    expect(wrong).toEqual([]);
    const ids = models.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort());
  });

  test("has either a cost per token or a cost per unit of every model", () => {
    const wrong = models.filter(({ cost, unit_cost: unit }) => (cost === undefined) === (unit === undefined));
    expect(wrong).toEqual([]);
  });

  test("finds every model by its id, and no other", () => {
    for (const model of models) expect(known.find(model.id)).toEqual(model);
    for (const id of ["", "gpt-5", "openai/", "openai/gpt-", 'openai/gpt-5","mode']) {
      expect(known.find(id)).toBeUndefined();
    }
  });

  test("fills in every model that needs no window or has one so that the configuration has no problem", () => {
    const usable = models.filter((model) => model.unit_cost || model.max_output_tokens || hasNoOutput(model));
    const config = loadYaml(yamlOf(usable));
    expect(config.models).toHaveLength(usable.length);
    for (const [index, model] of config.models.entries()) {
      const filled = usable[index];
      expect(model.routes[0]?.upstreamModel).toBe(filled && upstreamModelOf(filled));
      expect(model.routes[0]?.cost).toBeDefined();
    }
  });

  test("agrees with the families of names about Anthropic's own models", () => {
    const different = models.filter((model) => {
      if (providerOf(model) !== "anthropic") return false;
      const family = readTraits(upstreamModelOf(model), {});
      const traits = readTraits(upstreamModelOf(model), model);
      return family.reasoning !== traits.reasoning || family.sampling !== traits.sampling;
    });
    expect(different.map(({ id }) => id)).toEqual([]);
  });

  test("knows how every provider is reached", () => {
    const providers = [...new Set(models.map(providerOf))];
    expect(providers.filter((provider) => !upstreamOf(provider))).toEqual([]);
    const formats = providers.filter((name) =>
      /^(openai|anthropic)$/.test(findProvider(name)?.protocol ?? ""),
    );
    for (const provider of formats) {
      const { protocol, base_url, ...settings } = upstreamOf(provider) ?? {};
      const upstream = { protocol, base_url, ...settings, api_key: "k" };
      expect(problemsOf(JSON.stringify({ upstreams: { up: upstream } }))).toEqual([]);
      expect(providerBehind(String(protocol), base_url?.toString())).toBe(ownerOf(provider));
    }
  });
});

test.each([
  ["openai", "https://api.openai.com/v1", "openai"],
  ["openai", "http://127.0.0.1:8000/v1", "openai"],
  ["openai", "https://api.x.ai/v1", "x_ai"],
  ["openai", "https://api.mistral.ai/v1", "mistral_ai"],
  ["openai", "https://api.groq.com/openai/v1", "groq"],
  ["openai", "https://api.cohere.com/v1", "cohere"],
  ["anthropic", "https://claude.example/v1", "anthropic"],
  ["azure", "https://own.openai.azure.com", "azure.ai.openai"],
  ["bedrock", "https://bedrock-runtime.eu-west-1.amazonaws.com", "aws.bedrock"],
  ["gemini", "https://generativelanguage.googleapis.com", "gcp.gemini"],
  ["vertex", "https://aiplatform.googleapis.com", "gcp.vertex_ai"],
])("an upstream of protocol %s at %s is %s by OpenTelemetry's conventions", (protocol, url, name) => {
  expect(conventionalProvider(protocol, url)).toBe(name);
});

describe("nearestIds", () => {
  test.each([
    ["anthropic/claude-sonnet-4.5", "anthropic/claude-sonnet-4-5"],
    ["claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"],
    ["openai/gpt5", "openai/gpt-5"],
  ])("of %s begin with %s", (text, nearest) => {
    const ids = models.map(({ id }) => id);
    expect(nearestIds(text, ids, 1)).toEqual([nearest]);
  });
});
