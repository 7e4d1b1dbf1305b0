import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Storage } from "../../../src/app/storage.ts";
import type { DatabaseLocation } from "../../../src/db/location.ts";
import { auditDatabase } from "../../../src/ledger/audit/audit.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { connectLedger } from "../../../src/ledger-grpc/client/client.ts";
import { startPostgresServer } from "../../support/postgres-server.ts";
import { runProgram } from "../../support/run-program.ts";
import { openBenchStorage } from "./bench-storage.ts";

export type StoreName = "sqlite" | "postgres";

/** One storage with an empty ledger in this process. */
export interface Contestant {
  readonly name: StoreName;
  readonly ledger: Ledger;
  /** The ledger over gRPC, served by another process. */
  openRemote(): Promise<{ readonly ledger: Ledger; stop(): Promise<void> }>;
  /** Whether the audit finds no problem. */
  isAuditClean(): Promise<boolean>;
}

/** Everything that is measured, on one disk. */
export interface Contestants {
  readonly stores: readonly Contestant[];
  readonly pgbench: Pgbench;
  /** Syncs per second of the disk with the SQLite file. */
  fsyncRate(ms: number): number;
  stop(): Promise<void>;
}

const TOKEN = "a-token-of-the-benchmark";

/** Starts PostgreSQL with its default settings. pgbench gets a database beside that of the ledger. */
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
): Promise<Contestant & Pick<Storage, "close">> {
  const storage = await openBenchStorage(location);
  return {
    name,
    ledger: storage.ledger,
    openRemote: () => startRemote(location),
    isAuditClean: async () => (await auditDatabase(storage.database, Date.now())).findings.length === 0,
    close: storage.close,
  };
}

/** Starts a ledger process and connects to it. */
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
  const ledger = connectLedger({ address: await promise, tokens: () => [TOKEN] });
  const stop = async () => {
    await ledger.close();
    child.kill();
    await child.exited;
  };
  return { ledger, stop };
}

const SCALE = 10;
const CLIENTS = 32;

/** The TPC-B benchmark of PostgreSQL. */
export interface Pgbench {
  /** Returns transactions per second. */
  run(ms: number): Promise<number>;
}

/** Creates the tables of pgbench in the database of `url`. `binaries` is the folder of pgbench. */
async function preparePgbench(binaries: string, url: string): Promise<Pgbench> {
  const call = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await runProgram([join(binaries, "pgbench"), ...args, url]);
    if (exitCode !== 0) throw new Error(`pgbench failed: ${stderr}`);
    return stdout;
  };
  await call("--initialize", "--quiet", `--scale=${SCALE}`);
  return {
    async run(ms) {
      const seconds = Math.max(1, Math.round(ms / 1_000));
      const output = await call(`--client=${CLIENTS}`, "--jobs=2", `--time=${seconds}`, "--no-vacuum");
      const perSecond = /tps = ([\d.]+)/.exec(output)?.[1];
      if (perSecond === undefined) throw new Error(`pgbench printed no rate: ${output}`);
      return Number(perSecond);
    },
  };
}

const PAGE_BYTES = 8_192;

/** Measures how often per second the disk of a folder writes and syncs a page. */
function measureFsyncRate(folder: string, ms: number): number {
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
