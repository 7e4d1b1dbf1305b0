import { Redis } from "ioredis";
import { connectionOptions, reconnectDelayMs, type ServerOptions, tlsOptions } from "./connection-options.ts";
import type { RedisHost, RedisLocation } from "./location.ts";

/** What one sentinel may take for an answer, connecting included. */
const SENTINEL_MAX_MS = 1_000;
const SWITCHED = "+switch-master";

/** The options that make a client ask the sentinels for the master, each time that it connects. */
export function sentinelOptions(location: RedisLocation): ServerOptions {
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
 * Calls `onSwitch` when a sentinel announces another master: the old one may still answer, and others count
 * on the new one already. (ioredis's own watch prints the sentinels' faults on stderr.)
 */
export function watchSentinels(location: RedisLocation, onSwitch: () => void): { close(): void } {
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
    watch.subscribe(SWITCHED).catch(() => watch.disconnect(true));
  });
  return watch;
}

/**
 * The user "default" of a sentinel without a password takes any, and with one it is the master's own where
 * they have one password. The master's user is not known to sentinels.
 */
function sentinelUser({ password }: RedisLocation) {
  if (password === undefined) return { sentinelUsername: undefined, sentinelPassword: undefined };
  return { sentinelUsername: "default", sentinelPassword: password };
}
