import type { Limits } from "../limiter/limiter.ts";
import type { UpstreamTimeouts } from "../upstream/upstream.ts";
import { normaliseBaseUrl } from "./base-url.ts";
import type { ConfigFile, UpstreamEntry } from "./schema.ts";

/** A quarter, the share of one account, still takes the largest body; the whole fits a container of 1 GB. */
const BODY_BYTES_IN_FLIGHT_MAX = 134_217_728;
const HOLD_TTL_S = 60;
const DRAIN_S = 20;

/** Reads everything of the checked file but its models, with the defaults of what it leaves out. */
export function readSettings(file: ConfigFile) {
  return {
    upstreams: Object.entries(file.upstreams ?? {}).map(([name, entry]) => readUpstream(name, entry)),
    keyLimits: readKeyLimits(file),
    accountLimits: readAccountLimits(file),
    limiter: readLimiter(file),
    bodyBytesInFlightMax: file.limits?.body_bytes_in_flight ?? BODY_BYTES_IN_FLIGHT_MAX,
    clientDisconnect: file.billing?.client_disconnect ?? "charge_input",
    accountBodyBytesMax: file.account_limits?.body_bytes_in_flight,
    idleS: file.http?.idle_s,
    corsOrigins: file.http?.cors_origins,
    holdTtlMs: (file.billing?.hold_ttl_s ?? HOLD_TTL_S) * 1_000,
    ...readLedgerSettings(file),
  };
}

/** The part of it that a process needs which serves the ledger alone. */
export function readLedgerSettings(file: ConfigFile) {
  return {
    walletsPerBatch: file.ledger?.wallets_per_batch,
    drainMs: (file.drain_s ?? DRAIN_S) * 1_000,
  };
}

function readUpstream(name: string, entry: UpstreamEntry) {
  return {
    name,
    protocol: entry.protocol,
    baseUrl: normaliseBaseUrl(entry.base_url),
    apiKey: entry.api_key,
    timeouts: readTimeouts(entry.timeouts ?? {}),
    outputLimitField: entry.output_limit_field,
    hasResponses: entry.responses ?? false,
    circuitFailures: entry.circuit_failures ?? 5,
  };
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

/** Tokens of an account are bounded only when the file says so. */
function readAccountLimits({ account_limits: limits = {} }: ConfigFile): Limits {
  return {
    requestsPerMinute: limits.requests_per_minute ?? 6_000,
    tokensPerMinute: limits.tokens_per_minute,
    concurrentRequests: limits.concurrent_requests ?? 500,
  };
}

function readLimiter({ limiter = {} }: ConfigFile) {
  return { onFailure: limiter.on_failure ?? "local", replicas: limiter.replicas ?? 1 };
}
