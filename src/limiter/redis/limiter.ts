import type { LimitWindows } from "../../domain/limit-windows.ts";
import { platform, waitAtMost } from "../../platform.ts";
import type { LimiterMetrics } from "../../telemetry/metrics.ts";
import {
  type Admission,
  type AdmissionRequest,
  type Correction,
  checkTokens,
  createAdmission,
  type LimitDecline,
  type Limiter,
  LimiterError,
  limitStateOf,
  type Reservation,
  SHARED_LIMITER_TIMEOUT_MS,
  shareOf,
  type Taken,
} from "../limiter.ts";
import { createMemoryLimiter } from "../memory.ts";
import type { RedisDecision, RedisSnapshot } from "./batch.ts";
import { createResilientStore, type ResilientStore, type ResilientStoreOptions } from "./resilient-store.ts";

type StoreOptions = Pick<ResilientStoreOptions, "connection" | "log" | "clockLua" | "timeoutMs">;

export interface RedisLimiterOptions extends StoreOptions {
  /** While Redis is down: `local` counts in this process alone, `deny` denies every request. */
  readonly onFailure: "local" | "deny";
  /** Returns the number of gateways that share the Redis. Without Redis, each admits that part of every limit. */
  readonly replicas: () => number;
  readonly metrics: Pick<LimiterMetrics, "shared" | "decided">;
  readonly now?: () => number;
  readonly every?: ResilientStoreOptions["every"];
}

export interface RedisLimiter extends Limiter {
  /** Waits up to one second for Redis, so that a start does not count as an outage. */
  start(): Promise<void>;
}

const MEANWHILE = {
  local: "limits are counted in this process alone",
  deny: "all requests are denied",
} as const;

/**
 * The limiter of several processes, which count together in Redis. A decision that Redis does not make within
 * a second is made without it. Admissions by Redis are also recorded in this process: in an outage it then
 * continues from its own part of the last minute.
 */
export function createRedisLimiter(options: RedisLimiterOptions): RedisLimiter {
  const { onFailure, replicas, metrics, now = () => platform.monotonicMs(), every = repeat } = options;
  const store = createResilientStore({ ...options, meanwhile: MEANWHILE[onFailure], now, every });
  const local = createMemoryLimiter({ now });

  function admitOffline(request: AdmissionRequest): Admission | LimitDecline {
    if (onFailure === "deny") {
      metrics.decided("none", "unavailable");
      throw new LimiterError("Redis is down, and requests are denied without it");
    }
    const decision = local.reserve(withShare(request, replicas()));
    metrics.decided("memory", decision.admitted ? "admitted" : decision.bound);
    return decision.admitted ? createOfflineAdmission(store, request, decision) : decision;
  }

  /** Admits only if the local limiter agrees: during the outage it may have given the last place away. */
  function admitAfterOutage(
    request: AdmissionRequest,
    { decision, lease }: SharedDecision,
  ): Admission | LimitDecline {
    const reserved = local.reserve(withShare(request, replicas()));
    metrics.decided(reserved.admitted ? "redis" : "memory", reserved.admitted ? "admitted" : reserved.bound);
    if (reserved.admitted) {
      return createSharedAdmission(store, request, { decision, lease, takenLocally: reserved.taken });
    }
    const { accountId, keyId, tokens } = request;
    void store.release({ accountId, keyId, lease, second: decision.second, requests: -1, tokens: -tokens });
    return reserved;
  }

  return {
    async admit(unchecked) {
      const tokens = checkTokens(unchecked.tokens);
      const request = tokens === unchecked.tokens ? unchecked : { ...unchecked, tokens };
      const lease = store.newLease();
      const online = await store.admit(request, lease);
      if (!online) return admitOffline(request);
      const { decision, hadOutage } = online;
      if (hadOutage && decision.outcome === "admitted" && onFailure === "local") {
        return admitAfterOutage(request, { decision, lease });
      }
      metrics.decided("redis", decision.outcome);
      if (decision.outcome !== "admitted") return declineOf(decision, decision.outcome, request);
      return createSharedAdmission(store, request, { decision, lease, takenLocally: local.record(request) });
    },
    async usage(request) {
      const used = await store.usage(request);
      if (used) {
        const { keyRunning: running, accountRunning } = used;
        return { ...stateOf(used, request), running, accountRunning };
      }
      if (onFailure === "deny") throw new LimiterError("Redis is down, and usage is unknown without it");
      return local.usage(withShare(request, replicas()));
    },
    async status() {
      const isUp = await store.ping().then(
        () => true,
        () => false,
      );
      const offline = onFailure === "deny" ? "denying" : "local";
      return { backend: "redis", mode: isUp ? "shared" : offline };
    },
    start: store.start,
    close: store.close,
  };
}

