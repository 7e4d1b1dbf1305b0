import type { RedisOptions } from "ioredis";
import { platform } from "../../platform.ts";

/** Address of one server. */
export interface RedisHost {
  readonly host: string;
  readonly port: number;
}

/** Addresses and credentials of the limiter's Redis. */
export type RedisLocation = {
  readonly kind: "single" | "sentinel" | "cluster";
  /** At least one: the server, the sentinels, or some nodes of the cluster. */
  readonly hosts: readonly RedisHost[];
  /** The master's name at the sentinels; `undefined` unless `kind` is `sentinel`. */
  readonly masterName: string | undefined;
  readonly username: string | undefined;
  /** Read again for each connection, as it may be rotated. */
  readonly password: string | undefined;
  /** Database number; 0 in a cluster. */
  readonly db: number;
  /** `undefined` is plain text. */
  readonly tls:
    | {
        readonly ca: string | undefined;
        readonly cert: string | undefined;
        readonly key: string | undefined;
      }
    | undefined;
};

/** Formats kind, hosts and master name for the log, without credentials. */
export function describeRedis({ kind, hosts, masterName }: RedisLocation): string {
  const addresses = hosts.map(describeHost).join(", ");
  if (kind === "single") return addresses;
  if (kind === "cluster") return `the cluster at ${addresses}`;
  return `the master "${masterName}" of the sentinels at ${addresses}`;
}

function describeHost({ host, port }: RedisHost): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * A command without an answer after this time rejects. The time is longer than any caller waits, because
 * answers that arrived during a stall of this process must still be read. Meanwhile no further command is
 * sent to a silent server.
 */
const COMMAND_MAX_MS = 2_000;
const CONNECT_MAX_MS = 1_000;
/** With commands open and no byte received for this long, the connection is closed. */
const SILENCE_MAX_MS = 3_000;
/** Longest wait for the server to close a connection that this side has closed. */
const DISCONNECT_MAX_MS = 100;
const LOADING_RETRY_MS = 250;
const BACKOFF_MIN_MS = 50;
const BACKOFF_MAX_MS = 1_000;

/** Options of `new Redis`, with the default mapping of replies. */
export type ServerOptions = Omit<RedisOptions, "replyMapping">;

/** Returns the options of every connection to a server: short timeouts, and no command is sent twice. */
export function connectionOptions({ username, password, tls }: RedisLocation) {
  return {
    connectionName: "tollgate",
    // Version 3 is not needed. A server that does not know its HELLO repeats the password in the error.
    protocol: 2,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...tlsOptions(tls),
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    maxLoadingRetryTime: LOADING_RETRY_MS,
    commandTimeout: COMMAND_MAX_MS,
    connectTimeout: CONNECT_MAX_MS,
    socketTimeout: SILENCE_MAX_MS,
    disconnectTimeout: DISCONNECT_MAX_MS,
    disableClientInfo: true,
  } as const satisfies ServerOptions;
}

/**
 * Verifies the server's certificate against `ca`, or the public authorities without one, and against its host
 * name.
 */
export function tlsOptions(tls: RedisLocation["tls"]): {
  tls?: { ca?: string; cert?: string; key?: string };
} {
  if (!tls) return {};
  const { ca, cert, key } = tls;
  return { tls: { ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) } };
}

/** Returns the milliseconds before the given attempt to reconnect, counted from 1 since the last success. */
export function reconnectDelayMs(attempt: number): number {
  const delayMs = Math.min(BACKOFF_MIN_MS * 2 ** (attempt - 1), BACKOFF_MAX_MS);
  // Jitter: clients that lost one server at the same time must not return at the same time.
  return delayMs * (0.5 + platform.random() / 2);
}
