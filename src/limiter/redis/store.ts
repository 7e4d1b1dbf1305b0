import { platform } from "../../platform.ts";
import { type AdmissionRequest, SHARED_LIMITER_TIMEOUT_MS } from "../limiter.ts";
import {
  Batch,
  decodeSnapshot,
  NO_CORRECTION,
  type RedisDecision,
  type RedisSnapshot,
  type Release,
} from "./batch.ts";
import {
  type CallerIds,
  CHUNK_SIZE,
  createScripts,
  keysOf,
  probeWindowsOf,
  REDIS_CLOCK,
  restoredKeyOf,
  withTimeout,
} from "./scripts.ts";
import type { RedisConnection } from "./server.ts";

/** Windows and running requests of a key and its account. */
export interface RedisUsage {
  readonly key: RedisSnapshot;
  readonly account: RedisSnapshot;
  readonly keyRunning: number;
  readonly accountRunning: number;
}

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
  usage(ids: CallerIds): Promise<RedisUsage>;
  /**
   * Counts offline admissions. Returns the second in Redis of each, 0 for one older than a minute. A repeated
   * call with the same id changes nothing and returns the same.
   */
  restore(ids: CallerIds, id: string, seconds: readonly OfflineSecond[]): Promise<readonly number[]>;
  /** Resolves when the account's server works: admits and settles a request under separate keys. */
  probe(accountId: string): Promise<void>;
}

const PROBE = { keyLimits: {}, accountLimits: {}, tokens: 0 };

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
  const send = (batch: Batch) => void runBatch(batch, inTime(scripts.batch(batch.keys, [batch.encode()])));
  const batches = createBatches(send);
  // In a cluster, the keys of a call must be of one account.
  const batchOf = ({ accountId }: CallerIds) => batches.open(client.isCluster ? accountId : "");
  return {
    admit: (request, lease) => batchOf(request).admit(request, lease),
    settle: (release) => batchOf(release).settle(release),
    renew: (ids, lease) => batchOf(ids).renew(ids, lease),
    async usage(ids) {
      const reply = await inTime(scripts.usage(keysOf(ids), []));
      return {
        key: decodeSnapshot(reply, 0),
        account: decodeSnapshot(reply, 4),
        keyRunning: reply[8] ?? 0,
        accountRunning: reply[9] ?? 0,
      };
    },
    restore(ids, id, seconds) {
      const args = seconds.flatMap(({ ageMs, requests, tokens }) => [ageMs, requests, tokens]);
      return inTime(scripts.restore([...keysOf(ids), restoredKeyOf(ids.accountId, id)], args));
    },
    async probe(accountId) {
      const ids = { accountId, keyId: "" };
      const lease = platform.uuid();
      const [taking, freeing] = [new Batch(probeWindowsOf), new Batch(probeWindowsOf)];
      const taken = taking.admit({ ...ids, ...PROBE }, lease);
      send(taking);
      if ((await taken).outcome !== "admitted") throw new TypeError("Redis did not admit a probe");
      const freed = freeing.settle({ ...ids, lease, ...NO_CORRECTION });
      send(freeing);
      await freed;
    },
  };
}

/** Resolves or rejects the requests of a batch by the reply to it. */
async function runBatch(batch: Batch, reply: Promise<Buffer>): Promise<void> {
  try {
    batch.resolve(await reply);
  } catch (fault) {
    batch.reject(fault);
  }
}

/** The batches of this event-loop turn. */
interface Batches {
  /** Returns the batch for one more request of a group. Requests of different groups share no call. */
  open(group: string): Batch;
}

/**
 * Sends the requests of one event-loop turn together: a busy caller is loaded and saved once for all of them.
 * A batch has at most {@link CHUNK_SIZE} requests. `send` must not reject.
 */
export function createBatches(send: (batch: Batch) => void): Batches {
  const pending = new Map<string, Batch>();

  function flush(): void {
    const batches = [...pending.values()];
    pending.clear();
    for (const batch of batches) send(batch);
  }

  return {
    open(group) {
      let batch = pending.get(group);
      if (batch && batch.size < CHUNK_SIZE) return batch;
      if (batch) send(batch);
      if (pending.size === 0) platform.setImmediate(flush);
      batch = new Batch();
      pending.set(group, batch);
      return batch;
    },
  };
}