interface SharedDecision {
  readonly decision: RedisDecision;
  readonly lease: string;
}

/** Returns the admission of a request that Redis admitted. */
function createSharedAdmission(
  store: ResilientStore,
  request: AdmissionRequest,
  shared: SharedDecision & { readonly takenLocally: Taken },
): Admission {
  store.keepLease(shared.lease, request);
  const state = stateOf(shared.decision, request);
  return createAdmission({ state, tokens: request.tokens, taken: new SharedTaken(store, request, shared) });
}

/** A slot and the counts of one request, in Redis and in this process. */
class SharedTaken implements Taken {
  readonly #store: ResilientStore;
  readonly #request: AdmissionRequest;
  readonly #shared: SharedDecision & { readonly takenLocally: Taken };

  constructor(
    store: ResilientStore,
    request: AdmissionRequest,
    shared: SharedDecision & { readonly takenLocally: Taken },
  ) {
    this.#store = store;
    this.#request = request;
    this.#shared = shared;
  }

  end(correction: Correction): Promise<void> {
    const { decision, lease, takenLocally } = this.#shared;
    void takenLocally.end(correction);
    const { accountId, keyId } = this.#request;
    const { requests, tokens } = correction;
    return this.#store.release({ accountId, keyId, lease, second: decision.second, requests, tokens });
  }
}

/** Returns the admission of a request that was admitted without Redis. */
function createOfflineAdmission(
  store: ResilientStore,
  request: AdmissionRequest,
  reserved: Reservation,
): Admission {
  const { accountId, keyId } = request;
  const lease = store.newLease();
  store.keepLease(lease, { accountId, keyId });
  const offline = store.recordOffline(request);
  const end = async (correction: Correction) => {
    await reserved.taken.end(correction);
    const release = async () =>
      store.release({ accountId, keyId, lease, ...(await offline.end(correction)) });
    await waitAtMost(SHARED_LIMITER_TIMEOUT_MS, release());
  };
  return createAdmission({ ...reserved, taken: { end } });
}

function declineOf(
  decision: RedisDecision,
  bound: LimitDecline["bound"],
  request: AdmissionRequest,
): LimitDecline {
  const retryAfterS = bound === "rate" ? Math.ceil(decision.waitMs / 1000) : 1;
  return { admitted: false, bound, retryAfterS, state: stateOf(decision, request) };
}

type BothLimits = Pick<AdmissionRequest, "keyLimits" | "accountLimits">;

function stateOf(
  { key, account }: { readonly key: RedisSnapshot; readonly account: RedisSnapshot },
  { keyLimits, accountLimits }: BothLimits,
): LimitWindows {
  return limitStateOf({ ...key, limits: keyLimits }, { ...account, limits: accountLimits });
}

/** Replaces both limits by this gateway's share of them. */
function withShare<Request extends BothLimits & { readonly tokens?: number }>(
  request: Request,
  replicas: number,
): Request {
  const { keyLimits, accountLimits, tokens = 0 } = request;
  return {
    ...request,
    keyLimits: shareOf(keyLimits, replicas, tokens),
    accountLimits: shareOf(accountLimits, replicas, tokens),
  };
}

function repeat(ms: number, task: () => void): () => void {
  const timer = platform.setInterval(task, ms);
  return () => platform.clearInterval(timer);
}
