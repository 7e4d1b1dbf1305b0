import type { RedisLocation } from "../../src/limiter/redis/location.ts";
import { FAULTS, type RedisFault } from "../limiter/chaos/faults.ts";
import type { LoadGroup } from "../limiter/chaos/load.ts";
import { startRedisCluster } from "../support/redis-cluster.ts";
import { startRedisSentinel } from "../support/redis-sentinel.ts";
import { startRedisServer } from "../support/redis-server.ts";

/** A fault that repeatedly hits a Redis, or the processes that use it. */
export interface Scenario {
  readonly what: string;
  /** Whether Redis loses counts and leases: each loss admits N more. */
  readonly losesData: boolean;
  /** The time between two faults. Faults that lose data must be more than a minute apart. */
  readonly everyMs: number;
  open(): Promise<ScenarioRedis>;
}

/** The Redis of one scenario. */
interface ScenarioRedis {
  readonly location: RedisLocation;
  /** Resolves when the fault is over. */
  strike(targets: Targets): Promise<void>;
  close(): Promise<void>;
}

export interface Targets {
  readonly groups: readonly LoadGroup[];
  readonly accountId: string;
}

/** More than a minute, so that a window sees at most one loss. */
const LOSS_EVERY_MS = 62_000;
const OFTEN_MS = 12_000;
/** How long a killed server stays down: long enough for a failover. */
const DEAD_MS = 6_000;

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  pause: ofServer("CLIENT PAUSE for up to 2 s", FAULTS.pause, { leastMs: 50, mostMs: 2_000 }),
  stop: ofServer("SIGSTOP for up to 5 s", FAULTS.freeze, { leastMs: 50, mostMs: 5_000 }),
  shutdown: ofServer("SHUTDOWN, and a new start after up to 3 s", FAULTS.shutdown, {
    leastMs: 0,
    mostMs: 3_000,
  }),
  flush: ofServer("FLUSHALL", FAULTS.flush),
  forget: ofServer("SCRIPT FLUSH", FAULTS.forget),
  kill: {
    what: "kill -9 of a process that uses it",
    losesData: false,
    everyMs: 35_000,
    async open() {
      const { location, stop } = await startRedisServer();
      let strikes = 0;
      return {
        location,
        close: stop,
        async strike({ groups }) {
          // One process survives to report.
          await Promise.all(groups.map((group) => strikes < group.replicas - 1 && group.kill(strikes)));
          strikes += 1;
        },
      };
    },
  },
  sentinel: {
    what: "the master killed behind a sentinel",
    losesData: true,
    everyMs: LOSS_EVERY_MS,
    async open() {
      const { location, master, untilSwitched, stop } = await startRedisSentinel();
      return {
        location,
        close: stop,
        async strike() {
          const old = await master();
          await old.kill();
          await untilSwitched(old);
          await Bun.sleep(DEAD_MS);
          await old.start();
        },
      };
    },
  },
  cluster: {
    what: "the master of the account killed in a cluster of three with replicas",
    losesData: true,
    everyMs: LOSS_EVERY_MS,
    async open() {
      const { location, masterOf, stop } = await startRedisCluster({ replicas: 1 });
      return {
        location,
        close: stop,
        async strike({ accountId }) {
          const old = await masterOf(accountId);
          await old.kill();
          await Bun.sleep(DEAD_MS);
          await old.start();
        },
      };
    },
  },
};

function ofServer(
  what: string,
  fault: RedisFault,
  { leastMs, mostMs } = { leastMs: 0, mostMs: 0 },
): Scenario {
  return {
    what,
    losesData: fault.losesData,
    everyMs: fault.losesData ? LOSS_EVERY_MS : OFTEN_MS,
    async open() {
      const server = await startRedisServer();
      return {
        location: server.location,
        strike: () => fault.strike(server, leastMs + Math.round(Math.random() * (mostMs - leastMs))),
        close: server.stop,
      };
    },
  };
}
