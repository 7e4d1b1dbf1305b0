import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import type { RedisLocation } from "../../src/limiter/redis/location.ts";
import type { Certificates } from "./certificates.ts";
import { freePort } from "./free-port.ts";
import { type GuardedProcess, startGuarded } from "./guarded-process.ts";
import { requireProgram } from "./installed-programs.ts";

/** A private Redis server for one test. */
export interface RedisServer {
  /** Includes the user and the password. Unchanged after a restart. */
  readonly url: string;
  /** The parsed `url`. With TLS, includes the authority of the server certificate. */
  readonly location: RedisLocation;
  readonly port: number;
  /** The process id of the running server. */
  pid(): number;
  /** Runs a command through the Unix socket of the server. Rejects after 60 s. */
  ask(command: string, ...values: readonly (string | number)[]): Promise<unknown>;
  /** Kills the server with SIGKILL. Without `appendonly`, all data is lost. */
  kill(): Promise<void>;
  /** Shuts the server down. Without `appendonly`, all data is lost. */
  shutdown(): Promise<void>;
  /** Starts the server again on its port. Resolves when it answers. */
  start(): Promise<void>;
  /** Stops the server with SIGSTOP: the system accepts connections, and the server does not answer. */
  freeze(): void;
  thaw(): void;
  /** Ends the server, also when frozen, and removes its files. */
  stop(): Promise<void>;
}

export interface RedisServerOptions {
  /** The password of the user "default". Default: none. */
  readonly password?: string;
  /** A user with all permissions. The user "default" is then disabled. */
  readonly user?: { readonly name: string; readonly password: string };
  /** Accepts TLS only. With `demandsCertificate`, clients must present a certificate. */
  readonly tls?: { readonly certificates: Certificates; readonly demandsCertificate?: boolean };
  /** More settings of redis.conf, by name. By default nothing is kept on disk. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Default: a free port. */
  readonly port?: number;
  /** Whether the server runs as a sentinel. */
  readonly isSentinel?: boolean;
}

const START_MS = 120_000;
const ASK_MS = 60_000;

/** Returns the path of redis-server. */
export function requireRedis(): Promise<string> {
  return requireProgram({
    name: "redis-server",
    folders: [],
    debianPackage: "redis-server",
    variable: "TEST_REDIS_URL",
  });
}

/** Starts a private Redis on the loopback. */
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
    // SIGKILL, because a frozen server ignores any other signal.
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
      // Redis closes the connection instead of answering.
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

/** Runs commands through the Unix socket, whatever the port requires. */
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
    // The rejection of the command carries the error.
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
 * Returns the URL of `TEST_REDIS_URL`, or of a private Redis, which is started once per process and keeps
 * nothing on disk.
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
