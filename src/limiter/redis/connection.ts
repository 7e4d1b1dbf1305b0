import type { Cluster, Redis } from "ioredis";
import { connectCluster } from "./cluster.ts";
import type { RedisLocation } from "./location.ts";
import { connectServer } from "./server.ts";

/** Keeps the limiter's Redis connected for as long as it is not closed. */
export interface RedisConnection {
  /**
   * Rejects at once what it cannot send, and within two seconds what is not answered: whoever can wait for
   * less races it. Sends nothing twice. Errors hold arguments of commands in a field: only their messages are
   * for the log.
   */
  readonly client: Redis | Cluster;
  /** The server that keeps an account's keys: what fails and comes back as a whole. */
  shardOf(accountId: string): string;
  /** Why there is no connection, without a secret; `undefined` while there is one. */
  fault(): string | undefined;
  close(): void;
}

/**
 * Returns at once, connects in the background, and again whenever the connection is lost, for ever, with
 * pauses that grow up to a second.
 */
export function connectRedis(location: RedisLocation): RedisConnection {
  return location.kind === "cluster" ? connectCluster(location) : connectServer(location);
}
