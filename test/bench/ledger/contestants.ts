import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Books } from "../../../src/app/storage.ts";
import type { DatabaseLocation } from "../../../src/db/location.ts";
import { auditDatabase } from "../../../src/ledger/audit/audit.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { connectLedger } from "../../../src/ledger-grpc/client.ts";
import { startPostgresServer } from "../../support/postgres-server.ts";
import { openBenchBooks } from "./bench-storage.ts";

export type StoreName = "sqlite" | "postgres";

/** One store with empty books, as a gateway in the same process has it. */
export interface Contestant {
  readonly name: StoreName;
  readonly ledger: Ledger;
  /** The same books over gRPC, kept by another process. */
  openRemote(): Promise<{ readonly ledger: Ledger; stop(): Promise<void> }>;
  /** Whether the books are right. */
  isAuditClean(): Promise<boolean>;
}

/** Everything that is measured, on one disk. */
export interface Contestants {
  readonly stores: readonly Contestant[];
  readonly pgbench: Pgbench;
  /** Syncs a second of the disk that the books are on. */
  fsyncRate(ms: number): number;
  stop(): Promise<void>;
}

const TOKEN = "a-token-of-the-benchmark";

/** PostgreSQL is a server of its own with the settings that it comes with; pgbench has a database beside ours. */
export async function startContestants(): Promise<Contestants> {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-bench-"));
  const server = await startPostgresServer();
  const pgbench = await preparePgbench(server.programs, server.url);
  const ours = new URL(server.url);
  ours.pathname = "/tollgate";
  await createDatabase(server.url, "tollgate");
  const sqlite = await openStore("sqlite", { dialect: "sqlite", path: join(folder, "books.db") });
  const postgres = await openStore("postgres", { dialect: "postgres", url: ours.href });
  return {
    stores: [sqlite, postgres],
    pgbench,
    fsyncRate: (ms) => measureFsyncRate(folder, ms),
    async stop() {
      await Promise.all([sqlite.close(), postgres.close()]);
      await server.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

async function createDatabase(url: string, name: string): Promise<void> {
  const client = new Bun.SQL(url, { max: 1 });
  await client.unsafe(`CREATE DATABASE ${name}`).finally(() => client.close());
}

async function openStore(
  name: StoreName,
  location: DatabaseLocation,
): Promise<Contestant & Pick<Books, "close">> {
  const books = await openBenchBooks(location);
  return {
    name,
    ledger: books.ledger,
    openRemote: () => startRemote(location),
    isAuditClean: async () => (await auditDatabase(books.database, Date.now())).findings.length === 0,
    close: books.close,
  };
}

/** A ledger process, and a connection to it. */
async function startRemote(location: DatabaseLocation) {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const child = Bun.spawn(
    [process.execPath, `${import.meta.dir}/ledger-process.ts`, JSON.stringify(location), TOKEN],
    {
      stdout: "inherit",
      stderr: "inherit",
      ipc: ({ address }) => resolve(address),
      onExit: () => reject(new Error("The ledger process ended before it served")),
    },
  );
  const ledger = connectLedger({ address: await promise, token: TOKEN });
  const stop = async () => {
    await ledger.close();
    child.kill();
    await child.exited;
  };
  return { ledger, stop };
}

const SCALE = 10;
const CLIENTS = 32;

/** PostgreSQL's own benchmark on a server, with its standard TPC-B transactions. */
export interface Pgbench {
  /** Transactions a second. */
  run(ms: number): Promise<number>;
}

/** Fills the database of `url` with pgbench's tables. `binaries` is the folder of pgbench. */
export async function preparePgbench(binaries: string, url: string): Promise<Pgbench> {
  const call = async (...args: string[]) => {
    const child = Bun.spawn([join(binaries, "pgbench"), ...args, url], { stdout: "pipe", stderr: "pipe" });
    const [said, complained] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    if ((await child.exited) !== 0) throw new Error(`pgbench failed: ${complained}`);
    return said;
  };
  await call("--initialize", "--quiet", `--scale=${SCALE}`);
  return {
    async run(ms) {
      const seconds = Math.max(1, Math.round(ms / 1_000));
      const said = await call(`--client=${CLIENTS}`, "--jobs=2", `--time=${seconds}`, "--no-vacuum");
      const perSecond = /tps = ([\d.]+)/.exec(said)?.[1];
      if (perSecond === undefined) throw new Error(`pgbench said no rate: ${said}`);
      return Number(perSecond);
    },
  };
}

const PAGE_BYTES = 8_192;

/** How often a second the disk below a folder takes a page and says that it has it. */
export function measureFsyncRate(folder: string, ms: number): number {
  const path = join(folder, "fsync-probe");
  const file = openSync(path, "w");
  const page = new Uint8Array(PAGE_BYTES).fill(7);
  const startedAt = performance.now();
  let syncs = 0;
  while (performance.now() - startedAt < ms) {
    writeSync(file, page, 0, PAGE_BYTES, (syncs % 1_000) * PAGE_BYTES);
    fdatasyncSync(file);
    syncs += 1;
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  closeSync(file);
  rmSync(path);
  return syncs / seconds;
}
