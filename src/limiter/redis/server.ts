import { Redis } from "ioredis";
import type { RedisConnection } from "./connection.ts";
import { connectionOptions, reconnectDelayMs, type ServerOptions } from "./connection-options.ts";
import type { RedisLocation } from "./location.ts";
import { sentinelOptions, watchSentinels } from "./sentinel.ts";

/** What a replica answers to a script that writes, from itself or, before Redis 7, within another error. */
const FROM_A_REPLICA = /READONLY|MASTERDOWN/;
/** Each sentinel's own fault comes before, as a `sentinelError`. */
const NO_SENTINEL_HELPED = "All sentinels are unreachable";
const RESTART_MS = 100;

/** Connects to one server, which its address or its sentinels name. */
export function connectServer(location: RedisLocation): RedisConnection {
  const client = new Redis(serverOptions(location));
  let isClosed = false;
  let restart: Timer | undefined;
  const fault = followFault(client);
  client.on("end", () => {
    // ioredis gives up for good when it is told to disconnect in the middle of asking a sentinel.
    if (!isClosed) restart = setTimeout(() => void client.connect().catch(() => {}), RESTART_MS);
  });
  const watch = location.kind === "sentinel" ? watchSentinels(location, () => reconnect(client)) : undefined;
  return {
    client,
    shardOf: () => "redis",
    fault,
    close() {
      isClosed = true;
      clearTimeout(restart);
      watch?.close();
      client.disconnect();
    },
  };
}

function serverOptions(location: RedisLocation): ServerOptions {
  return {
    ...connectionOptions(location),
    ...addressOf(location),
    db: location.db,
    // Requests of one turn share a call already: another turn's wait would only come on top.
    enableAutoPipelining: false,
    enableOfflineQueue: false,
    retryStrategy: reconnectDelayMs,
    // The new connection asks the sentinels, or the name server, who is the master now.
    reconnectOnError: ({ message }) => FROM_A_REPLICA.test(message),
  };
}

function addressOf(location: RedisLocation): ServerOptions {
  if (location.kind === "sentinel") return sentinelOptions(location);
  const [server] = location.hosts;
  return server ? { host: server.host, port: server.port } : {};
}

function reconnect(client: Redis): void {
  if (client.status === "ready") client.disconnect(true);
}

/** Remembers the first thing that went wrong in the last try to connect: others only follow from it. */
function followFault(client: Redis): () => string | undefined {
  let fault = "it is not connected yet";
  let isExplained = false;
  client.on("connecting", () => {
    isExplained = false;
  });
  client.on("sentinelError", ({ message }: Error) => {
    fault = message;
  });
  client.on("error", (error: Error) => {
    if (!isExplained && !error.message.startsWith(NO_SENTINEL_HELPED)) {
      fault = error.message;
      isExplained = true;
    }
    // It would go on in database 0.
    if (isRefusedSelect(error)) client.disconnect(true);
  });
  client.on("ready", () => {
    fault = "the connection was closed";
  });
  return () => (client.status === "ready" ? undefined : fault);
}

function isRefusedSelect(error: Error & { readonly command?: { readonly name: string } }): boolean {
  return error.command?.name === "select";
}
