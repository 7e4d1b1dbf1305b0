import type { Cluster, Redis } from "ioredis";
import type { RedisLocation } from "../../src/limiter/redis/location.ts";
import { connectRedis, type RedisConnection } from "../../src/limiter/redis/server.ts";
import { until } from "../support/until.ts";
import { startStallMeter } from "./chaos/stall-meter.ts";

/**
 * A command that is rejected or answered at once takes less; one that waits takes its timeout of one second.
 */
export const AT_ONCE_MS = 900;

/** Returns functions that open connections and close all of them. */
export function createOpener() {
  const connections: RedisConnection[] = [];
  return {
    open(location: RedisLocation): RedisConnection {
      const connection = connectRedis(location);
      connections.push(connection);
      return connection;
    },
    closeAll() {
      for (const connection of connections.splice(0)) connection.close();
    },
  };
}

/** Waits until a command for `accountId` is answered. The tests in `chaos/` measure the time. */
export async function untilConnected(
  { client, fault }: RedisConnection,
  accountId = "account",
): Promise<void> {
  const answers = () =>
    client.exists(`{${accountId}}`).then(
      () => true,
      () => false,
    );
  await until(answers).catch(() => {
    throw new Error(`Not connected: ${fault()}`);
  });
}

/** Makes concurrent calls. `ms` is the time until the last one settled, without stalls of this process. */
export async function settle(
  call: (index: number) => Promise<unknown>,
  count: number,
): Promise<{ readonly rejected: number; readonly ms: number }> {
  const stalls = startStallMeter();
  const startedMs = performance.now();
  const settled = await Promise.allSettled(Array.from({ length: count }, (_, index) => call(index)));
  const rejected = settled.filter(({ status }) => status === "rejected").length;
  const ms = performance.now() - startedMs - stalls.stalledMs();
  stalls.stop();
  return { rejected, ms };
}

/** Defines a script of the client that increments a key. */
export function runScript(client: Redis | Cluster): (key: string) => Promise<number> {
  client.defineCommand("addOne", { numberOfKeys: 1, lua: "return redis.call('INCR', KEYS[1])" });
  // Safe because the command was defined above.
  const { addOne } = client as unknown as { addOne: (key: string) => Promise<number> };
  return (key) => addOne.call(client, key);
}
