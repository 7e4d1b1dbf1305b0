import { openPostgres } from "../../../src/db/postgres/database.ts";
import { auditPostgres } from "../../../src/ledger/audit/audit.ts";
import { createPostgresLedger, createPostgresReads } from "../../../src/ledger/postgres/ledger.ts";
import { createPostgresRollUpStore } from "../../../src/ledger/postgres/roll-up-store.ts";
import { createRunQuery } from "../../../src/ledger/postgres/run-query.ts";
import { createPostgresStore } from "../../../src/ledger/postgres/store.ts";
import { createTestDatabase } from "../../support/test-database.ts";
import { NOON_MS } from "../samples.ts";
import type { OpenStore } from "./batches.ts";
import type { LedgerUnderTest } from "./env.ts";

/**
 * Opens a ledger in a PostgreSQL database. `openAnother` opens connections of its own, as a replica would.
 */
export async function openOnPostgres(): Promise<LedgerUnderTest> {
  const { url, drop } = await createTestDatabase();
  const clock = { nowMs: NOON_MS };
  const open = async () => {
    const database = await openPostgres(url);
    // Waits long, because a slow machine is not a fault.
    const ledger = createPostgresLedger({ database, now: () => clock.nowMs, busyMaxMs: 60_000 });
    return { database, ledger };
  };
  const first = await open();
  let second: ReturnType<typeof open> | undefined;
  return {
    ledger: first.ledger,
    clock,
    sweep: () => first.ledger.sweep(),
    rollUp: () => first.ledger.rollUp(),
    openRollUps() {
      const { client } = first.database;
      return createPostgresRollUpStore({ client, run: createRunQuery(client), now: () => clock.nowMs });
    },
    async openAnother() {
      second ??= open();
      return (await second).ledger;
    },
    async sweepElsewhere() {
      second ??= open();
      return (await second).ledger.sweep();
    },
    async audit() {
      const { findings, warnings } = await auditPostgres(first.database, clock.nowMs);
      return [...findings, ...warnings];
    },
    async close() {
      for (const each of [first, await second]) {
        await each?.ledger.close();
        await each?.database.close();
      }
      await drop();
    },
  };
}

/** Opens a PostgreSQL store alone, without the batch loop. */
export async function openPostgresStore(): Promise<OpenStore> {
  const { url, drop } = await createTestDatabase();
  const database = await openPostgres(url);
  const clock = { nowMs: NOON_MS };
  const now = () => clock.nowMs;
  const store = createPostgresStore({ database, now });
  return {
    store,
    clock,
    reads: createPostgresReads({ client: database.client, now }),
    async dump(walletId) {
      const dumps = TABLES.map(([table, order]) => {
        const rows = `SELECT row_to_json(${table})::text AS row FROM ${table}`;
        return database.client.unsafe(`${rows} WHERE wallet_id = $1 ORDER BY ${order}`, [walletId]);
      });
      const rows: { row: string }[] = (await Promise.all(dumps)).flat();
      return rows.map(({ row }) => row.replace(`"${walletId}"`, '"the wallet"'));
    },
    async close() {
      await store.close();
      await database.close();
      await drop();
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
