import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { freePort } from "./free-port.ts";
import { type GuardedProcess, killWithChildren, startGuarded } from "./guarded-process.ts";
import { requireProgram } from "./installed-programs.ts";

/** A private PostgreSQL server for one test. */
export interface PostgresServer {
  /** Includes the superuser, its password and the database "postgres". Unchanged after a restart. */
  readonly url: string;
  /** The folder of the PostgreSQL programs, such as pgbench. */
  readonly programs: string;
  /** The process id of the running postmaster. */
  pid(): number;
  /** Kills every process of the server at once with SIGKILL. The data files stay. */
  kill(): Promise<void>;
  /** Starts the server after a kill. Resolves when recovery has ended. */
  start(): Promise<void>;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
}

export interface PostgresServerOptions {
  /** Whether a commit is on disk before it is confirmed, as in production. Default true. */
  readonly isDurable?: boolean;
  /** More settings of postgresql.conf, by name. */
  readonly settings?: Readonly<Record<string, string>>;
}

const START_MS = 120_000;
/** Cheap to copy databases in: tests make and drop hundreds. */
const NOT_DURABLE = {
  fsync: "off",
  full_page_writes: "off",
  autovacuum: "off",
  checkpoint_timeout: "1h",
  max_wal_size: "4GB",
};
const USER = "tollgate";

/** Returns the path of `initdb`. The other PostgreSQL programs are in its folder. */
export function requirePostgres(): Promise<string> {
  return requireProgram({
    name: "initdb",
    folders: ["usr/lib/postgresql/*/bin"],
    debianPackage: "postgresql",
    variable: "TEST_DATABASE_URL",
  });
}

/**
 * Creates and starts a private PostgreSQL on a free loopback port. Texts sort by an English collation, not by
 * bytes, as on many production servers.
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
      // A new server would take the stale file for that of a running server.
      rmSync(join(data, "postmaster.pid"), { force: true });
    },
    async stop() {
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL refuses to run as root. As root, runs it as the user of its package. */
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
  throw new Error("PostgreSQL does not run as root, and neither the user postgres nor nobody exists");
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
  // Takes seconds on a busy machine. Asynchronous, so that other work continues.
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
    ...(isDurable ? {} : NOT_DURABLE),
    ...settings,
  };
  const text = Object.entries(lines).map(([name, value]) => `${name} = '${value}'\n`);
  writeFileSync(join(data, "postgresql.auto.conf"), text.join(""));
}

/** Line 8 of postmaster.pid is the state of the server. */
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
