import type { WindowSnapshot } from "../admission.ts";
import { type AdmissionRequest, type Limits, SHARED_LIMITER_TIMEOUT_MS } from "../limiter.ts";
import type { RedisConnection } from "./connection.ts";
import { type CallerIds, keysOf, probeKeysOf, restoredKeyOf } from "./keys.ts";
import {
  createScriptBatches,
  createScripts,
  REDIS_CLOCK,
  type Script,
  type ScriptArgument,
  withTimeout,
} from "./scripts.ts";

/** Decision of Redis about a request. */
export interface RedisDecision {
  readonly outcome: "admitted" | "rate" | "concurrency";
  /** Longest wait of the exceeded per-minute limits; 0 when none is exceeded. */
  readonly waitMs: number;
  /** Second of the admission, the key for later corrections. */
  readonly second: number;
  readonly key: WindowSnapshot;
  readonly account: WindowSnapshot;
}

/** Release of an admission's lease, with the correction of its counts. */
export interface Release extends CallerIds {
  readonly lease: string;
  /** Second of the admission; `undefined` when Redis never reported one. */
  readonly second: number | undefined;
  /** Differences to add to the admission's counts. */
  readonly requests: number;
  readonly tokens: number;
}

/** Fields of a release that only frees the slot. */
export const NO_CORRECTION = { second: undefined, requests: 0, tokens: 0 };

/** Admissions of one second that were made without Redis. */
export interface OfflineSecond {
  /** Milliseconds since the last admission of the second. */
  readonly ageMs: number;
  readonly requests: number;
  readonly tokens: number;
}

/**
 * The limits of all gateways, kept in Redis. Every method rejects when Redis fails or exceeds the timeout.
 */
export interface RedisStore {
  admit(request: AdmissionRequest, lease: string): Promise<RedisDecision>;
  /** Returns whether the admission's lease still existed. */
  settle(release: Release): Promise<boolean>;
  renew(ids: CallerIds, lease: string): Promise<void>;
  usage(ids: CallerIds): Promise<Pick<RedisDecision, "key" | "account">>;
  /**
   * Counts offline admissions. Returns the second in Redis of each, 0 for one older than a minute. A repeated
   * call with the same id changes nothing and returns the same.
   */
  restore(ids: CallerIds, id: string, seconds: readonly OfflineSecond[]): Promise<readonly number[]>;
  /** Resolves when the account's server works: admits and settles a request under separate keys. */
  probe(accountId: string): Promise<void>;
}

const OUTCOMES = ["admitted", "rate", "concurrency"] as const;
const NO_LIMITS = formatLimits({ keyLimits: {}, accountLimits: {} });
/** Numbers of a snapshot in a reply: requests, tokens, ms until each is reset, running. */
const SNAPSHOT_LENGTH = 5;

export interface RedisStoreOptions {
  /** Lua source of the scripts' clock. Default: the server's clock; tests use another. */
  readonly clockLua?: string | undefined;
  /** Timeout of each answer. */
  readonly timeoutMs?: number | undefined;
}

export function createRedisStore(
  { client }: RedisConnection,
  { clockLua = REDIS_CLOCK, timeoutMs = SHARED_LIMITER_TIMEOUT_MS }: RedisStoreOptions = {},
): RedisStore {
  const inTime = <Reply>(reply: Promise<Reply>) => withTimeout(timeoutMs, reply);
  const scripts = createScripts(client, clockLua);
  const batched = (script: Script, replyLength: number) => {
    const run = createScriptBatches((keys, args) => inTime(script(keys, args)), replyLength);
    return (ids: CallerIds, ...args: readonly ScriptArgument[]) =>
      run({ group: client.isCluster ? ids.accountId : "", keys: keysOf(ids), args });
  };
  const admit = batched(scripts.admit, 3 + 2 * SNAPSHOT_LENGTH);
  const settle = batched(scripts.settle, 1);
  const renew = batched(scripts.renew, 1);
  return {
    async admit(request, lease) {
      return decodeDecision(await admit(request, lease, request.tokens, formatLimits(request)));
    },
    async settle(release) {
      const { lease, second = "", requests, tokens } = release;
      const [found] = await settle(release, lease, second, requests, tokens);
      return found === 1;
    },
    async renew(ids, lease) {
      await renew(ids, lease);
    },
    async usage(ids) {
      const reply = await inTime(scripts.usage(keysOf(ids), []));
      return { key: decodeSnapshot(reply, 0), account: decodeSnapshot(reply, SNAPSHOT_LENGTH) };
    },
    restore(ids, id, seconds) {
      const args = seconds.flatMap(({ ageMs, requests, tokens }) => [ageMs, requests, tokens]);
      const keys = [...keysOf(ids), restoredKeyOf(ids.accountId, id)];
      return inTime(scripts.restore(keys, args));
    },
    async probe(accountId) {
      const keys = probeKeysOf(accountId);
      const lease = crypto.randomUUID();
      const [outcome] = await inTime(scripts.admit(keys, [lease, 0, NO_LIMITS]));
      if (outcome !== 0) throw new TypeError("Redis did not admit a probe");
      await inTime(scripts.settle(keys, [lease, "", 0, 0]));
    },
  };
}

function formatLimits({ keyLimits, accountLimits }: Pick<AdmissionRequest, "keyLimits" | "accountLimits">) {
  return `${formatLimitsOf(keyLimits)} ${formatLimitsOf(accountLimits)}`;
}

function formatLimitsOf(limits: Limits): string {
  const { requestsPerMinute = "-", tokensPerMinute = "-", concurrentRequests = "-" } = limits;
  return `${requestsPerMinute} ${tokensPerMinute} ${concurrentRequests}`;
}

function decodeDecision(reply: readonly number[]): RedisDecision {
  const [outcome = 0, waitMs = 0, second = 0] = reply;
  return {
    outcome: OUTCOMES[outcome] ?? "rate",
    waitMs,
    second,
    key: decodeSnapshot(reply, 3),
    account: decodeSnapshot(reply, 3 + SNAPSHOT_LENGTH),
  };
}

/** Decodes the numbers written by `append_snapshot` of `caller.lua`. */
function decodeSnapshot(reply: readonly number[], at: number): WindowSnapshot {
  const [requests = 0, tokens = 0, requestsResetMs = 0, tokensResetMs = 0, running = 0] = reply.slice(
    at,
    at + SNAPSHOT_LENGTH,
  );
  return {
    requests,
    tokens,
    running,
    resetMs: (of) => (of === "requests" ? requestsResetMs : tokensResetMs),
  };
}
