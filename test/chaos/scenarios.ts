import type { RedisLocation } from "../../src/limiter/redis/location.ts";
import { FAULTS, type RedisFault } from "../limiter/chaos/faults.ts";
import type { LoadGroup } from "../limiter/chaos/load.ts";
import { startRedisCluster } from "../support/redis-cluster.ts";
import { startRedisSentinel } from "../support/redis-sentinel.ts";
import { startRedisServer } from "../support/redis-server.ts";

/** What happens again and again to a Redis, or to those who count in it. */
export interface Scenario {
  readonly what: string;
  /** Whether Redis forgets counts and leases: then N are admitted once more for each time. */
  readonly losesData: boolean;
  /** From one strike to the next. What loses data must leave a minute in between. */
  readonly everyMs: number;
  open(): Promise<Stage>;
}

/** The Redis of one scenario. */
interface Stage {
  readonly location: RedisLocation;
  /** Resolves when what happens is over. */
  strike(victims: Victims): Promise<void>;
  close(): Promise<void>;
}

export interface Victims {
  readonly groups: readonly LoadGroup[];
  readonly accountId: string;
}

/** A window of a minute sees one loss at the most. */
const LOSS_EVERY_MS = 62_000;
const OFTEN_MS = 12_000;
/** Until a killed server is started again: long enough for another to take over. */
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
    what: "kill -9 of a process that counts in it",
    losesData: false,
    everyMs: 35_000,
    async open() {
      const { location, stop } = await startRedisServer();
      let strikes = 0;
      return {
        location,
        close: stop,
        async strike({ groups }) {
          // One is left to tell.
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
