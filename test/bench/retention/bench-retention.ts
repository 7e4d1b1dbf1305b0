import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openDatabase, type SqliteDatabase } from "../../../src/db/sqlite/database.ts";
import type { LocalLedger } from "../../../src/ledger/engine/local.ts";
import { createSqliteLedger } from "../../../src/ledger/sqlite/ledger.ts";
import { printTable } from "../history/table.ts";
import { type PairsResult, runPairs } from "../ledger/hold-settle-load.ts";
import { medianOf } from "../measurements.ts";
import { fillSqliteFile } from "../usage/fill-sqlite.ts";
import { measureViews } from "../usage/views.ts";

const HOUR_MS = 3_600_000;
const DAYS = 90;
const MB = 1024 * 1024;
const WAITING = 32;
const ROUNDS = 5;
const ROUND_MS = 2_000;
const VIEW_MS_MAX = 100;

interface OpenFile {
  readonly path: string;
  readonly ledger: LocalLedger;
  readonly walletIds: readonly string[];
  close(): Promise<void>;
}

/**
 * `bun run bench retention [--receipts N] [--file PATH] [--views] [--drop-s S]`: compares holds and settlements
 * on a SQLite file with many receipts with those on an empty one, measures the console's views, and then drops
 * half of the receipts under load. Default: 10,000,000 receipts of 90 days. `--file` keeps the filled file.
 */
export async function benchRetention(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      receipts: { type: "string", default: "10000000" },
      file: { type: "string" },
      views: { type: "boolean", default: false },
      "drop-s": { type: "string", default: "30" },
    },
  });
  const folder = mkdtempSync(join(tmpdir(), "tollgate-retention-"));
  const path = values.file ?? join(folder, "filled.db");
  const endMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS + 5 * 60_000;
  if (!existsSync(path)) fillSqliteFile(path, { count: Number(values.receipts), days: DAYS, endMs });
  const filled = await openFile(path);
  while (await filled.ledger.rollUp());
  const empty = await openFile(join(folder, "empty.db"));
  try {
    await compare(empty, filled);
    if (values.views) await reportViews(filled.ledger, endMs);
    await dropUnderLoad(filled, Number(values["drop-s"]) * 1_000);
  } finally {
    await empty.close();
    await filled.close();
    rmSync(folder, { recursive: true });
  }
}

async function openFile(path: string): Promise<OpenFile> {
  const database: SqliteDatabase = openDatabase(path);
  const ledger = createSqliteLedger({ database });
  const walletIds = ["load-0", "load-1", "load-2", "load-3"];
  for (const walletId of walletIds) {
    await ledger.createWallet(walletId);
    await ledger.topUp({ walletId, topUpId: "load", amount: 1_000_000_000_000n });
  }
  const close = async () => {
    await ledger.close();
    database.close();
  };
  return { path, ledger, walletIds, close };
}

/** Alternates rounds, so that other load of the machine affects both. */
async function compare(empty: OpenFile, filled: OpenFile): Promise<void> {
  const run = ({ ledger, walletIds }: OpenFile) =>
    runPairs(ledger, { walletIds, waiting: WAITING, ms: ROUND_MS });
  for (const file of [empty, filled]) await run(file);
  const rounds: { empty: PairsResult; filled: PairsResult }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({ empty: await run(empty), filled: await run(filled) });
  }
  const rowOf = (name: "empty" | "filled") => {
    const results = rounds.map((round) => round[name]);
    return [
      name,
      medianOf(results.map(({ perSecond }) => perSecond)).toFixed(0),
      medianOf(results.map(({ latencyMs }) => latencyMs.p50)).toFixed(2),
      medianOf(results.map(({ latencyMs }) => latencyMs.p99)).toFixed(2),
    ];
  };
  const ratio = medianOf(rounds.map((round) => round.filled.perSecond / round.empty.perSecond));
  console.log(
    printTable(
      ["file", "pairs/s", "p50, ms", "p99, ms"],
      ["empty", "filled"].map((name) => rowOf(name as "empty")),
    ).join("\n"),
  );
  console.log(`filled ÷ empty: ${ratio.toFixed(3)}, ${(statSync(filled.path).size / MB).toFixed(0)} MB`);
}

async function reportViews(ledger: LocalLedger, endMs: number): Promise<void> {
  const results = await measureViews(ledger, endMs);
  const slow = results.filter(({ ms }) => ms > VIEW_MS_MAX).toSorted((one, other) => other.ms - one.ms);
  console.log(`${results.length} views, ${slow.length} above ${VIEW_MS_MAX} ms`);
  for (const { view, ms, cpuMs } of slow)
    console.log(`${view}: ${ms.toFixed(0)} ms, CPU ${cpuMs?.toFixed(0)} ms`);
}

/** Drops half of the days while pairs run, and prints rates, latencies and the longest stall of the event loop. */
async function dropUnderLoad({ ledger, walletIds, path }: OpenFile, ms: number): Promise<void> {
  const load = () => runPairs(ledger, { walletIds, waiting: WAITING, ms });
  const before = await watchStalls(load);
  let isStopped = false;
  let receipts = 0;
  const dropping = (async () => {
    const beganAtMs = performance.now();
    while (!isStopped) {
      const step = await ledger.retain({ receiptsDays: DAYS / 2 });
      receipts += step.receipts;
      if (!step.isMore) break;
    }
    return performance.now() - beganAtMs;
  })();
  const during = await watchStalls(load);
  isStopped = true;
  const droppingMs = await dropping;
  const rowOf = (name: string, { result, stallMs }: typeof before) => [
    name,
    result.perSecond.toFixed(0),
    result.latencyMs.p50.toFixed(2),
    result.latencyMs.p99.toFixed(2),
    stallMs.toFixed(1),
  ];
  const headings = ["", "pairs/s", "p50, ms", "p99, ms", "longest stall, ms"];
  console.log(printTable(headings, [rowOf("before", before), rowOf("during a drop", during)]).join("\n"));
  console.log(`${receipts} receipts dropped, ${(receipts / (droppingMs / 1_000)).toFixed(0)}/s; ${path}`);
}

async function watchStalls(run: () => Promise<PairsResult>) {
  let stallMs = 0;
  let lastMs = performance.now();
  const ticker = setInterval(() => {
    stallMs = Math.max(stallMs, performance.now() - lastMs - 1);
    lastMs = performance.now();
  }, 1);
  const result = await run();
  clearInterval(ticker);
  return { result, stallMs };
}
