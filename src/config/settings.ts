import { readRoutePrices } from "../catalog/prices.ts";
import { fillApart, type LongContext, type Model, type Route } from "../domain/model.ts";
import type { ExportConfig } from "../exports/export-config.ts";
import type { Limits } from "../limiter/limiter.ts";
import type { KeyConfig, UpstreamConfig, UpstreamTimeouts } from "../upstream/upstream.ts";
import { readCompany } from "./company.ts";
import { readPayments } from "./payments.ts";
import { readPlans } from "./plans.ts";
import { readRecordingBounds } from "./recordings.ts";
import { readRoutes } from "./routes.ts";
import type { ConfigFile, ExportEntry, ModelEntry, UpstreamEntry } from "./schema.ts";
import { readSignIn } from "./sign-in.ts";
import { readSocketBounds } from "./sockets.ts";
import { baseUrlOf, GLOBAL_LOCATION } from "./upstream-rules.ts";

/** 128 MiB. An account's share, a quarter, fits the largest body; the whole fits a container of 1 GB. */
const BODY_BYTES_IN_FLIGHT_MAX = 134_217_728;
const HOLD_TTL_S = 60;
const DRAIN_S = 20;
const OUTPUT_TOKENS_DEFAULT = 4_096;
const IMAGE_TOKENS = 2_000;
/** The scope of Azure OpenAI in the public cloud. */
const ENTRA_SCOPE = "https://cognitiveservices.azure.com/.default";
/** Of a model that is priced by unit and names none: larger than every prompt. */
const UNIT_CONTEXT_WINDOW = 1_000_000;

/** Reads everything of the checked file but its models, with defaults for missing keys. */
export function readSettings(file: ConfigFile) {
  return {
    upstreams: Object.entries(file.upstreams ?? {}).map(([name, entry]) => readUpstream(name, entry)),
    defaultModels: file.default_models,
    plans: readPlans(file),
    company: readCompany(file),
    keyLimits: readKeyLimits(file),
    accountLimits: readAccountLimits(file),
    limiter: readLimiter(file),
    bodyBytesInFlightMax: file.limits?.body_bytes_in_flight ?? BODY_BYTES_IN_FLIGHT_MAX,
    refundCreditDays: file.billing?.refund_credit_days,
    clientDisconnect: file.billing?.client_disconnect ?? "charge_input",
    accountBodyBytesMax: file.account_limits?.body_bytes_in_flight,
    idleS: file.http?.idle_s,
    sockets: readSocketBounds(file, BODY_BYTES_IN_FLIGHT_MAX),
    corsOrigins: file.http?.cors_origins,
    signUp: file.console?.sign_up ?? "invited",
    signIn: readSignIn(file.console?.sign_in),
    payments: readPayments(file),
    recordings: readRecordingBounds(file),
    debugKeys: file.log?.debug_keys,
    drainDelayMs: (file.drain_delay_s ?? 0) * 1_000,
    holdTtlMs: (file.billing?.hold_ttl_s ?? HOLD_TTL_S) * 1_000,
    ...readLedgerSettings(file),
  };
}

/** Reads the settings that a ledger process needs, a subset of {@link readSettings}. */
export function readLedgerSettings(file: ConfigFile) {
  return {
    walletsPerBatch: file.ledger?.wallets_per_batch,
    exports: readExports(file),
    receiptsDays: file.retention?.receipts_days,
    drainMs: (file.drain_s ?? DRAIN_S) * 1_000,
  };
}

/** Reads the models of the checked file. `createdAtS` is when the file was written. */
export function readModels(file: ConfigFile, createdAtS: number): readonly Model[] {
  const { models = {}, upstreams = {} } = file;
  return Object.entries(models).map(([id, entry]) => readModel(entry, { id, upstreams, createdAtS }));
}

interface ModelPlace {
  readonly id: string;
  readonly upstreams: NonNullable<ConfigFile["upstreams"]>;
  readonly createdAtS: number;
}

function readModel(entry: ModelEntry, { id, upstreams, createdAtS }: ModelPlace): Model {
  const routes = readRoutes(entry, upstreams);
  const outputTokensMax = entry.max_output_tokens ?? 0;
  return {
    id,
    routes,
    ...readShownPrice(entry, routes),
    contextWindow: entry.context_window ?? UNIT_CONTEXT_WINDOW,
    longContext: readLongContext(entry),
    outputTokensMax,
    outputTokensDefault: entry.default_max_output_tokens ?? Math.min(outputTokensMax, OUTPUT_TOKENS_DEFAULT),
    imageTokens: entry.image_tokens ?? IMAGE_TOKENS,
    toolCallsDefault: entry.default_max_tool_calls,
    promptCaching: entry.prompt_caching === "auto" ? "auto" : undefined,
    can: entry.can,
    routeChoice: entry.route_choice,
    promptAffinity: entry.prompt_affinity,
    createdAtS,
  };
}

/** Clients see the price of the model, or that of its first route where only routes have one. */
function readShownPrice(
  { price, cost }: ModelEntry,
  [first]: readonly Route[],
): Pick<Model, "price" | "cost"> {
  if (!cost && (!price || price.markup !== undefined) && first)
    return { price: first.price, cost: first.cost };
  const shown = readRoutePrices({ price, cost });
  // The fees of a provider's tools belong to its routes.
  return first ? { ...shown, price: fillApart(shown.price, first.price) } : shown;
}

