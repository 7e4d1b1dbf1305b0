import type { Cluster, Redis } from "ioredis";
import type { RedisLocation } from "../../src/limiter/redis/location.ts";
import { connectRedis, type RedisConnection } from "../../src/limiter/redis/server.ts";
import { until } from "../support/until.ts";

/** Returns functions that open connections and close all of them. */
export function createOpener() {
  const connections: RedisConnection[] = [];
  const open = (location: RedisLocation) => {
    const connection = connectRedis(location);
    connections.push(connection);
    return connection;
  };
  return {
    open,
    openPatient: (location: RedisLocation) => makePatient(open(location)),
    closeAll() {
      for (const connection of connections.splice(0)) connection.close();
    },
  };
}

/** Lets commands wait for a busy server: they are rejected at once, or for lack of an answer after a minute. */
export function makePatient(connection: RedisConnection): RedisConnection {
  const { client } = connection;
  const patience = { commandTimeout: 60_000, socketTimeout: 60_000 };
  Object.assign(client.options, patience);
  if (client.isCluster) client.on("+node", (node: Redis) => Object.assign(node.options, patience));
  return connection;
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

/** Makes concurrent calls. Of those that were rejected, `late` waited for an answer until their timeout. */
export async function settle(
  call: (index: number) => Promise<unknown>,
  count: number,
): Promise<{ readonly rejected: number; readonly late: number }> {
  const settled = await Promise.allSettled(Array.from({ length: count }, (_, index) => call(index)));
  const faults = settled.flatMap((each) => (each.status === "rejected" ? [`${each.reason}`] : []));
  return { rejected: faults.length, late: faults.filter((fault) => fault.includes("timed out")).length };
}

/** Defines a script of the client that increments a key. */
export function runScript(client: Redis | Cluster): (key: string) => Promise<number> {
  client.defineCommand("addOne", { numberOfKeys: 1, lua: "return redis.call('INCR', KEYS[1])" });
  // Safe because the command was defined above.
  const { addOne } = client as unknown as { addOne: (key: string) => Promise<number> };
  return (key) => addOne.call(client, key);
}
