import { type Static, Type } from "@sinclair/typebox";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { Value, ValuePointer } from "@sinclair/typebox/value";
import { PaymentCallers } from "./payment-callers.ts";
import type { Path, Problems } from "./problems.ts";
import { Model, Upstream } from "./schema-entries.ts";
import { Count, Flag, Mapping, OneOf, Text } from "./schema-parts.ts";
import { Plan } from "./schema-plans.ts";
import { SignIn } from "./sign-in.ts";

const Origins = Type.Union([Type.Literal("*"), Type.Array(Text("an origin"), { maxItems: 1_000 })], {
  description: '"*" or a list of origins such as https://app.example.com',
});

const ExportEntrySchema = Mapping({
  kind: OneOf("file", "http", "otlp"),
  start: Type.Optional(OneOf("beginning", "now")),
  path: Type.Optional(Text("the path of a file")),
  rotate: Type.Optional(OneOf("day", "hour", "size")),
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
  gzip: Type.Optional(Flag),
  batch_lines: Type.Optional(Count(1, 10_000)),
  batch_bytes: Type.Optional(Count(1_024, 67_108_864)),
  timeout_ms: Type.Optional(Count(100, 600_000)),
});

const Bound = Count(0, Number.MAX_SAFE_INTEGER);

const ReversalEffect = OneOf("debit", "freeze", "record");

const CompanyText = (description: string) => Type.String({ minLength: 1, maxLength: 200, description });

/** The shape of tollgate.yaml, with every key. Rules that span several keys are in `rules.ts`. */
export const ConfigFileSchema = Mapping({
  upstreams: Type.Optional(Type.Record(Type.String(), Upstream, { description: "a mapping by name" })),
  models: Type.Optional(Type.Record(Type.String(), Model, { description: "a mapping by model id" })),
  default_models: Type.Optional(
    Mapping({
      moderations: Type.Optional(Text("the id of a model")),
      images: Type.Optional(Text("the id of a model")),
    }),
  ),
  plans: Type.Optional(Type.Record(Type.String(), Plan, { description: "a mapping by plan id" })),
  limits: Type.Optional(
    Mapping({
      requests_per_minute: Type.Optional(Bound),
      tokens_per_minute: Type.Optional(Bound),
      concurrent_requests: Type.Optional(Bound),
      body_bytes_in_flight: Type.Optional(Count(1, Number.MAX_SAFE_INTEGER)),
      websockets: Type.Optional(Bound),
    }),
  ),
  account_limits: Type.Optional(
    Mapping({
      requests_per_minute: Type.Optional(Bound),
      tokens_per_minute: Type.Optional(Bound),
      concurrent_requests: Type.Optional(Bound),
      body_bytes_in_flight: Type.Optional(Count(1, Number.MAX_SAFE_INTEGER)),
      websockets: Type.Optional(Bound),
    }),
  ),
  http: Type.Optional(
    Mapping({
      cors_origins: Type.Optional(Origins),
      idle_s: Type.Optional(Count(4, 255)),
      websockets: Type.Optional(Bound),
    }),
  ),
  console: Type.Optional(
    Mapping({
      sign_up: Type.Optional(OneOf("open", "invited", "closed")),
      sign_in: Type.Optional(SignIn),
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
      on_failure: Type.Optional(OneOf("local", "deny")),
      replicas: Type.Optional(Count(1, 100_000)),
    }),
  ),
  ledger: Type.Optional(Mapping({ wallets_per_batch: Type.Optional(Count(1, 10_000)) })),
  recordings: Type.Optional(
    Mapping({
      account_bytes: Type.Optional(Count(0, Number.MAX_SAFE_INTEGER)),
      total_bytes: Type.Optional(Count(0, Number.MAX_SAFE_INTEGER)),
    }),
  ),
  retention: Type.Optional(Mapping({ receipts_days: Type.Optional(Count(1, 36_500)) })),
  billing: Type.Optional(
    Mapping({
      hold_ttl_s: Type.Optional(Count(1, 3_600)),
      refund_credit_days: Type.Optional(Count(1, 365)),
      client_disconnect: Type.Optional(OneOf("charge_input", "free")),
    }),
  ),
  company: Type.Optional(
    Mapping({
      name: CompanyText("a text of at most 200 characters"),
      address: Type.Optional(CompanyText("a text of at most 200 characters, in one line or several")),
      tax_id: Type.Optional(CompanyText("a text of at most 200 characters")),
    }),
  ),
  payments: Type.Optional(
    Mapping({
      on_refund: Type.Optional(ReversalEffect),
      on_dispute: Type.Optional(ReversalEffect),
      invoices: Type.Optional(Flag),
      automatic_tax: Type.Optional(Flag),
      callers: Type.Optional(PaymentCallers),
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
export type RouteEntry = ModelEntry["routes"][number];
export type PlanEntry = Static<typeof Plan>;
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
