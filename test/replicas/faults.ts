import type { PostgresServer } from "../support/postgres-server.ts";
import type { RedisServer } from "../support/redis-server.ts";
import { drawOne, type RandomSource } from "../support/seeded-random.ts";
import type { Deployment, Replica } from "./deployment.ts";

/** Everything that a fault may strike. */
export interface Targets {
  readonly deployment: Deployment;
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
  readonly draw: RandomSource;
}

/** A fault, with what docs/replicas.md lets clients see of it. */
export interface Fault {
  readonly what: string;
  /** Which requests may end with an error of ours, besides 402 and 429. */
  readonly spoils: "none" | "running requests" | "all requests";
  /** Whether the limits may be counted by each gateway alone, and whether Redis forgets them. */
  readonly redis?: "away" | "emptied";
  /** Strikes, and resolves when the part works again. */
  strike(targets: Targets): Promise<void>;
}

const GATEWAY_AWAY_MS = 3_000;
const POSTGRES_AWAY_MS = 2_000;
const REDIS_RESTART_MS = 500;
const REDIS_AWAY_MS = 12_000;

const drawGateway = ({ deployment, draw }: Targets): Replica => drawOne(draw, deployment.gateways);

export const FAULTS: Readonly<Record<string, Fault>> = {
  rolling: {
    what: "each gateway restarted by SIGTERM, one after another",
    spoils: "none",
    async strike({ deployment }) {
      for (const gateway of deployment.gateways) {
        await gateway.stop();
        await gateway.start();
      }
    },
  },
  restart: {
    what: "one gateway restarted by SIGTERM",
    spoils: "none",
    async strike(targets) {
      const gateway = drawGateway(targets);
      await gateway.stop();
      await Bun.sleep(GATEWAY_AWAY_MS);
      await gateway.start();
    },
  },
  kill: {
    what: "one gateway killed by SIGKILL, and started again",
    spoils: "running requests",
    async strike(targets) {
      const gateway = drawGateway(targets);
      await gateway.kill();
      await Bun.sleep(GATEWAY_AWAY_MS);
      await gateway.start();
    },
  },
  postgres: {
    what: "PostgreSQL killed, and started again",
    spoils: "all requests",
    async strike({ postgres, deployment }) {
      await postgres.kill();
      await Bun.sleep(POSTGRES_AWAY_MS);
      await postgres.start();
      await Promise.all(deployment.gateways.map((gateway) => gateway.untilServing()));
    },
  },
  redis: {
    what: "Redis restarted with its data (appendonly)",
    spoils: "none",
    redis: "away",
    async strike({ redis }) {
      await redis.shutdown();
      await Bun.sleep(REDIS_RESTART_MS);
      await redis.start();
    },
  },
  lostRedis: {
    what: "Redis killed for 12 s, and emptied",
    spoils: "none",
    redis: "emptied",
    async strike({ redis }) {
      await redis.kill();
      await Bun.sleep(REDIS_AWAY_MS);
      await redis.start();
      await redis.ask("FLUSHALL");
    },
  },
};

/** A fault that struck, with its time in Unix milliseconds. */
export interface Struck extends Fault {
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** Strikes once, and waits `calmMs` afterwards. */
export async function strikeOnce(name: string, targets: Targets, calmMs: number): Promise<Struck> {
  const fault = FAULTS[name];
  if (!fault) throw new Error(`There is no fault "${name}"`);
  const fromMs = Date.now();
  await fault.strike(targets);
  const toMs = Date.now();
  await Bun.sleep(calmMs);
  return { ...fault, name, fromMs, toMs };
}
