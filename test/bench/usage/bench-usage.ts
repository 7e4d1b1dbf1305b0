import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPostgres } from "../../../src/db/postgres/database.ts";
import { openDatabase } from "../../../src/db/sqlite/database.ts";
import type { LocalLedger } from "../../../src/ledger/engine/local.ts";
import { createPostgresLedger } from "../../../src/ledger/postgres/ledger.ts";
import { createSqliteLedger } from "../../../src/ledger/sqlite/ledger.ts";
import { startPostgresServer } from "../../support/postgres-server.ts";
import { fillSqliteFile } from "./fill-sqlite.ts";
import {
  FILLED_RECEIPTS,
  type Fill,
  POSTGRES_FILL,
  receiptStatement,
  settlementStatements,
  walletStatements,
} from "./fill-usage.ts";
import { measureViews, printViews, type ViewResult } from "./views.ts";

const HOUR_MS = 3_600_000;
const MB = 1024 * 1024;
const DAYS = 90;

/** A filled ledger. */
interface FilledLedger {
  readonly ledger: LocalLedger;
  sizeMb(): Promise<number>;
  close(): Promise<void>;
}

/**
 * `bun run bench usage [--receipts N] [--store sqlite|postgres] [--json]`: measures every view of the console
 * over many receipts, and the roll-ups. Default: 2,000,000 receipts of 90 days, in both stores.
 */
export async function benchUsage(args: readonly string[]): Promise<void> {
  const option = (name: string) => args[args.indexOf(name) + 1];
  const count = args.includes("--receipts") ? Number(option("--receipts")) : 2_000_000;
  const stores = args.includes("--store") ? [option("--store")] : ["sqlite", "postgres"];
  // Ends within an hour, so that the newest hour is open.
  const fill: Fill = { count, days: DAYS, endMs: Math.floor(Date.now() / HOUR_MS) * HOUR_MS + 5 * 60_000 };
  for (const store of stores) {
    const filled = store === "postgres" ? await fillPostgres(fill) : await fillSqlite(fill);
    try {
      const results = await measure(filled.ledger, fill, args.includes("--plain"));
      const details = { store, receipts: count, mb: Math.round(await filled.sizeMb()) };
      console.log(
        args.includes("--json") ? JSON.stringify({ ...details, results }) : printViews(details, results),
      );
    } finally {
      await filled.close();
    }
  }
}

async function measure(ledger: LocalLedger, fill: Fill, isPlain: boolean): Promise<readonly ViewResult[]> {
  const built = isPlain ? [] : await buildRollUps(ledger);
  return [...built, ...(await measureViews(ledger, fill.endMs))];
}

/** Sums up all receipts, and then one hour that has changed. */
async function buildRollUps(ledger: LocalLedger): Promise<readonly ViewResult[]> {
  const beganAtMs = performance.now();
  let longestStallMs = 0;
  let lastTickMs = performance.now();
  const ticker = setInterval(() => {
    longestStallMs = Math.max(longestStallMs, performance.now() - lastTickMs - 1);
    lastTickMs = performance.now();
  }, 1);
  let steps = 0;
  while (await ledger.rollUp()) {
    steps += 1;
    if (steps % 500 === 0) console.error(`  ${steps} steps, ${JSON.stringify(await ledger.rollUps())}`);
  }
  clearInterval(ticker);
  const ms = performance.now() - beganAtMs;
  return [
    { view: "first roll-up of everything", ms, cpuMs: undefined, rows: steps },
    { view: "longest stall of the event loop meanwhile", ms: longestStallMs, cpuMs: undefined, rows: 0 },
    { view: "one step of the first roll-up, mean", ms: ms / steps, cpuMs: undefined, rows: 1 },
  ];
}

async function fillSqlite(fill: Fill): Promise<FilledLedger> {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-usage-"));
  const path = join(folder, "ledger.db");
  fillSqliteFile(path, fill);
  const database = openDatabase(path);
  const ledger = createSqliteLedger({ database });
  return {
    ledger,
    sizeMb: async () => statSync(path).size / MB,
    async close() {
      await ledger.close();
      database.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function fillPostgres(fill: Fill): Promise<FilledLedger> {
  const server = await startPostgresServer();
  const database = await openPostgres(server.url);
  const client = database.connect({ max: 1, session: { statement_timeout: 0, synchronous_commit: "off" } });
  for (const statement of walletStatements(fill)) await client.unsafe(statement);
  for (let from = 0; from < fill.count; from += FILLED_RECEIPTS) {
    const to = Math.min(fill.count, from + FILLED_RECEIPTS);
    await client.unsafe(receiptStatement(POSTGRES_FILL, fill, from, to));
  }
  for (const statement of settlementStatements()) await client.unsafe(statement);
  await client.unsafe("VACUUM ANALYZE");
  const ledger = createPostgresLedger({ database });
  return {
    ledger,
    async sizeMb() {
      const [row] = await client.unsafe("SELECT pg_database_size(current_database()) AS size");
      return Number(row.size) / MB;
    },
    async close() {
      await ledger.close();
      await client.close();
      await database.close();
      await server.stop();
    },
  };
}
