import { platform } from "../../platform.ts";
import type { Log } from "../../telemetry/log.ts";
import type { LimiterMetrics } from "../../telemetry/metrics.ts";
import type { AdmissionRequest } from "../limiter.ts";
import { createSteadyClock } from "../window.ts";
import { NO_CORRECTION, type RedisDecision, type Release } from "./batch.ts";
import { createLeases } from "./leases.ts";
import type { OfflineAdmission } from "./offline-admissions.ts";
import type { CallerIds } from "./scripts.ts";
import type { RedisConnection } from "./server.ts";
import { createShards, type Shard } from "./shards.ts";
import { createRedisStore, type RedisStore, type RedisStoreOptions, type RedisUsage } from "./store.ts";

export interface ResilientStoreOptions extends RedisStoreOptions {
  readonly connection: RedisConnection;
  readonly log: Pick<Log, "info" | "warn">;
  readonly metrics: Pick<LimiterMetrics, "shared">;
  /** Describes, for the log, how requests are handled while Redis is down. */
  readonly meanwhile: string;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** Repeats a task at an interval. The returned function stops it. */
  readonly every: (ms: number, task: () => void) => () => void;
}

/** A decision that Redis returned in time. */
interface OnlineDecision {
  readonly decision: RedisDecision;
  /** Whether the shard went down after the call: other requests may have been admitted without Redis. */
  readonly hadOutage: boolean;
}

/**
 * A Redis store that tolerates outages. A call that Redis does not answer within a second resolves with
 * `undefined`. Pending releases and offline admissions are sent when Redis is up again. Only `ping` rejects.
 */
export interface ResilientStore {
  /** Returns the lease of a new request. */
  newLease(): string;
  /** Renews the lease of an admitted request until its release. */
  keepLease(lease: string, ids: CallerIds): void;
  /** Resolves with `undefined` when Redis makes no decision. */
  admit(request: AdmissionRequest, lease: string): Promise<OnlineDecision | undefined>;
  /** Resolves when Redis has the release, or when it is pending. */
  release(release: Release): Promise<void>;
  /** Records a request that was admitted without Redis. */
  recordOffline(request: AdmissionRequest): OfflineAdmission;
  /** Resolves with `undefined` when Redis does not answer. */
  usage(ids: CallerIds): Promise<RedisUsage | undefined>;
  /** Resolves when Redis is up, or marks it down after one second. */
  start(): Promise<void>;
  /** Rejects when Redis does not work. */
  ping(): Promise<void>;
  close(): void;
}

/** A third of a lease's lifetime: two renewals may be lost. */
const RENEW_EVERY_MS = 10_000;
const START_MAX_MS = 1_000;
const START_RETRY_MS = 10;
/** Account that selects the server for calls without an account. */
const NO_ACCOUNT = "nobody";
/** Rounds of sending offline admissions before the shard is up; more are recorded meanwhile. */
const RESTORE_ROUNDS_MAX = 5;

