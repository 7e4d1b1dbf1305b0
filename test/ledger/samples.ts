import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase, type SqliteDatabase } from "../../src/db/sqlite/database.ts";
import type { BatchOptions } from "../../src/ledger/engine/batcher.ts";
import type { LocalLedger } from "../../src/ledger/engine/local.ts";
import { type HoldRequest, LedgerError } from "../../src/ledger/ledger.ts";
import type { OutcomeFacts } from "../../src/ledger/records.ts";
import { createSqliteLedger } from "../../src/ledger/sqlite/ledger.ts";
import { writeSqliteFile } from "../support/sqlite-file.ts";

/** Wednesday, 2026-01-14 12:00 UTC. */
export const NOON_MS = Date.UTC(2026, 0, 14, 12);
export const WALLET = "acme";
export const FACTS: OutcomeFacts = {
  outcome: "ok",
  source: "reported",
  upstream: "anthropic",
  upstreamModel: "claude-x",
  price: { input: 3n, output: 15n, cachedInput: 1n, cacheWrite: 4n, cacheWrite1h: 6n },
  upstreamCost: 4n,
  tier: "priority",
  usage: {
    inputTokens: 11,
    cachedInputTokens: 7,
    cacheWriteTokens: 5,
    cacheWrite1hTokens: 3,
    outputTokens: 2,
  },
  firstOutputMs: 40,
  totalMs: 900,
  attempts: [{ upstream: "anthropic", status: 200, ms: 850 }],
};

/** Returns a UUIDv7 of time `atMs` that is determined by the name. */
export function holdIdOf(name: string, atMs = NOON_MS): string {
  const time = atMs.toString(16).padStart(12, "0");
  const hash = new Bun.CryptoHasher("sha256").update(name).digest("hex");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-8${hash.slice(3, 6)}-${hash.slice(6, 18)}`;
}

/** A request for a hold of exactly `amount` with the id of "h1". */
export function holdOf(amount: bigint, changes: Partial<HoldRequest> = {}): HoldRequest {
  return {
    walletId: WALLET,
    holdId: holdIdOf("h1"),
    keyId: "k1",
    amount,
    minimum: amount,
    ttlMs: 60_000,
    facts: { surface: "chat", model: "demo" },
    ...changes,
  };
}

/** Returns the code of the LedgerError that a promise must reject with. */
export async function errorCodeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof LedgerError) return error.code;
    throw error;
  }
  throw new Error("Expected a LedgerError, got a result");
}

export interface OpenLedger {
  readonly ledger: LocalLedger;
  readonly database: SqliteDatabase;
  readonly clock: { nowMs: number };
  close(): Promise<void>;
}

export function temporaryFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), "tollgate-ledger-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Opens a ledger in a SQLite file, with a wallet of `funds` and a clock fixed at {@link NOON_MS}. */
export async function openLedger(funds: bigint, options: BatchOptions = {}): Promise<OpenLedger> {
  const folder = temporaryFolder();
  const file = join(folder.path, "ledger.db");
  writeSqliteFile(file);
  const database = openDatabase(file);
  const clock = { nowMs: NOON_MS };
  const ledger = createSqliteLedger({ database, now: () => clock.nowMs, ...options });
  await ledger.createWallet(WALLET);
  if (funds > 0n) await ledger.topUp({ walletId: WALLET, topUpId: "funds", amount: funds });
  const close = async () => {
    await ledger.close();
    database.close();
    folder.remove();
  };
  return { ledger, database, clock, close };
}
