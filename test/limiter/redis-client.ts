import type { Cluster, Redis } from "ioredis";
import { connectRedis, type RedisConnection } from "../../src/limiter/redis/connection.ts";
import type { RedisLocation } from "../../src/limiter/redis/location.ts";
import { startStallMeter } from "./chaos/stall-meter.ts";

/** What is rejected or answered at once takes less. What waits, waits for the second that a command may take. */
export const AT_ONCE_MS = 900;
const PAUSE_MS = 10;
const WAIT_MS = 120_000;

/** Opens connections, and closes those that it has opened. */
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

/** Waits for a condition; throws when it has not come true in `maxMs`. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  maxMs: number = WAIT_MS,
): Promise<void> {
  const deadline = performance.now() + maxMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Nothing has come of it in ${maxMs} ms: ${condition}`);
    await Bun.sleep(PAUSE_MS);
  }
}

/** Waits until a command for `accountId` is answered. How soon that is, is measured in `chaos/`. */
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

/** Makes the calls at the same time. `ms` is until the last of them has settled, less what held this process up. */
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

/** A script of the client's that adds one to a key. */
export function runScript(client: Redis | Cluster): (key: string) => Promise<number> {
  client.defineCommand("addOne", { numberOfKeys: 1, lua: "return redis.call('INCR', KEYS[1])" });
  // Safe because it has just been defined.
  const { addOne } = client as unknown as { addOne: (key: string) => Promise<number> };
  return (key) => addOne.call(client, key);
}
