import type { LimiterMetrics } from "../../telemetry/metrics.ts";
import { waitAtMost } from "../../time.ts";
import { type Change, createAdmission, type Taken, wholeTokens } from "../admission.ts";
import { limitStateOf } from "../limit-state.ts";
import {
  type Admission,
  type AdmissionRequest,
  type Limiter,
  LimiterError,
  type LimitState,
  PATIENCE_MS,
  type Refusal,
} from "../limiter.ts";
import { createMemoryLimiter } from "../memory.ts";
import { shareOf } from "../share.ts";
import { monotonicMs } from "../steady-clock.ts";
import { createRedisLink, type RedisLink, type RedisLinkOptions } from "./link.ts";
import type { RedisDecision } from "./store.ts";

type LinkOptions = Pick<RedisLinkOptions, "connection" | "log" | "clockLua" | "patienceMs">;

export interface RedisLimiterOptions extends LinkOptions {
  /** Who counts while Redis is away: this process alone; or nobody does, and all is refused. */
  readonly onFailure: "local" | "deny";
  /** Gateways that share the Redis: without it each admits that part of every limit. */
  readonly replicas: number;
  readonly metrics: Pick<LimiterMetrics, "shared" | "decided">;
  readonly now?: () => number;
  readonly every?: RedisLinkOptions["every"];
}

export interface RedisLimiter extends Limiter {
  /** Waits a moment for Redis, so that a start is no absence. */
  start(): Promise<void>;
}

const MEANWHILE = { local: "limits are counted here alone", deny: "all requests are refused" } as const;

/**
 * The limiter of several processes: Redis counts for all of them. What it does not decide within 200 ms is
 * decided without it. What it admits is also noted here, so that this process goes on from its own share of
 * the last minute.
 */
export function createRedisLimiter(options: RedisLimiterOptions): RedisLimiter {
  const { onFailure, replicas, metrics, now = monotonicMs, every = repeat } = options;
  const link = createRedisLink({ ...options, meanwhile: MEANWHILE[onFailure], now, every });
  const here = createMemoryLimiter({ now });

  function admitAlone(request: AdmissionRequest): Admission | Refusal {
    if (onFailure === "deny") {
      metrics.decided("none", "unavailable");
      throw new LimiterError("Redis is away, and nobody is let in without it");
    }
    const decision = here.take(withShare(request, replicas));
    metrics.decided("memory", decision.admitted ? "admitted" : decision.bound);
    return decision.admitted ? takeAlone(link, request, decision) : decision;
  }

  /** Redis has admitted it after others may have been admitted here in its place: both must have room for it. */
  function admitTwice(request: AdmissionRequest, { decision, lease }: SharedDecision): Admission | Refusal {
    const taken = here.take(withShare(request, replicas));
    metrics.decided(taken.admitted ? "redis" : "memory", taken.admitted ? "admitted" : taken.bound);
    if (taken.admitted) return takeShared(link, request, { decision, lease, endHere: taken.end });
    const { accountId, keyId, tokens } = request;
    void link.end({ accountId, keyId, lease, second: decision.second, requests: -1, tokens: -tokens });
    return taken;
  }

  return {
    async admit(asked) {
      const request = { ...asked, tokens: wholeTokens(asked.tokens) };
      const lease = link.newLease();
      const decision = await link.admit(request, lease);
      if (!decision) return admitAlone(request);
      if (decision.isOvertaken && decision.outcome === "admitted" && onFailure === "local") {
        return admitTwice(request, { decision, lease });
      }
      metrics.decided("redis", decision.outcome);
      if (decision.outcome !== "admitted") return refusalOf(decision, decision.outcome, request);
      return takeShared(link, request, { decision, lease, endHere: here.note(request) });
    },
    async usage(request) {
      const standing = await link.usage(request);
      if (standing) return { ...stateOf(standing, request), running: standing.key.running };
      if (onFailure === "deny") throw new LimiterError("Redis is away, and nobody else knows");
      return here.usage(withShare(request, replicas));
    },
    start: link.start,
    ping: async () => (onFailure === "deny" ? link.ping() : undefined),
    close: link.close,
  };
}

interface SharedDecision {
  readonly decision: RedisDecision;
  readonly lease: string;
}

/** A request that Redis has admitted; `endHere` ends what is noted of it in process. */
function takeShared(
  link: RedisLink,
  request: AdmissionRequest,
  { decision, lease, endHere }: SharedDecision & { readonly endHere: (change: Change) => unknown },
): Admission {
  const { accountId, keyId, tokens } = request;
  link.keepLease(lease, { accountId, keyId });
  const end = (change: Change) => {
    endHere(change);
    return link.end({ accountId, keyId, lease, second: decision.second, ...change });
  };
  return createAdmission({ admitted: true, state: stateOf(decision, request), tokens, end });
}

/** A request that was admitted without Redis. */
function takeAlone(link: RedisLink, request: AdmissionRequest, taken: Taken): Admission {
  const { accountId, keyId } = request;
  const lease = link.newLease();
  link.keepLease(lease, { accountId, keyId });
  const missed = link.miss(request);
  const end = async (change: Change) => {
    await taken.end(change);
    const tell = async () => link.end({ accountId, keyId, lease, ...(await missed.end(change)) });
    await waitAtMost(PATIENCE_MS, tell());
  };
  return createAdmission({ ...taken, end });
}

function refusalOf(decision: RedisDecision, bound: Refusal["bound"], request: AdmissionRequest): Refusal {
  const retryAfterS = bound === "rate" ? Math.ceil(decision.waitMs / 1000) : 1;
  return { admitted: false, bound, retryAfterS, state: stateOf(decision, request) };
}

type Limited = Pick<AdmissionRequest, "keyLimits" | "accountLimits">;

function stateOf(standing: Pick<RedisDecision, "key" | "account">, limited: Limited): LimitState {
  return limitStateOf(
    { standing: standing.key, limits: limited.keyLimits },
    { standing: standing.account, limits: limited.accountLimits },
  );
}

/** The request as one of so many gateways sees it that each count a part of every limit. */
function withShare<Request extends Limited & { readonly tokens?: number }>(
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
  const timer = setInterval(task, ms);
  return () => clearInterval(timer);
}