function readUpstream(name: string, entry: UpstreamEntry): UpstreamConfig {
  return {
    name,
    baseUrl: normaliseBaseUrl(baseUrlOf(entry)),
    apiKey: entry.api_key ?? "",
    keys: entry.keys && readKeys(entry.keys),
    timeouts: readTimeouts(entry.timeouts ?? {}),
    outputLimitField: entry.output_limit_field,
    defaultTier: entry.default_tier,
    circuitFailures: entry.circuit_failures ?? 5,
    ...readProtocol(entry),
  };
}

/** Reads what an upstream has by its protocol. The rules of the file demand a region and a project. */
function readProtocol(entry: UpstreamEntry) {
  const { protocol, responses, region = "", profile, api, project = "", credentials } = entry;
  const { api_version: apiVersion, anthropic_beta_names: betaNames, location = GLOBAL_LOCATION } = entry;
  switch (protocol) {
    case "openai":
      return { protocol, hasResponses: responses ?? false };
    case "azure": {
      const entraScope = entry.entra ? (entry.entra_scope ?? ENTRA_SCOPE) : undefined;
      // Azure's v1 form serves responses.
      return { protocol, hasResponses: responses ?? apiVersion === undefined, apiVersion, entraScope };
    }
    case "bedrock":
      return { protocol, bedrock: { region, profile, api }, betaNames };
    case "vertex":
      return { protocol, google: { project, location, credentials }, betaNames };
    case "anthropic":
    case "gemini":
      return { protocol };
  }
}

function readKeys(keys: NonNullable<UpstreamEntry["keys"]>): readonly KeyConfig[] {
  return Object.entries(keys).map(([label, { api_key: apiKey, weight = 1, limits = {} }]) => ({
    label,
    apiKey,
    weight,
    limits: {
      requestsPerMinute: limits.requests_per_minute,
      tokensPerMinute: limits.tokens_per_minute,
      concurrentRequests: limits.concurrent_requests,
    },
  }));
}

/** Removes slashes from the end of a base URL, so that paths can be appended. */
export function normaliseBaseUrl(text: string): string {
  return new URL(text).href.replace(/\/+$/, "");
}

function readTimeouts(timeouts: NonNullable<UpstreamEntry["timeouts"]>): UpstreamTimeouts {
  return {
    connectMs: timeouts.connect_ms ?? 5_000,
    firstOutputMs: timeouts.first_output_ms ?? 120_000,
    idleMs: timeouts.idle_ms ?? 60_000,
    totalMs: timeouts.total_ms ?? 900_000,
  };
}

function readKeyLimits({ limits = {} }: ConfigFile): Limits {
  return {
    requestsPerMinute: limits.requests_per_minute ?? 600,
    tokensPerMinute: limits.tokens_per_minute ?? 2_000_000,
    concurrentRequests: limits.concurrent_requests ?? 50,
  };
}

/** Tokens per minute of an account have no default limit. */
function readAccountLimits({ account_limits: limits = {} }: ConfigFile): Limits {
  return {
    requestsPerMinute: limits.requests_per_minute ?? 6_000,
    tokensPerMinute: limits.tokens_per_minute,
    concurrentRequests: limits.concurrent_requests ?? 500,
  };
}

function readLimiter({ limiter = {} }: ConfigFile) {
  return { onFailure: limiter.on_failure ?? "local", replicas: limiter.replicas };
}

/** The input tokens above which a prompt is long default to the model's `context_window`. */
function readLongContext({ context_window, long_context: long }: ModelEntry): LongContext | undefined {
  return (
    long && {
      contextWindow: long.context_window,
      aboveInputTokens: long.above_input_tokens ?? context_window ?? UNIT_CONTEXT_WINDOW,
    }
  );
}

const ROTATE_BYTES = 268_435_456;
const BATCH_LINES = 500;
const BATCH_BYTES = 1_048_576;
const TIMEOUT_MS = 30_000;

/** Reads the exports of a checked file. */
function readExports({ exports = {} }: Pick<ConfigFile, "exports">): readonly ExportConfig[] {
  return Object.entries(exports).map(([name, entry]) => readExport(name, entry));
}

function readExport(name: string, entry: ExportEntry): ExportConfig {
  const base = {
    name,
    start: entry.start ?? "beginning",
    batchLines: entry.batch_lines ?? BATCH_LINES,
  } as const;
  if (entry.kind === "file") {
    const { path = "", rotate = "day", rotate_bytes: rotateBytes = ROTATE_BYTES } = entry;
    return { ...base, kind: "file", path, rotate, rotateBytes };
  }
  const post = {
    ...base,
    url: entry.url ?? "",
    headers: entry.headers ?? {},
    gzip: entry.gzip ?? false,
    batchBytes: entry.batch_bytes ?? BATCH_BYTES,
    timeoutMs: entry.timeout_ms ?? TIMEOUT_MS,
  };
  return entry.kind === "http" ? { ...post, kind: "http", secret: entry.secret } : { ...post, kind: "otlp" };
}
