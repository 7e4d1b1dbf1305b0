import { afterAll, beforeAll, expect } from "bun:test";
import type { Release } from "../../../src/limiter/redis/batch.ts";
import type { CallerIds } from "../../../src/limiter/redis/scripts.ts";
import { createRedisStore, type OfflineSecond, type RedisStore } from "../../../src/limiter/redis/store.ts";
import { createManualClock } from "../manual-clock.ts";
import { type ClockedRedis, connectClocked, TIMEOUT_MS } from "./redis.ts";

const START_MS = 1_700_000_000_000;

/** Runs single scripts on the Redis of the tests. Times are milliseconds since a full second. */
export function useStore() {
  const clock = createManualClock(START_MS);
  let redis: ClockedRedis;
  let store: RedisStore;
  beforeAll(async () => {
    redis = await connectClocked(clock);
    store = createRedisStore(redis.connection, { clockLua: redis.clockLua, timeoutMs: TIMEOUT_MS });
  });
  afterAll(() => redis.close());

  const at = (ms: number) => redis.setNow(START_MS + ms);
  const keysOf = ({ accountId }: CallerIds) => redis.connection.client.keys(`*${accountId}*`);

  return {
    at,
    newNames: (): CallerIds => ({ accountId: crypto.randomUUID(), keyId: crypto.randomUUID() }),
    get store() {
      return store;
    },

    /** Returns the release that cancels the admission. */
    async admit(names: CallerIds, tokens: number): Promise<Release> {
      const lease = crypto.randomUUID();
      const request = { ...names, keyLimits: {}, accountLimits: {}, tokens };
      const { outcome, second } = await store.admit(request, lease);
      expect(outcome).toBe("admitted");
      return { ...names, lease, second, requests: -1, tokens: -tokens };
    },

    async restoreAt(
      ms: number,
      names: CallerIds,
      offline: readonly OfflineSecond[],
      id: string = crypto.randomUUID(),
    ) {
      await at(ms);
      return store.restore(names, id, offline);
    },

    /** Returns requests and tokens of the key, and expects equal ones of the account. */
    async counted(names: CallerIds): Promise<[number, number]> {
      const { key, account } = await store.usage(names);
      expect([account.requests, account.tokens]).toEqual([key.requests, key.tokens]);
      return [key.requests, key.tokens];
    },

    async running(names: CallerIds): Promise<number> {
      const { keyRunning, accountRunning } = await store.usage(names);
      expect(accountRunning).toBe(keyRunning);
      return keyRunning;
    },

    /** Deletes keys, as a restarted server without its data, or their expiry, would. */
    async forget(names: CallerIds, isForgotten: (key: string) => boolean = () => true): Promise<void> {
      const keys = await keysOf(names);
      await Promise.all(keys.filter(isForgotten).map((key) => redis.connection.client.del(key)));
    },

    /** Returns the milliseconds until each key expires; -1 is never. */
    lifetimes: async (names: CallerIds) =>
      Promise.all((await keysOf(names)).map((key) => redis.connection.client.pttl(key))),
  };
}
