import type { Database } from "bun:sqlite";
import { join } from "node:path";
import { connect, openDatabase } from "../../../src/db/sqlite/database.ts";
import { auditSqlite } from "../../../src/ledger/audit/audit.ts";
import { createSqliteLedger } from "../../../src/ledger/sqlite/ledger.ts";
import { createInlineReader, createSqliteReads } from "../../../src/ledger/sqlite/reads.ts";
import { createSqliteRollUpStore } from "../../../src/ledger/sqlite/roll-up-store.ts";
import { createSqliteStore } from "../../../src/ledger/sqlite/store.ts";
import { writeSqliteFile } from "../../support/sqlite-file.ts";
import { openInlineScratch } from "../inline-scratch.ts";
import { NOON_MS, temporaryFolder } from "../samples.ts";
import type { OpenStore } from "./batches.ts";
import type { LedgerUnderTest } from "./env.ts";

/** Opens a ledger in a SQLite file. `openAnother` opens a second connection to the file. */
export async function openOnSqlite(): Promise<LedgerUnderTest> {
  const folder = temporaryFolder();
  const file = join(folder.path, "ledger.db");
  writeSqliteFile(file);
  const database = openDatabase(file);
  const clock = { nowMs: NOON_MS };
  const open = () => createSqliteLedger({ database, now: () => clock.nowMs });
  const first = open();
  let second: ReturnType<typeof open> | undefined;
  const clients: Database[] = [];
  return {
    ledger: first,
    clock,
    sweep: () => first.sweep(),
    rollUp: () => first.rollUp(),
    openRollUps() {
      const client = connect(database.path, 0);
      clients.push(client);
      const run = createInlineReader(client);
      return createSqliteRollUpStore({
        client,
        run,
        runShort: run,
        openScratch: () => openInlineScratch(database.path),
        now: () => clock.nowMs,
        forgetFence() {},
      });
    },
    async openAnother() {
      second ??= open();
      return second;
    },
    async sweepElsewhere() {
      second ??= open();
      return second.sweep();
    },
    async audit() {
      const { findings, warnings } = await auditSqlite(database, clock.nowMs);
      return [...findings, ...warnings];
    },
    async close() {
      for (const each of [first, second]) await each?.close();
      for (const client of clients) client.close();
      database.close();
      folder.remove();
    },
  };
}

/** Opens a SQLite store alone, without the batch loop. */
export async function openSqliteStore(): Promise<OpenStore> {
  const folder = temporaryFolder();
  const file = join(folder.path, "ledger.db");
  writeSqliteFile(file);
  const { path, close } = openDatabase(file);
  const client = connect(path, 0);
  const clock = { nowMs: NOON_MS };
  const now = () => clock.nowMs;
  const reads = createSqliteReads({ client, path, now });
  return {
    store: createSqliteStore({ client, now, sync: async () => {} }),
    clock,
    reads,
    async dump(walletId) {
      return TABLES.flatMap(([table, order]) => {
        const sql = `SELECT * FROM ${table} WHERE wallet_id = ? ORDER BY ${order}`;
        const rows = client.query<object, [string]>(sql).safeIntegers(true).all(walletId);
        return rows.map((row) => ({ ...row, wallet_id: "the wallet" }));
      });
    },
    async close() {
      reads.close();
      client.close();
      close();
      folder.remove();
    },
  };
}

const TABLES = [
  ["wallets", "wallet_id"],
  ["holds", "hold_id"],
  ["transfers", "seq"],
  ["spend_limits", "limit_id"],
  ["limit_counters", "limit_id, period_start_ms"],
] as const;
