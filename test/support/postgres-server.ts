import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { SQL } from "bun";
import { freePort } from "./free-port.ts";
import { type GuardedProcess, killWithChildren, startGuarded } from "./guarded-process.ts";
import { requireProgram } from "./installed-programs.ts";

/** A private PostgreSQL that a test may do anything to. */
export interface PostgresServer {
  /** Names the superuser, the password and the database "postgres". Stays the same over restarts. */
  readonly url: string;
  /** The folder of its programs, such as pgbench. */
  readonly programs: string;
  /** The postmaster's, of the last start. */
  pid(): number;
  /** Ends every one of its processes at once with SIGKILL; the data stay as they are. */
  kill(): Promise<void>;
  /** Starts it again after a kill, and resolves when it has recovered. */
  start(): Promise<void>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

export interface PostgresServerOptions {
  /** Whether a commit is on disk before it is answered, as in production. Default true. */
  readonly isDurable?: boolean;
  /** More lines of postgresql.conf, by name. */
  readonly settings?: Readonly<Record<string, string>>;
}

const START_MS = 120_000;
const USER = "tollgate";

/** The path of `initdb`, beside which the other programs are. */
export function requirePostgres(): Promise<string> {
  return requireProgram({
    name: "initdb",
    folders: ["usr/lib/postgresql/*/bin"],
    debianPackage: "postgresql",
    variable: "TEST_DATABASE_URL",
  });
}

/**
 * Sets up and starts a PostgreSQL of its own from the installed programs, on a free port of the loopback.
 * Its texts sort as English does and not by bytes, as on many a production server.
 */
export async function startPostgresServer(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  const initdb = await requirePostgres();
  const programs = dirname(initdb);
  const folder = mkdtempSync(join(tmpdir(), "postgres-"));
  const data = join(folder, "data");
  const password = crypto.randomUUID();
  await createCluster({ initdb, folder, data, password });
  configure(data, options);

  let port = 0;
  let server: GuardedProcess | undefined;
  const start = async () => {
    port ||= freePort();
    const command = [...asServerUser(), join(programs, "postgres"), "-D", data, "-p", `${port}`];
    server = startGuarded({ command, folder, endSignal: "QUIT" });
    await untilReady(server, data);
  };
  await start();
  return {
    url: `postgres://${USER}:${password}@127.0.0.1:${port}/postgres`,
    programs,
    pid: () => postmasterPid(data),
    start,
    async kill() {
      await killWithChildren(postmasterPid(data));
      await server?.abandon();
      // It would be taken for that of a server which still runs.
      rmSync(join(data, "postmaster.pid"), { force: true });
    },
    async stop() {
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL refuses to run as root: then it is its package's user. */
function asServerUser(): readonly string[] {
  if (process.getuid?.() !== 0) return [];
  const { uid, gid } = serverUser();
  return ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups"];
}

function serverUser(): { readonly uid: number; readonly gid: number } {
  const users = readFileSync("/etc/passwd", "utf8").split("\n");
  for (const name of ["postgres", "nobody"]) {
    const [, , uid, gid] = users.find((line) => line.startsWith(`${name}:`))?.split(":") ?? [];
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error("PostgreSQL does not run as root, and there is no user postgres or nobody to run it as");
}

interface Cluster {
  readonly initdb: string;
  readonly folder: string;
  readonly data: string;
  readonly password: string;
}

async function createCluster({ initdb, folder, data, password }: Cluster): Promise<void> {
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (process.getuid?.() === 0) {
    const { uid, gid } = serverUser();
    for (const path of [folder, passwordFile]) chownSync(path, uid, gid);
  }
  const locale = ["--encoding=UTF8", "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US"];
  // It takes a second, or several where others are at work: what else was begun goes on meanwhile.
  const created = Bun.spawn(
    [
      ...asServerUser(),
      initdb,
      ...[
        "--pgdata",
        data,
        "--username",
        USER,
        "--pwfile",
        passwordFile,
        "--auth=scram-sha-256",
        "--no-sync",
      ],
      ...locale,
    ],
    { cwd: "/", stdin: "ignore", stdout: "ignore", stderr: "pipe" },
  );
  const complaint = await new Response(created.stderr).text();
  const exitCode = await created.exited;
  rmSync(passwordFile);
  if (exitCode !== 0) throw new Error(`Cannot create a PostgreSQL cluster: ${complaint}`);
}

function configure(data: string, { isDurable = true, settings = {} }: PostgresServerOptions): void {
  const lines = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: "200",
    ...(isDurable ? {} : { fsync: "off", full_page_writes: "off" }),
    ...settings,
  };
  const text = Object.entries(lines).map(([name, value]) => `${name} = '${value}'\n`);
  writeFileSync(join(data, "postgresql.auto.conf"), text.join(""));
}

/** The server's own file says in its eighth line how far it is. */
async function untilReady(server: GuardedProcess, data: string): Promise<void> {
  const deadline = performance.now() + START_MS;
  while (performance.now() < deadline && !server.hasEnded()) {
    const lines = readLines(join(data, "postmaster.pid"));
    if (lines[7]?.trim() === "ready") return;
    await Bun.sleep(10);
  }
  throw new Error(`PostgreSQL did not start: ${server.output()}`);
}

function postmasterPid(data: string): number {
  const pid = Number(readLines(join(data, "postmaster.pid"))[0]);
  if (!pid) throw new Error("PostgreSQL is not running");
  return pid;
}

function readLines(path: string): readonly string[] {
  return existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
}

/** An empty database. */
export interface TestDatabase {
  readonly url: string;
  /** Removes it, connections or not. */
  drop(): Promise<void>;
}

let serverUrl: Promise<string> | undefined;

/**
 * Creates a database on the server of `TEST_DATABASE_URL`, where we may create databases, or else on a
 * private one, which is started once for all tests of the run and does without fsync.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  serverUrl ??= findServer();
  const admin = await serverUrl;
  const name = `tollgate_test_${crypto.randomUUID().replaceAll("-", "")}`;
  await runStatement(admin, `CREATE DATABASE ${name}`);
  const url = new URL(admin);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => runStatement(admin, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function findServer(): Promise<string> {
  const given = process.env.TEST_DATABASE_URL;
  return given ? given : (await startPostgresServer({ isDurable: false })).url;
}

async function runStatement(url: string, statement: string): Promise<void> {
  const client = new SQL(url, { max: 1 });
  try {
    await client.unsafe(statement);
  } finally {
    await client.close();
  }
}
