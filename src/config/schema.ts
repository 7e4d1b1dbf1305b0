import { type Static, type TObject, type TProperties, Type } from "@sinclair/typebox";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { Value, ValuePointer } from "@sinclair/typebox/value";
import { CAPABILITIES } from "../domain/model.ts";
import { MARKUP_PATTERN } from "../domain/money.ts";
import type { Path, Problems } from "./problems.ts";

// Each `description` completes a problem: "…, expected <description>".
const DAY_MS = 86_400_000;
export const TOKENS_MAX = 100_000_000;

const Text = (description: string) => Type.String({ minLength: 1, description });

const Count = (minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, description: `a whole number from ${minimum} to ${maximum}` });

const Usd = Type.String({
  pattern: "^\\d{1,10}(\\.\\d{1,6})?$",
  description: 'USD per million tokens in quotes, such as "3.00", with at most 6 decimals',
});

function Mapping<T extends TProperties>(properties: T): TObject<T> {
  return Type.Object(properties, { additionalProperties: false, description: "a mapping" });
}

const Origins = Type.Union([Type.Literal("*"), Type.Array(Text("an origin"), { maxItems: 1_000 })], {
  description: '"*" or a list of origins such as https://app.example.com',
});

const CACHE_PRICES = {
  cached_input: Type.Optional(Usd),
  cache_write: Type.Optional(Usd),
  cache_write_1h: Type.Optional(Usd),
};

const UsdPerUnit = Type.String({
  pattern: "^\\d{1,6}(\\.\\d{1,12})?$",
  description: 'USD in quotes, such as "0.04", with at most 12 decimals',
});

/** A size, and a quality where the model has several; clients name them in their requests. */
const IMAGE_KIND = "^(?!auto\\b)[\\w.:-]{1,64}( (?!auto$)[\\w.:-]{1,64})?$";

const UNIT_PRICES = {
  search: Type.Optional(UsdPerUnit),
  image: Type.Optional(
    Type.Union(
      [
        UsdPerUnit,
        Type.Record(Type.String({ pattern: IMAGE_KIND }), UsdPerUnit, {
          additionalProperties: false,
          minProperties: 1,
          maxProperties: 64,
        }),
      ],
      { description: 'USD per image, or a mapping by size and quality such as "1024x1024 hd"' },
    ),
  ),
  million_characters: Type.Optional(
    Type.String({
      pattern: Usd.pattern ?? "",
      description: 'USD in quotes, such as "15.00", with at most 6 decimals',
    }),
  ),
  minute: Type.Optional(UsdPerUnit),
};

const LongPrices = Mapping({ input: Usd, output: Usd, ...CACHE_PRICES });

/** Either `input` and `output`, or one unit; see `price-rules.ts`. */
const Prices = Mapping({
  input: Type.Optional(Usd),
  output: Type.Optional(Usd),
  ...CACHE_PRICES,
  ...UNIT_PRICES,
});

/** Either `markup` alone, or prices as of a cost; see `price-rules.ts`. */
const Price = Mapping({
  markup: Type.Optional(
    Type.String({
      pattern: MARKUP_PATTERN,
      description: 'a factor in quotes, such as "1.15", from 0.0001 to 1000 with at most 4 decimals',
    }),
  ),
  input: Type.Optional(Usd),
  output: Type.Optional(Usd),
  ...CACHE_PRICES,
  ...UNIT_PRICES,
});

const Betas = Type.Array(
  Type.String({
    pattern: "^[\\w.:-]{1,128}\\*?$",
    description: "the name of a beta, or its beginning and a *",
  }),
  { maxItems: 64, description: "a list of betas" },
);

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

const Upstream = Mapping({
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

const Known = Text("the id of a known model, such as anthropic/claude-sonnet-4-5");

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
  reasoning: Type.Optional(
    Type.Union(
      [Type.Literal("none"), Type.Literal("effort"), Type.Literal("budget"), Type.Literal("adaptive")],
      { description: "none, effort, budget or adaptive" },
    ),
  ),
  sampling: Type.Optional(Type.Boolean({ description: "true or false" })),
});

