import type { Config } from "../config/config.ts";
import type { Database } from "../db/database.ts";
import type { Limiter } from "../limiter/limiter.ts";
import { createMemoryLimiter } from "../limiter/memory.ts";
import { watchPeerGateways } from "../limiter/peer-gateways.ts";
import { platform } from "../platform.ts";
import type { Log } from "../telemetry/log.ts";
import type { LimiterMetrics } from "../telemetry/metrics.ts";

/** The limiter, with the watch for gateways that count separately from it. */
export interface RunningLimiter {
  readonly limiter: Limiter;
  close(): Promise<void>;
}

interface RunningWatch {
  readonly peerGateways: ReturnType<typeof watchPeerGateways>;
}

interface LimiterParts {
  readonly database: Database;
  readonly log: Log;
  readonly metrics: LimiterMetrics;
}

/**
 * Starts the limiter in Redis or in this process, as configured, and the watch for other gateways. Where the
 * configuration names no number of gateways, the limiter's share follows the watch.
 */
export async function startLimiter(config: Config["limiter"], parts: LimiterParts): Promise<RunningLimiter> {
  const hasRedis = config.redis !== undefined;
  const peerGateways = watchPeerGateways({ ...parts, hasRedis, gatewayId: platform.uuid() });
  const limiter = await createLimiter(config, { ...parts, peerGateways });
  return {
    limiter,
    async close() {
      limiter.close();
      await peerGateways.close();
    },
  };
}

async function createLimiter(
  { redis, onFailure, replicas }: Config["limiter"],
  { peerGateways, log, metrics }: LimiterParts & Pick<RunningWatch, "peerGateways">,
): Promise<Limiter> {
  if (!redis) return createMemoryLimiter({ metrics });
  const { connectRedis, createRedisLimiter } = await loadRedis();
  const connection = connectRedis(redis);
  const gateways = () => replicas ?? peerGateways.onRedis();
  const limiter = createRedisLimiter({ connection, onFailure, replicas: gateways, log, metrics });
  await limiter.start();
  return limiter;
}

/** Loads the client of Redis, which takes 10 MB, where a limiter needs it. */
async function loadRedis() {
  const [{ createRedisLimiter }, { connectRedis }] = await Promise.all([
    import("../limiter/redis/limiter.ts"),
    import("../limiter/redis/server.ts"),
  ]);
  return { createRedisLimiter, connectRedis };
}
