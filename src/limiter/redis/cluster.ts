import { Cluster, Command, type Redis } from "ioredis";
import type { RedisConnection } from "./connection.ts";
import { connectionOptions, reconnectDelayMs } from "./connection-options.ts";
import type { RedisLocation } from "./location.ts";

/** Where an account is whose slot no node serves, as far as is known. */
export const NO_SHARD = "unknown";

/** Between two times that the nodes are asked who serves what, however many signs of change there are. */
const REFRESH_GAP_MS = 250;
const REFRESH_EVERY_MS = 5_000;
const REFRESH_MAX_MS = 500;
const TRY_AGAIN_MS = 20;
const REDIRECTIONS_MAX = 3;
/** What a node answers when it does not serve a slot, or nobody does. */
const NOT_SERVED = /^(MOVED|CLUSTERDOWN|READONLY|MASTERDOWN)/;

/** Connects to every node of a cluster and follows where its slots go. */
export function connectCluster(location: RedisLocation): RedisConnection {
  const slots = followSlots(() => client);
  const client = new Cluster([...location.hosts], {
    // When a slot's node is lost, ioredis spreads a pipeline over nodes that are there and nodes that are not: its
    // commands then stay unsent before those of later ones, which are given each other's answers from then on.
    enableAutoPipelining: false,
    enableOfflineQueue: false,
    // It is per node that commands can be served or not.
    enableReadyCheck: false,
    clusterRetryStrategy: reconnectDelayMs,
    // What was sent to a node that is lost may have been done: it is not for us to send it again.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: TRY_AGAIN_MS,
    maxRedirections: REDIRECTIONS_MAX,
    slotsRefreshTimeout: REFRESH_MAX_MS,
    // Names stay names, so that TLS has something to compare certificates with.
    dnsLookup: (name, done) => done(null, name),
    redisOptions: {
      ...connectionOptions(location),
      reconnectOnError: ({ message }) => {
        if (NOT_SERVED.test(message)) slots.refreshSoon();
        return false;
      },
    },
  });
  client.on("-node", slots.refreshSoon);
  // Or else the first command would wait for the connection, and be sent even when its time is over.
  client.on("+node", (node: Redis) => void node.connect().catch(() => {}));
  return {
    client,
    shardOf: (accountId) => client.slots[slotOf(accountId)]?.[0] ?? NO_SHARD,
    fault: followFault(client),
    close() {
      slots.close();
      client.disconnect();
    },
  };
}

/** Asks the nodes who serves what: after a sign of change, and now and then without one. */
function followSlots(client: () => Cluster) {
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let soon: Timer | undefined;
  let isClosed = false;
  const refresh = () => {
    askedAtMs = performance.now();
    client().refreshSlotsCache();
  };
  const every = setInterval(refresh, REFRESH_EVERY_MS);
  return {
    refreshSoon() {
      if (isClosed || soon) return;
      const refreshOnce = () => {
        soon = undefined;
        refresh();
      };
      soon = setTimeout(refreshOnce, Math.max(askedAtMs + REFRESH_GAP_MS - performance.now(), 0));
    },
    close() {
      isClosed = true;
      clearInterval(every);
      clearTimeout(soon);
    },
  };
}

/** Remembers what went wrong since the cluster was last connected. */
function followFault(client: Cluster): () => string | undefined {
  let fault = "it is not connected yet";
  client.on("node error", (error: Error, node: string) => {
    fault = `${node}: ${error.message}`;
  });
  client.on("error", () => {
    // It says only that no node has helped.
  });
  return () => (client.status === "ready" ? undefined : fault);
}

/** The slot of every key with `{accountId}` in it, as ioredis itself reckons it. */
function slotOf(accountId: string): number {
  return new Command("get", [accountId]).getSlot();
}