export function createResilientStore(options: ResilientStoreOptions): ResilientStore {
  const { connection, now, every } = options;
  const store = createRedisStore(connection, options);
  const leases = createLeases(renew);
  const clock = createSteadyClock(() => Math.floor(now()));
  const { probe } = store;
  const shards = createShards({ ...options, clock, probe, reason: connection.fault, beforeUp, onUp });
  const shardOf = ({ accountId }: Pick<CallerIds, "accountId">) =>
    shards.of(connection.shardOf(accountId), accountId);
  connection.client.on("close", shards.probe);
  const stopRenewing = every(RENEW_EVERY_MS, () => {
    void leases.renew();
    shards.probe();
  });

  async function admit(request: AdmissionRequest, lease: string): Promise<OnlineDecision | undefined> {
    const shard = shardOf(request);
    if (shard.isDown) return undefined;
    const { outages } = shard;
    try {
      const decision = await store.admit(request, lease);
      return { decision, hadOutage: shard.outages !== outages };
    } catch (fault) {
      reportFault(shard, outages, fault);
      // Redis may have admitted the request although no answer came.
      shard.pendingReleases.add(cancellationOf(request, lease));
      if (!shard.isDown) platform.setImmediate(() => sendLate(shard));
      return undefined;
    }
  }

  /** Sends what was admitted without Redis after the end of the outage that it did not know of. */
  function sendLate(shard: Shard): void {
    if (!shard.isDown) onUp(shard);
  }

  async function release(released: Release): Promise<void> {
    const shard = shardOf(released);
    const isKnownToRedis = leases.drop(released.lease) || hasCorrection(released);
    const isFound = await tryCall(shard, () => store.settle(released));
    if (isFound === undefined && isKnownToRedis) shard.pendingReleases.add(released);
  }

  async function renew(ids: CallerIds, lease: string): Promise<void> {
    const shard = shardOf(ids);
    await tryCall(shard, () => store.renew(ids, lease));
    if (leases.has(lease)) return;
    // The request ended during its renewal, which may have restored its lease.
    const released = { ...ids, lease, ...NO_CORRECTION };
    const isFound = await tryCall(shard, () => store.settle(released));
    if (isFound === undefined) shard.pendingReleases.add(released);
  }

  /** Sends most offline admissions while the shard is still down, so that they delay no request. */
  async function beforeUp({ offlineAdmissions }: Shard): Promise<void> {
    for (let round = 0; round < RESTORE_ROUNDS_MAX && offlineAdmissions.exceedsChunk(); round += 1) {
      await offlineAdmissions.restore(store.restore);
    }
  }

  /** Sends the remaining offline admissions in this event-loop turn, before any other request. */
  function onUp(shard: Shard): void {
    shard.offlineAdmissions.restore(store.restore).catch(shard.markDown);
    void shard.pendingReleases.send((released) => tryCall(shard, () => store.settle(released)));
    void leases.renew();
  }

  return {
    newLease: leases.next,
    keepLease: leases.add,
    admit,
    release,
    recordOffline: (request) => shardOf(request).offlineAdmissions.record(request),
    usage: (ids) => tryCall(shardOf(ids), () => store.usage(ids)),
    start: () => waitForStart(store, () => shardOf({ accountId: NO_ACCOUNT })),
    ping: () => store.probe(NO_ACCOUNT),
    close() {
      stopRenewing();
      shards.close();
      connection.close();
    },
  };
}

/** Calls Redis. Resolves with `undefined` when the shard is down, or fails and is marked down. */
async function tryCall<Reply>(shard: Shard, call: () => Promise<Reply>): Promise<Reply | undefined> {
  if (shard.isDown) return undefined;
  const { outages } = shard;
  try {
    return await call();
  } catch (fault) {
    reportFault(shard, outages, fault);
    return undefined;
  }
}

/** `outages` are those before the call: its fault does not concern the shard after a later outage. */
function reportFault(shard: Shard, outages: number, fault: unknown): void {
  if (shard.outages === outages) shard.markDown(fault);
}

/** Whether Redis needs the release of a lease that was never renewed: it corrects an admission. */
function hasCorrection({ second, requests, tokens }: Release): boolean {
  return second !== undefined || requests !== 0 || tokens !== 0;
}

function cancellationOf({ accountId, keyId, tokens }: AdmissionRequest, lease: string): Release {
  return { accountId, keyId, lease, second: undefined, requests: -1, tokens: -tokens };
}

/** Probes until Redis works. The shard is looked up afterwards, when its name is known. */
async function waitForStart(store: RedisStore, shard: () => Shard): Promise<void> {
  const deadline = platform.monotonicMs() + START_MAX_MS;
  for (;;) {
    try {
      await store.probe(NO_ACCOUNT);
      return void shard();
    } catch (fault) {
      if (platform.monotonicMs() > deadline) return shard().markDown(fault);
      await platform.sleep(START_RETRY_MS);
    }
  }
}
