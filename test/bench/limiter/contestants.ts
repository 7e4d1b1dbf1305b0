import { Redis } from "ioredis";
import { createMemoryLimiter } from "../../../src/limiter/memory.ts";
import { createRedisLimiter, type RedisLimiter } from "../../../src/limiter/redis/limiter.ts";
import { connectRedis } from "../../../src/limiter/redis/server.ts";
import { createMetrics } from "../../../src/telemetry/metrics.ts";
import { type RedisServer, startRedisServer } from "../../support/redis-server.ts";

/** Both limiters in this process, and a private Redis without persistence. */
export interface Contestants {
  readonly server: RedisServer;
  /** A plain ioredis client with auto-pipelining. */
  readonly bare: Redis;
  readonly onRedis: RedisLimiter;
  readonly inProcess: ReturnType<typeof createMemoryLimiter>;
  /** Opens another limiter, whose scripts read the time with `clockLua`. */
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

/** Shorter than the timeout that closes a connection, so that a busy machine shows as latency. */
const WAIT_MS = 900;

/** Opens a limiter that declines when Redis does not decide, so that a fallback is never measured. */
async function openOnRedis(
  { location }: RedisServer,
  options: { readonly clockLua?: string } = {},
): Promise<RedisLimiter> {
  const limiter = createRedisLimiter({
    ...options,
    connection: connectRedis(location),
    timeoutMs: WAIT_MS,
    onFailure: "deny",
    replicas: () => 1,
    log: { info: () => undefined, warn: (fields, event) => console.error(event, fields) },
    metrics: createMetrics().limiter,
  });
  await limiter.start();
  return limiter;
}
