import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import type { RedisLocation } from "../../src/limiter/redis/location.ts";
import type { Certificates } from "./certificates.ts";
import { freePort } from "./free-port.ts";
import { type GuardedProcess, startGuarded } from "./guarded-process.ts";
import { requireProgram } from "./installed-programs.ts";

/** A private Redis that a test may do anything to. */
export interface RedisServer {
  /** Names the user and the password; stays the same over restarts. */
  readonly url: string;
  /** What `url` says; with TLS, also the authority that the server's certificate comes from. */
  readonly location: RedisLocation;
  readonly port: number;
  /** Of the last start. */
  pid(): number;
  /** Asks it something on a connection of its own, which needs no password. Rejects after 2 s. */
  ask(command: string, ...values: readonly (string | number)[]): Promise<unknown>;
  /** Ends it at once with SIGKILL; without `appendonly` it has lost everything then. */
  kill(): Promise<void>;
  /** Tells it to end by itself; without `appendonly` it has lost everything then. */
  shutdown(): Promise<void>;
  /** Starts it again on its port after that or a kill, and resolves when it answers. */
  start(): Promise<void>;
  /** Stops it with SIGSTOP: the machine goes on to accept connections, and nobody answers. */
  freeze(): void;
  thaw(): void;
  /** Ends it, frozen or not, and removes its files. */
  stop(): Promise<void>;
}

export interface RedisServerOptions {
  /** Of the user "default"; without one, that user needs none. */
  readonly password?: string;
  /** A user who may do everything; "default" may do nothing then. */
  readonly user?: { readonly name: string; readonly password: string };
  /** No plain connections; `demandsCertificate` of the callers too. */
  readonly tls?: { readonly certificates: Certificates; readonly demandsCertificate?: boolean };
  /** More lines of redis.conf, by name; by default nothing is kept on disk. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Default: one that is free. */
  readonly port?: number;
  /** Whether it is a sentinel. */
  readonly isSentinel?: boolean;
}

const START_MS = 120_000;
const ASK_MS = 60_000;

/** The path of the server's program. */
export function requireRedis(): Promise<string> {
  return requireProgram({
    name: "redis-server",
    folders: [],
    debianPackage: "redis-server",
    variable: "TEST_REDIS_URL",
  });
}

/** Starts a Redis of its own on the loopback. */
export async function startRedisServer(options: RedisServerOptions = {}): Promise<RedisServer> {
  const program = await requireRedis();
  const port = options.port ?? freePort();
  const folder = mkdtempSync(join(tmpdir(), "redis-"));
  const config = join(folder, "redis.conf");
  writeFileSync(config, configure(options, folder, port), { mode: 0o600 });
  const command = [program, config, ...(options.isSentinel ? ["--sentinel"] : [])];

  let server: GuardedProcess | undefined;
  const ask = asker(folder, options);
  const pid = () => Number(readFileSync(join(folder, "redis.pid"), "utf8"));
  const start = async () => {
    // The guard could not end a frozen one with anything less.
    server = startGuarded({ command, folder, endSignal: "KILL" });
    await untilReady(server, ask);
  };
  await start();
  return {
    ...addressOf(options, port),
    port,
    pid,
    ask,
    start,
    async kill() {
      process.kill(pid(), "SIGKILL");
      await server?.abandon();
      server = undefined;
    },
    async shutdown() {
      // It closes the connection instead of answering.
      await ask("SHUTDOWN", "NOSAVE").catch(() => {});
      await server?.abandon();
      server = undefined;
    },
    freeze: () => void process.kill(pid(), "SIGSTOP"),
    thaw: () => void process.kill(pid(), "SIGCONT"),
    async stop() {
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function configure(
  { password, user, tls, settings }: RedisServerOptions,
  folder: string,
  port: number,
): string {
  const lines: Record<string, string> = {
    bind: "127.0.0.1",
    port: `${tls ? 0 : port}`,
    dir: folder,
    save: '""',
    pidfile: join(folder, "redis.pid"),
    unixsocket: join(folder, "redis.sock"),
    ...(password === undefined ? {} : { requirepass: password }),
    ...(tls ? tlsSettings(tls, folder, port) : {}),
    ...settings,
  };
  const users = user ? [`user ${user.name} on >${user.password} ~* &* +@all\n`, "user default off\n"] : [];
  return [...Object.entries(lines).map(([name, value]) => `${name} ${value}\n`), ...users].join("");
}

function tlsSettings(
  { certificates, demandsCertificate = false }: NonNullable<RedisServerOptions["tls"]>,
  folder: string,
  port: number,
): Record<string, string> {
  const save = (name: string, pem: string) => {
    const path = join(folder, name);
    writeFileSync(path, pem, { mode: 0o600 });
    return path;
  };
  return {
    "tls-port": `${port}`,
    "tls-ca-cert-file": save("ca.pem", certificates.authority),
    "tls-cert-file": save("server.pem", certificates.server.cert),
    "tls-key-file": save("server.key", certificates.server.key),
    "tls-auth-clients": demandsCertificate ? "yes" : "no",
  };
}

function addressOf(
  { password, user, tls }: RedisServerOptions,
  port: number,
): Pick<RedisServer, "url" | "location"> {
  const login = user ? `${user.name}:${user.password}@` : password === undefined ? "" : `:${password}@`;
  return {
    url: `${tls ? "rediss" : "redis"}://${login}127.0.0.1:${port}`,
    location: {
      kind: "single",
      hosts: [{ host: "127.0.0.1", port }],
      masterName: undefined,
      username: user?.name,
      password: user?.password ?? password,
      db: 0,
      tls: tls && { ca: tls.certificates.authority, cert: undefined, key: undefined },
    },
  };
}

/** Asks through the server's own socket, whatever its port demands. */
function asker(folder: string, { password, user }: RedisServerOptions): RedisServer["ask"] {
  return async (command, ...values) => {
    const client = new Redis({
      path: join(folder, "redis.sock"),
      ...(user
        ? { username: user.name, password: user.password }
        : password === undefined
          ? {}
          : { password }),
      protocol: 2,
      disableClientInfo: true,
      enableReadyCheck: false,
      retryStrategy: null,
      commandTimeout: ASK_MS,
    });
    // The command's own rejection says it.
    client.on("error", () => {});
    try {
      return await client.call(command, values.map(String));
    } finally {
      client.disconnect();
    }
  };
}

async function untilReady(server: GuardedProcess, ask: RedisServer["ask"]): Promise<void> {
  const deadline = performance.now() + START_MS;
  while (performance.now() < deadline && !server.hasEnded()) {
    const answer = await ask("PING").catch(() => undefined);
    if (answer === "PONG") return;
    await Bun.sleep(5);
  }
  throw new Error(`Redis did not start: ${server.output()}`);
}

let serverUrl: Promise<string> | undefined;

/**
 * The Redis of `TEST_REDIS_URL`, or else a private one, which is started once for all tests of the run
 * and keeps nothing on disk.
 */
export function testRedisUrl(): Promise<string> {
  serverUrl ??= findServer();
  return serverUrl;
}

async function findServer(): Promise<string> {
  const given = process.env.TEST_REDIS_URL;
  if (given) return given;
  const { url } = await startRedisServer();
  return url;
}
