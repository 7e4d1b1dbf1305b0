import type { Config } from "../config/config.ts";
import type { Database } from "../db/database.ts";
import type { Limiter } from "../limiter/limiter.ts";
import { createMemoryLimiter } from "../limiter/memory.ts";
import { watchPeerGateways } from "../limiter/peer-gateways.ts";
import { connectRedis } from "../limiter/redis/connection.ts";
import { createRedisLimiter } from "../limiter/redis/limiter.ts";
import type { Log } from "../telemetry/log.ts";
import type { LimiterMetrics } from "../telemetry/metrics.ts";

/** The limiter, and what looks out for gateways that count apart from it. */
export interface KeptLimits {
  readonly limiter: Limiter;
  close(): Promise<void>;
}

interface Surroundings {
  readonly database: Database;
  readonly log: Log;
  readonly metrics: LimiterMetrics;
}

/** Counts limits where the configuration wants it: in Redis, or in this process alone. */
export async function keepLimits(config: Config["limiter"], surroundings: Surroundings): Promise<KeptLimits> {
  const limiter = await startLimiter(config, surroundings);
  const hasRedis = config.redis !== undefined;
  const neighbours = watchPeerGateways({ ...surroundings, hasRedis, gatewayId: crypto.randomUUID() });
  return {
    limiter,
    async close() {
      limiter.close();
      await neighbours.close();
    },
  };
}

async function startLimiter(
  { redis, onFailure, replicas }: Config["limiter"],
  { log, metrics }: Surroundings,
): Promise<Limiter> {
  if (!redis) return createMemoryLimiter({ metrics });
  const connection = connectRedis(redis);
  const limiter = createRedisLimiter({ connection, onFailure, replicas, log, metrics });
  await limiter.start();
  return limiter;
}
