import type { WindowSnapshot } from "../limit-state.ts";
import { type AdmissionRequest, type Limits, PATIENCE_MS } from "../limiter.ts";
import { createScriptBatches } from "./batch.ts";
import type { RedisConnection } from "./connection.ts";
import { type CallerIds, keysOf, probeKeysOf, restoredKeyOf } from "./keys.ts";
import { patiently } from "./patience.ts";
import { createScripts, REDIS_CLOCK, type Script, type ScriptArgument } from "./scripts.ts";
import { readStanding, STANDING_LENGTH } from "./standing.ts";

/** What Redis decided about a request. */
export interface RedisDecision {
  readonly outcome: "admitted" | "rate" | "concurrency";
  /** For the longest of the short windows; 0 when none is short. */
  readonly waitMs: number;
  /** Of the admission, by which it is corrected later. */
  readonly second: number;
  readonly key: WindowSnapshot;
  readonly account: WindowSnapshot;
}

/** The end of an admission that has a lease. */
export interface Release extends CallerIds {
  readonly lease: string;
  /** Of the admission; `undefined` when Redis never said whether it was one. */
  readonly second: number | undefined;
  /** Correction of what it counts for. */
  readonly requests: number;
  readonly tokens: number;
}

/** Of an ending that gives the slot back and changes nothing else. */
export const NO_CORRECTION = { second: undefined, requests: 0, tokens: 0 };

/** What was admitted in one second without Redis. */
export interface OfflineSecond {
  /** Milliseconds since its last admission. */
  readonly ageMs: number;
  readonly requests: number;
  readonly tokens: number;
}

/** The limits as Redis keeps them for all gateways. Everything rejects when Redis does not do it in time. */
export interface RedisStore {
  admit(request: AdmissionRequest, lease: string): Promise<RedisDecision>;
  /** Returns whether the admission's lease was still there. */
  settle(ending: Release): Promise<boolean>;
  renew(names: CallerIds, lease: string): Promise<void>;
  usage(names: CallerIds): Promise<Pick<RedisDecision, "key" | "account">>;
  /**
   * Returns the second under which each counts in Redis; 0 for what was over a minute ago. Told again under the
   * same id, it changes nothing.
   */
  restore(names: CallerIds, id: string, missed: readonly OfflineSecond[]): Promise<readonly number[]>;
  /** Resolves when the account's server does its work: admits somebody beside the account, and ends that. */
  probe(accountId: string): Promise<void>;
}

const OUTCOMES = ["admitted", "rate", "concurrency"] as const;
const NO_LIMITS = printLimits({ keyLimits: {}, accountLimits: {} });

export interface RedisStoreOptions {
  /** What the scripts tell the time by: Redis's own clock, but in tests. */
  readonly clockLua?: string | undefined;
  /** How long an answer may take. */
  readonly patienceMs?: number | undefined;
}

export function createRedisStore(
  { client }: RedisConnection,
  { clockLua = REDIS_CLOCK, patienceMs = PATIENCE_MS }: RedisStoreOptions = {},
): RedisStore {
  const inTime = <Reply>(reply: Promise<Reply>) => patiently(patienceMs, reply);
  const scripts = createScripts(client, clockLua);
  const batched = (script: Script, replyLength: number) => {
    const run = createScriptBatches((keys, args) => inTime(script(keys, args)), replyLength);
    return (names: CallerIds, ...args: readonly ScriptArgument[]) =>
      run({ group: client.isCluster ? names.accountId : "", keys: keysOf(names), args });
  };
  const admit = batched(scripts.admit, 3 + 2 * STANDING_LENGTH);
  const settle = batched(scripts.settle, 1);
  const renew = batched(scripts.renew, 1);
  return {
    async admit(request, lease) {
      return readDecision(await admit(request, lease, request.tokens, printLimits(request)));
    },
    async settle(ending) {
      const { lease, second = "", requests, tokens } = ending;
      const [found] = await settle(ending, lease, second, requests, tokens);
      return found === 1;
    },
    async renew(names, lease) {
      await renew(names, lease);
    },
    async usage(names) {
      const reply = await inTime(scripts.usage(keysOf(names), []));
      return { key: readStanding(reply, 0), account: readStanding(reply, STANDING_LENGTH) };
    },
    restore(names, id, missed) {
      const args = missed.flatMap(({ ageMs, requests, tokens }) => [ageMs, requests, tokens]);
      const keys = [...keysOf(names), restoredKeyOf(names.accountId, id)];
      return inTime(scripts.restore(keys, args));
    },
    async probe(accountId) {
      const keys = probeKeysOf(accountId);
      const lease = crypto.randomUUID();
      const [outcome] = await inTime(scripts.admit(keys, [lease, 0, NO_LIMITS]));
      if (outcome !== 0) throw new TypeError("Redis answered a probe with something else");
      await inTime(scripts.settle(keys, [lease, "", 0, 0]));
    },
  };
}

function printLimits({ keyLimits, accountLimits }: Pick<AdmissionRequest, "keyLimits" | "accountLimits">) {
  return `${printBounds(keyLimits)} ${printBounds(accountLimits)}`;
}

function printBounds(limits: Limits): string {
  const { requestsPerMinute = "-", tokensPerMinute = "-", concurrentRequests = "-" } = limits;
  return `${requestsPerMinute} ${tokensPerMinute} ${concurrentRequests}`;
}

function readDecision(reply: readonly number[]): RedisDecision {
  const [outcome = 0, waitMs = 0, second = 0] = reply;
  return {
    outcome: OUTCOMES[outcome] ?? "rate",
    waitMs,
    second,
    key: readStanding(reply, 3),
    account: readStanding(reply, 3 + STANDING_LENGTH),
  };
}
