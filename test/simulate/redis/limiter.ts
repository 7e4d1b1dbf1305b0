import type { RunningLimiter } from "../../../src/app/start-limiter.ts";
import type { Database } from "../../../src/db/database.ts";
import { watchPeerGateways } from "../../../src/limiter/peer-gateways.ts";
import { createRedisLimiter } from "../../../src/limiter/redis/limiter.ts";
import { platform } from "../../../src/platform.ts";
import type { Log } from "../../../src/telemetry/log.ts";
import type { Metrics } from "../../../src/telemetry/metrics.ts";
import type { Faults } from "../faults.ts";
import type { Machine } from "../scheduler.ts";
import type { World } from "../world.ts";
import { connectSimulatedRedis } from "./connection.ts";
import type { SimulatedRedis } from "./server.ts";

interface LimiterParts {
  readonly database: Database;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly faults: Faults;
}

/** Starts a gateway's limiter on the simulated Redis, as `src/app/start-limiter.ts` composes it. */
export async function startSharedLimiter(
  world: World,
  redis: SimulatedRedis,
  { machine, parts }: { machine: Machine; parts: LimiterParts },
): Promise<RunningLimiter> {
  const { database, log, metrics, faults } = parts;
  const gatewayId = platform.uuid();
  const peers = watchPeerGateways({ database, gatewayId, hasRedis: true, log, metrics: metrics.limiter });
  const followed = world.model.shared.follow(machine.name, peers.onRedis);
  const limiter = createRedisLimiter({
    connection: connectSimulatedRedis(world, redis, { machine, faults }),
    onFailure: redis.onFailure,
    clockLua: redis.clockLua,
    replicas: peers.onRedis,
    log,
    metrics: followed.metrics,
  });
  await limiter.start();
  return {
    limiter: followed.watch(faults.limiter(limiter)),
    async close() {
      limiter.close();
      await peers.close();
    },
  };
}
