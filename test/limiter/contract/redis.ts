import type { Cluster, Redis } from "ioredis";
import { parseRedisUrl } from "../../../src/config/redis.ts";
import { createRedisLimiter } from "../../../src/limiter/redis/limiter.ts";
import type { RedisLocation } from "../../../src/limiter/redis/location.ts";
import { connectRedis, type RedisConnection } from "../../../src/limiter/redis/server.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { testRedisUrl } from "../../support/redis-server.ts";
import { until } from "../../support/until.ts";
import { createManualClock, type ManualClock } from "../manual-clock.ts";
import { makePatient } from "../redis-client.ts";
import type { LimiterHarness } from "./harness.ts";

const REPLICAS = 3;
/** Long enough for a busy machine: no test may see an outage that is none. */
export const TIMEOUT_MS = 60_000;

/** Opens three limiters on one real Redis. Their scripts and repeated tasks use a clock stored in a key. */
export async function openOnRedis(): Promise<LimiterHarness> {
  const clock = createManualClock();
  const redis = await connectClocked(clock);
  const faults: string[] = [];
  const opening = Array.from({ length: REPLICAS }, () => openReplica({ redis, clock, faults }));
  const replicas = await Promise.all(opening);
  const step = (ms: number) => redis.setNow(clock.now() + ms);

  await Promise.all(replicas.map(({ limiter }) => limiter.start()));
  return {
    replicas: replicas.map(({ limiter }) => limiter),
    nowMs: clock.now,
    async advance(ms) {
      let leftMs = ms;
      for (;;) {
        const waitMs = Math.min(...replicas.map(({ repeated }) => repeated.waitMs()));
        if (waitMs > leftMs) break;
        await step(waitMs);
        leftMs -= waitMs;
        for (const { repeated } of replicas) repeated.pass(waitMs);
        await Promise.all(replicas.map(({ client }) => untilAnswered(client)));
      }
      await step(leftMs);
      for (const { repeated } of replicas) repeated.pass(leftMs);
    },
    setClock: step,
    async kill(replica) {
      replicas[replica]?.repeated.stop();
    },
    renewedAtMs: (replica) => replicas[replica]?.repeated.ranAtMs(),
    async close() {
      for (const { limiter } of replicas) limiter.close();
      await redis.close();
      // The results of such a test are not those of Redis.
      if (faults.length > 0) throw new Error(`Redis was too slow for this test: ${faults.join(", ")}`);
    },
  };
}

/** A connection to the Redis of the tests, with a clock for scripts stored in it. */
export interface ClockedRedis {
  readonly location: RedisLocation;
  readonly connection: RedisConnection;
  /** Lua that reads the clock. */
  readonly clockLua: string;
  /** Sets the clock in Redis and in this process. */
  setNow(ms: number): Promise<void>;
  close(): Promise<void>;
}

export async function connectClocked(clock: ManualClock): Promise<ClockedRedis> {
  const location = locateRedis(await testRedisUrl());
  const connection = await connectPatiently(location);
  const { client } = connection;
  const clockKey = `test:clock:${crypto.randomUUID()}`;
  const setNow = async (ms: number) => {
    clock.step(ms - clock.now());
    await client.set(clockKey, ms);
  };
  await setNow(clock.now());
  return {
    location,
    connection,
    clockLua: `local function clock_ms() return tonumber(call('GET', '${clockKey}')) end`,
    setNow,
    async close() {
      await client.del(clockKey);
      connection.close();
    },
  };
}

/** Resolves with a connection that is ready, and whose commands wait for a busy server. */
async function connectPatiently(location: RedisLocation): Promise<RedisConnection> {
  const connection = makePatient(connectRedis(location));
  await until(() => connection.client.status === "ready");
  return connection;
}

interface ReplicaOptions {
  readonly redis: ClockedRedis;
  readonly clock: ManualClock;
  /** Receives the limiter's log lines about timeouts of Redis. */
  readonly faults: string[];
}

async function openReplica({ redis, clock, faults }: ReplicaOptions) {
  const connection = await connectPatiently(redis.location);
  const repeated = createRepeated(clock);
  const limiter = createRedisLimiter({
    connection,
    onFailure: "deny",
    replicas: () => 1,
    log: { info: () => undefined, warn: (fields, event) => void faults.push(`${event}: ${fields.fault}`) },
    metrics: createMetrics().limiter,
    clockLua: redis.clockLua,
    timeoutMs: TIMEOUT_MS,
    now: clock.now,
    every: repeated.every,
  });
  return { limiter, client: connection.client, repeated };
}

/** Repeats the tasks of a limiter by a clock that the test advances. */
function createRepeated(clock: ManualClock) {
  let tasks: { readonly everyMs: number; readonly run: () => void; waitMs: number }[] = [];
  let ranAtMs: number | undefined;
  const stop = () => {
    tasks = [];
  };
  return {
    every(everyMs: number, run: () => void): () => void {
      tasks.push({ everyMs, run, waitMs: everyMs });
      return stop;
    },
    /** Returns the milliseconds until the next task is due. */
    waitMs: () => Math.min(...tasks.map(({ waitMs }) => waitMs)),
    pass(ms: number): void {
      for (const task of tasks) {
        task.waitMs -= ms;
        if (task.waitMs > 0) continue;
        task.waitMs = task.everyMs;
        task.run();
        ranAtMs = clock.now();
      }
    },
    ranAtMs: () => ranAtMs,
    stop,
  };
}

/** Resolves when Redis has executed the commands of this turn; an unknown script takes two answers. */
async function untilAnswered(client: Redis | Cluster): Promise<void> {
  for (let answer = 0; answer < 2; answer += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    await client.exists("test:answer");
  }
}

export function locateRedis(url: string): RedisLocation {
  const location = parseRedisUrl(url, (wrong, expected) => {
    throw new Error(`TEST_REDIS_URL ${wrong}: expected ${expected}`);
  });
  if (!location) throw new Error("TEST_REDIS_URL is no address");
  return { ...location, tls: undefined };
}
