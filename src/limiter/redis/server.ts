import { type Cluster, Redis } from "ioredis";
import { connectCluster } from "./cluster.ts";
import {
  connectionOptions,
  type RedisHost,
  type RedisLocation,
  reconnectDelayMs,
  type ServerOptions,
  tlsOptions,
} from "./location.ts";

/** Error of a replica on a writing script: its own, or, before Redis 7, nested within another error. */
const REPLICA_ERROR = /READONLY|MASTERDOWN/;
/** ioredis reports each sentinel's own fault before this error, as a `sentinelError`. */
const ALL_SENTINELS_FAILED = "All sentinels are unreachable";
const RESTART_MS = 100;
/** Longest time of one sentinel to answer, connecting included. */
const SENTINEL_MAX_MS = 1_000;
const MASTER_SWITCHED = "+switch-master";

/** Connects to one server, by its address or through its sentinels. */
function connectServer(location: RedisLocation) {
  const client = new Redis(optionsOf(location));
  client.on("close", () => renewPasswords(client, location));
  let isClosed = false;
  let restart: Timer | undefined;
  const fault = trackFault(client);
  client.on("end", () => {
    // ioredis never reconnects after a disconnect during a sentinel query.
    if (!isClosed) restart = setTimeout(() => void client.connect().catch(() => {}), RESTART_MS);
  });
  const sentinels =
    location.kind === "sentinel" ? watchSentinels(location, () => reconnect(client)) : undefined;
  return {
    client,
    shardOf: () => "redis",
    fault,
    close() {
      isClosed = true;
      clearTimeout(restart);
      sentinels?.close();
      client.disconnect();
    },
  };
}

function optionsOf(location: RedisLocation): ServerOptions {
  return {
    ...connectionOptions(location),
    ...addressOf(location),
    db: location.db,
    // Requests of one event-loop turn share a script call already: pipelining would only add a turn.
    enableAutoPipelining: false,
    enableOfflineQueue: false,
    retryStrategy: reconnectDelayMs,
    // The new connection asks the sentinels, or the name server, for the current master.
    reconnectOnError: ({ message }) => REPLICA_ERROR.test(message),
  };
}

function addressOf(location: RedisLocation): ServerOptions {
  if (location.kind === "sentinel") return sentinelOptions(location);
  const [server] = location.hosts;
  return server ? { host: server.host, port: server.port } : {};
}

/** Options that make a client ask the sentinels for the master each time it connects. */
function sentinelOptions(location: RedisLocation): ServerOptions {
  const { hosts, masterName, tls } = location;
  return {
    sentinels: hosts.map(({ host, port }) => ({ host, port })),
    ...(masterName === undefined ? {} : { name: masterName }),
    ...sentinelUser(location),
    ...(tls ? { sentinelTLS: tlsOptions(tls).tls, enableTLSForSentinelMode: true } : {}),
    sentinelCommandTimeout: SENTINEL_MAX_MS,
    sentinelRetryStrategy: reconnectDelayMs,
  };
}

/**
 * Returns the credentials for a sentinel. The user "default" of a sentinel without a password accepts any
 * password; a sentinel with one shares the master's. Sentinels do not know the master's user.
 */
function sentinelUser({ password }: RedisLocation) {
  if (password === undefined) return { sentinelUsername: undefined, sentinelPassword: undefined };
  return { sentinelUsername: "default", sentinelPassword: password };
}

/** Gives the next connection the present password: ioredis reads its options each time it connects. */
function renewPasswords({ options }: Redis, location: RedisLocation): void {
  const { password } = location;
  if (password === undefined) return;
  options.password = password;
  if (location.kind === "sentinel") options.sentinelPassword = password;
}

function reconnect(client: Redis): void {
  if (client.status === "ready") client.disconnect(true);
}

/**
 * Calls `onSwitch` when a sentinel announces a new master. The old master may still answer while other
 * gateways count on the new one. The watch of ioredis is not used: it prints the sentinels' faults on stderr.
 */
function watchSentinels(location: RedisLocation, onSwitch: () => void): { close(): void } {
  const watches = location.hosts.map((host) => watchSentinel(location, host, onSwitch));
  return {
    close() {
      for (const watch of watches) watch.disconnect();
    },
  };
}

function watchSentinel(location: RedisLocation, { host, port }: RedisHost, onSwitch: () => void): Redis {
  const { sentinelUsername: username, sentinelPassword: password } = sentinelUser(location);
  const watch = new Redis({
    ...connectionOptions({ ...location, username, password }),
    host,
    port,
    enableReadyCheck: false,
    retryStrategy: reconnectDelayMs,
  });
  watch.on("error", () => {});
  watch.on("message", (_channel, text) => {
    const [name] = text.split(" ");
    if (name === location.masterName) onSwitch();
  });
  watch.on("ready", () => {
    watch.subscribe(MASTER_SWITCHED).catch(() => watch.disconnect(true));
  });
  return watch;
}

/** Remembers the first fault of the latest attempt to connect: later ones are consequences. */
function trackFault(client: Redis): () => string | undefined {
  let fault = "it is not connected yet";
  let isExplained = false;
  client.on("connecting", () => {
    isExplained = false;
  });
  client.on("sentinelError", ({ message }: Error) => {
    fault = message;
  });
  client.on("error", (error: Error) => {
    if (!isExplained && !error.message.startsWith(ALL_SENTINELS_FAILED)) {
      fault = error.message;
      isExplained = true;
    }
    // ioredis would continue in database 0.
    if (isSelectError(error)) client.disconnect(true);
  });
  client.on("ready", () => {
    fault = "the connection was closed";
  });
  return () => (client.status === "ready" ? undefined : fault);
}

function isSelectError(error: Error & { readonly command?: { readonly name: string } }): boolean {
  return error.command?.name === "select";
}

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
