import { Redis } from "ioredis";
import { createMemoryLimiter } from "../../../src/limiter/memory.ts";
import { connectRedis } from "../../../src/limiter/redis/connection.ts";
import { createRedisLimiter, type RedisLimiter } from "../../../src/limiter/redis/limiter.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { type RedisServer, startRedisServer } from "../../support/redis-server.ts";

/** Both limiters in this process, as a gateway has them, and a Redis of their own that keeps nothing on disk. */
export interface Contestants {
  readonly server: RedisServer;
  /** Plain ioredis on that Redis, auto-pipelined. */
  readonly bare: Redis;
  readonly onRedis: RedisLimiter;
  readonly inProcess: ReturnType<typeof createMemoryLimiter>;
  /** One more on that Redis, whose scripts tell the time by `clockLua`. */
  openClocked(clockLua: string): Promise<RedisLimiter>;
  stop(): Promise<void>;
}

export async function startContestants(): Promise<Contestants> {
  const server = await startRedisServer();
  const bare = new Redis({ host: "127.0.0.1", port: server.port, enableAutoPipelining: true });
  const onRedis = await openOnRedis(server);
  return {
    server,
    bare,
    onRedis,
    inProcess: createMemoryLimiter(),
    openClocked: (clockLua) => openOnRedis(server, { clockLua }),
    async stop() {
      onRedis.close();
      bare.disconnect();
      await server.stop();
    },
  };
}

/** Less than what ends a connection: what a disturbed machine takes is to be seen as latency. */
const PATIENCE_MS = 900;

/** One that throws when Redis does not decide: nothing else is to be measured by mistake. */
async function openOnRedis(
  { location }: RedisServer,
  options: { readonly clockLua?: string } = {},
): Promise<RedisLimiter> {
  const limiter = createRedisLimiter({
    ...options,
    connection: connectRedis(location),
    timeoutMs: PATIENCE_MS,
    onFailure: "deny",
    replicas: 1,
    log: { info: () => undefined, warn: (fields, event) => console.error(event, fields) },
    metrics: createMetrics().limiter,
  });
  await limiter.start();
  return limiter;
}
