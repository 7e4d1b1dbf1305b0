import { Cluster, Command, type Redis } from "ioredis";
import { connectionOptions, type RedisLocation, reconnectDelayMs } from "./location.ts";

/** Shard of an account whose slot has no known node. */
export const NO_SHARD = "unknown";

/** The shortest time between two refreshes of the slot table. */
const REFRESH_GAP_MS = 250;
const REFRESH_EVERY_MS = 5_000;
const REFRESH_MAX_MS = 500;
const TRY_AGAIN_MS = 20;
const REDIRECTIONS_MAX = 3;
/** Errors of a node that does not serve a slot, or of a slot without a node. */
const NOT_SERVED = /^(MOVED|CLUSTERDOWN|READONLY|MASTERDOWN)/;

/** Connects to every node of a cluster and follows the assignment of its slots. */
export function connectCluster(location: RedisLocation) {
  const slots = followSlots(() => client);
  const client: Cluster = new Cluster([...location.hosts], {
    // When a slot's node is lost, ioredis spreads a pipeline over present and missing nodes. Its unsent
    // commands then stay queued before later ones, and every following answer goes to the wrong command.
    enableAutoPipelining: false,
    enableOfflineQueue: false,
    // Readiness is a property of each node, not of the cluster.
    enableReadyCheck: false,
    clusterRetryStrategy: reconnectDelayMs,
    // A command sent to a lost node may have been executed: it must not be sent again.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: TRY_AGAIN_MS,
    maxRedirections: REDIRECTIONS_MAX,
    slotsRefreshTimeout: REFRESH_MAX_MS,
    // Keeps host names unresolved: TLS compares certificates with them.
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
  // Without this the first command would wait for the connection, and be sent even after its timeout.
  client.on("+node", (node: Redis) => void node.connect().catch(() => {}));
  return {
    client,
    shardOf: (accountId: string) => client.slots[slotOf(accountId)]?.[0] ?? NO_SHARD,
    fault: trackFault(client),
    close() {
      slots.close();
      client.disconnect();
    },
  };
}

/** Refreshes the slot table after each sign of change, and every 5 seconds. */
function followSlots(client: () => Cluster) {
  let refreshedAtMs = Number.NEGATIVE_INFINITY;
  let soon: Timer | undefined;
  let isClosed = false;
  const refresh = () => {
    refreshedAtMs = performance.now();
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
      soon = setTimeout(refreshOnce, Math.max(refreshedAtMs + REFRESH_GAP_MS - performance.now(), 0));
    },
    close() {
      isClosed = true;
      clearInterval(every);
      clearTimeout(soon);
    },
  };
}

/** Remembers the latest fault of a node since the cluster was last connected. */
function trackFault(client: Cluster): () => string | undefined {
  let fault = "it is not connected yet";
  client.on("node error", (error: Error, node: string) => {
    fault = `${node}: ${error.message}`;
  });
  client.on("error", () => {
    // Repeats only that every node failed.
  });
  return () => (client.status === "ready" ? undefined : fault);
}

/** Returns the slot of every key that contains `{accountId}`, as ioredis computes it. */
function slotOf(accountId: string): number {
  return new Command("get", [accountId]).getSlot();
}
