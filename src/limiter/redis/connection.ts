import type { Cluster, Redis } from "ioredis";
import { connectCluster } from "./cluster.ts";
import type { RedisLocation } from "./location.ts";
import { connectServer } from "./server.ts";

/** A connection to the limiter's Redis that is re-established until it is closed. */
export interface RedisConnection {
  /**
   * Rejects at once a command that it cannot send, and within two seconds one without an answer. A caller
   * with less time must race it. Never sends a command twice. Errors hold command arguments in a field: log
   * their messages only.
   */
  readonly client: Redis | Cluster;
  /** Returns the server that keeps an account's keys. A shard fails and recovers as a whole. */
  shardOf(accountId: string): string;
  /** Returns why the connection is down, without a secret; `undefined` while it is up. */
  fault(): string | undefined;
  close(): void;
}

/**
 * Returns at once and connects in the background. Reconnects after every loss, without limit, with delays
 * that grow to one second.
 */
export function connectRedis(location: RedisLocation): RedisConnection {
  return location.kind === "cluster" ? connectCluster(location) : connectServer(location);
}