const Model = Mapping({
  known: Type.Optional(Known),
  can: Type.Optional(
    Type.Array(
      Type.Union(
        CAPABILITIES.map((name) => Type.Literal(name)),
        {
          description: `one of ${CAPABILITIES.join(", ")}`,
        },
      ),
      { uniqueItems: true, description: "a list of what the model can do" },
    ),
  ),
  routes: Type.Array(Route, { minItems: 1, maxItems: 32, description: "a list of 1 to 32 routes" }),
  context_window: Type.Optional(Count(1, TOKENS_MAX)),
  max_output_tokens: Type.Optional(Count(0, TOKENS_MAX)),
  default_max_output_tokens: Type.Optional(Count(1, TOKENS_MAX)),
  image_tokens: Type.Optional(Count(1, TOKENS_MAX)),
  route_choice: Type.Optional(
    Type.Union(
      [
        Type.Literal("priority"),
        Type.Literal("cheapest"),
        Type.Literal("fastest"),
        Type.Literal("least_busy"),
      ],
      { description: "priority, cheapest, fastest or least_busy" },
    ),
  ),
  prompt_affinity: Type.Optional(Type.Boolean({ description: "true or false" })),
  anthropic_betas: Type.Optional(Betas),
  prompt_caching: Type.Optional(
    Type.Union([Type.Literal("off"), Type.Literal("auto")], { description: "off or auto" }),
  ),
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

const ExportEntrySchema = Mapping({
  kind: Type.Union([Type.Literal("file"), Type.Literal("http"), Type.Literal("otlp")], {
    description: "file, http or otlp",
  }),
  start: Type.Optional(
    Type.Union([Type.Literal("beginning"), Type.Literal("now")], { description: "beginning or now" }),
  ),
  path: Type.Optional(Text("the path of a file")),
  rotate: Type.Optional(
    Type.Union([Type.Literal("day"), Type.Literal("hour"), Type.Literal("size")], {
      description: "day, hour or size",
    }),
  ),
  rotate_bytes: Type.Optional(Count(65_536, Number.MAX_SAFE_INTEGER)),
  url: Type.Optional(Text("an https URL")),
  secret: Type.Optional(
    Type.String({
      pattern: "^[\\x21-\\x7e]{16,256}$",
      description: "a secret of 16 to 256 characters without spaces",
    }),
  ),
  headers: Type.Optional(
    Type.Record(
      Type.String(),
      Type.String({
        pattern: "^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$",
        description: "the value of a header",
      }),
      { description: "a mapping by header name" },
    ),
  ),
  gzip: Type.Optional(Type.Boolean({ description: "true or false" })),
  batch_lines: Type.Optional(Count(1, 10_000)),
  batch_bytes: Type.Optional(Count(1_024, 67_108_864)),
  timeout_ms: Type.Optional(Count(100, 600_000)),
});

const Bound = Count(0, Number.MAX_SAFE_INTEGER);

/** The shape of tollgate.yaml, with every key. Rules that span several keys are in `rules.ts`. */
export const ConfigFileSchema = Mapping({
  upstreams: Type.Optional(Type.Record(Type.String(), Upstream, { description: "a mapping by name" })),
  models: Type.Optional(Type.Record(Type.String(), Model, { description: "a mapping by model id" })),
  limits: Type.Optional(
    Mapping({
      requests_per_minute: Type.Optional(Bound),
      tokens_per_minute: Type.Optional(Bound),
      concurrent_requests: Type.Optional(Bound),
      body_bytes_in_flight: Type.Optional(Count(1, Number.MAX_SAFE_INTEGER)),
    }),
  ),
  account_limits: Type.Optional(
    Mapping({
      requests_per_minute: Type.Optional(Bound),
      tokens_per_minute: Type.Optional(Bound),
      concurrent_requests: Type.Optional(Bound),
      body_bytes_in_flight: Type.Optional(Count(1, Number.MAX_SAFE_INTEGER)),
    }),
  ),
  http: Type.Optional(
    Mapping({
      cors_origins: Type.Optional(Origins),
      idle_s: Type.Optional(Count(4, 255)),
    }),
  ),
  console: Type.Optional(
    Mapping({
      sign_up: Type.Optional(
        Type.Union([Type.Literal("open"), Type.Literal("invited"), Type.Literal("closed")], {
          description: "open, invited or closed",
        }),
      ),
    }),
  ),
  log: Type.Optional(
    Mapping({
      debug_keys: Type.Optional(
        Type.Array(Text("the id of a key"), { maxItems: 100, description: "a list of up to 100 key ids" }),
      ),
    }),
  ),
  limiter: Type.Optional(
    Mapping({
      on_failure: Type.Optional(
        Type.Union([Type.Literal("local"), Type.Literal("deny")], { description: "local or deny" }),
      ),
      replicas: Type.Optional(Count(1, 100_000)),
    }),
  ),
  ledger: Type.Optional(Mapping({ wallets_per_batch: Type.Optional(Count(1, 10_000)) })),
  retention: Type.Optional(Mapping({ receipts_days: Type.Optional(Count(1, 36_500)) })),
  billing: Type.Optional(
    Mapping({
      hold_ttl_s: Type.Optional(Count(1, 3_600)),
      client_disconnect: Type.Optional(
        Type.Union([Type.Literal("charge_input"), Type.Literal("free")], {
          description: "charge_input or free",
        }),
      ),
    }),
  ),
  exports: Type.Optional(
    Type.Record(Type.String(), ExportEntrySchema, {
      maxProperties: 16,
      description: "a mapping of at most 16 names",
    }),
  ),
  drain_delay_s: Type.Optional(Count(0, 300)),
  drain_s: Type.Optional(Count(0, 3_600)),
});

export type ConfigFile = Static<typeof ConfigFileSchema>;
export type UpstreamEntry = Static<typeof Upstream>;
export type ModelEntry = Static<typeof Model>;
export type ExportEntry = Static<typeof ExportEntrySchema>;

/** A document whose members are `undefined` where they did not fit the schema. */
export type Partly<T> = T extends object ? { readonly [K in keyof T]?: Partly<T[K]> | undefined } : T;

/** Reports every member that does not fit the schema, and sets it to `undefined` for the rules. */
export function checkShape(document: object, problems: Problems): Partly<ConfigFile> {
  readNumbers(document);
  for (const error of [...Value.Errors(ConfigFileSchema, document)]) {
    const path = [...ValuePointer.Format(error.path)];
    problems.add(path, ...describe(error));
    replaceAt(document, path, undefined);
  }
  // Safe because every value that does not fit the schema has just been made undefined.
  return document as Partly<ConfigFile>;
}

/** Converts text of digits where the schema expects a number: a value from a variable or in quotes. */
function readNumbers(document: object): void {
  for (const { type, value, path } of [...Value.Errors(ConfigFileSchema, document)]) {
    const isDigits = typeof value === "string" && /^\d{1,15}$/.test(value);
    if (type === ValueErrorType.Integer && isDigits) {
      replaceAt(document, [...ValuePointer.Format(path)], Number(value));
    }
  }
}

function describe({ type, schema }: ValueError): [wrong: string, expected: string] {
  if (type === ValueErrorType.ObjectAdditionalProperties) {
    return ["is not a known key", `one of ${Object.keys(schema.properties).join(", ")}`];
  }
  const expected = schema.description ?? "another value";
  return [type === ValueErrorType.ObjectRequiredProperty ? "is missing" : "has a wrong value", expected];
}

/** Replaces an own member, if the values around it still exist. `__proto__` is an ordinary key here. */
function replaceAt(document: object, path: Path, replacement: unknown): void {
  let owner: unknown = document;
  for (const [index, segment] of path.entries()) {
    if (typeof owner !== "object" || owner === null || !Object.hasOwn(owner, segment)) return;
    if (index === path.length - 1) Object.defineProperty(owner, segment, { value: replacement });
    else owner = Object.getOwnPropertyDescriptor(owner, segment)?.value;
  }
}
