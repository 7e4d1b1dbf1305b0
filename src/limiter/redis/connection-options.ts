import type { RedisOptions } from "ioredis";
import type { RedisLocation } from "./location.ts";

/**
 * After this a command counts as not answered, and its promise rejects. Longer than anybody waits: a process
 * that was held up must find the answers that have come, and nothing more is sent to a silent server meanwhile.
 */
const COMMAND_MAX_MS = 1_000;
const CONNECT_MAX_MS = 1_000;
/** After this with commands open and not one byte heard, the server is gone, and so is its connection. */
const SILENCE_MAX_MS = 2_000;
/** How long a server may take to close a connection that we have closed. */
const FAREWELL_MAX_MS = 100;
const LOADING_PAUSE_MS = 250;
const PAUSE_MIN_MS = 50;
const PAUSE_MAX_MS = 1_000;

/** What `new Redis` takes; how replies are mapped stays as it is by default. */
export type ServerOptions = Omit<RedisOptions, "replyMapping">;

/** The options of every connection to a server: nothing waits for long, and nothing is ever sent twice. */
export function connectionOptions({ username, password, tls }: RedisLocation) {
  return {
    connectionName: "tollgate",
    // Nothing of version 3 is needed; and a server that does not know its HELLO repeats the password in the error.
    protocol: 2,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...tlsOptions(tls),
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    maxLoadingRetryTime: LOADING_PAUSE_MS,
    commandTimeout: COMMAND_MAX_MS,
    connectTimeout: CONNECT_MAX_MS,
    socketTimeout: SILENCE_MAX_MS,
    disconnectTimeout: FAREWELL_MAX_MS,
    disableClientInfo: true,
  } as const satisfies ServerOptions;
}

/** Verified against `ca`, or against the public authorities without one, and for the host that was asked for. */
export function tlsOptions(tls: RedisLocation["tls"]): {
  tls?: { ca?: string; cert?: string; key?: string };
} {
  if (!tls) return {};
  const { ca, cert, key } = tls;
  return { tls: { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) } };
}

/** Milliseconds to wait before the n-th try to connect since the last that succeeded; n counts from 1. */
export function reconnectDelayMs(attempt: number): number {
  const pauseMs = Math.min(PAUSE_MIN_MS * 2 ** (attempt - 1), PAUSE_MAX_MS);
  // Jitter: clients that lost one server together would come back together.
  return pauseMs * (0.5 + Math.random() / 2);
}
