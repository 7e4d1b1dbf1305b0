import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Storage } from "../../../src/app/storage.ts";
import type { DatabaseLocation } from "../../../src/db/location.ts";
import { auditDatabase } from "../../../src/ledger/audit/audit.ts";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { connectLedger } from "../../../src/ledger-grpc/client/client.ts";
import { startPostgresServer } from "../../support/postgres-server.ts";
import { openBenchBooks } from "./bench-books.ts";
import { measureFsyncRate } from "./fsync-rate.ts";
import { type Pgbench, preparePgbench } from "./pgbench.ts";

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
): Promise<Contestant & Pick<Storage, "close">> {
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
