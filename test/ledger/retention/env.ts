import { join } from "node:path";
import { openPostgres } from "../../../src/db/postgres/database.ts";
import { ensurePartitions } from "../../../src/db/postgres/partitions.ts";
import { openDatabase } from "../../../src/db/sqlite/database.ts";
import { auditPostgres, auditSqlite } from "../../../src/ledger/audit/audit.ts";
import type { LocalLedger } from "../../../src/ledger/engine/local.ts";
import { createPostgresLedger } from "../../../src/ledger/postgres/ledger.ts";
import { createSqliteLedger } from "../../../src/ledger/sqlite/ledger.ts";
import { createTestDatabase } from "../../support/test-database.ts";
import { FACTS, holdIdOf, holdOf, NOON_MS, temporaryFolder, WALLET } from "../samples.ts";

export const DAY_MS = 86_400_000;
/** The months after the one of {@link NOON_MS} are over, and a month of receipts is kept. */
export const LATER_MS = NOON_MS + 60 * DAY_MS;

/** A ledger whose old receipts are dropped, with the controls that only tests have. */
export interface RetainedLedger {
  readonly ledger: LocalLedger;
  readonly clock: { nowMs: number };
  /** Opens another ledger on the database, as another process would. Closed with this one. */
  openAnother(): Promise<LocalLedger>;
  /** Runs SQL, also against the rules of the tables. */
  run(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** The ids of the invariants that the audit found violated. */
  findings(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export async function openOnSqlite(): Promise<RetainedLedger> {
  const folder = temporaryFolder();
  const database = openDatabase(join(folder.path, "ledger.db"));
  const clock = { nowMs: NOON_MS };
  const opened: LocalLedger[] = [];
  const open = () => {
    const ledger = createSqliteLedger({ database, now: () => clock.nowMs });
    opened.push(ledger);
    return ledger;
  };
  return {
    ledger: open(),
    clock,
    openAnother: async () => open(),
    async run(sql) {
      database.client.run("DROP TRIGGER IF EXISTS transfers_never_change");
      database.client.run("DROP TRIGGER IF EXISTS transfers_never_go");
      return database.client.query<Record<string, unknown>, []>(sql).all();
    },
    findings: async () => idsOf(await auditSqlite(database, clock.nowMs)),
    async close() {
      for (const ledger of opened) await ledger.close();
      database.close();
      folder.remove();
    },
  };
}

/** The month of {@link NOON_MS} has a partition of its own, unless `isDefault`. */
export async function openOnPostgres(isDefault = false): Promise<RetainedLedger> {
  const { url, drop } = await createTestDatabase();
  const database = await openPostgres(url);
  if (!isDefault) await ensurePartitions(database.client, NOON_MS);
  await ensurePartitions(database.client, LATER_MS);
  const clock = { nowMs: NOON_MS };
  const opened: LocalLedger[] = [];
  const open = () => {
    const ledger = createPostgresLedger({ database, now: () => clock.nowMs, busyMaxMs: 60_000 });
    opened.push(ledger);
    return ledger;
  };
  await database.client.unsafe("ALTER TABLE transfers DISABLE TRIGGER USER");
  return {
    ledger: open(),
    clock,
    openAnother: async () => open(),
    run: async (sql) => [...(await database.client.unsafe(sql))],
    findings: async () => idsOf(await auditPostgres(database, clock.nowMs)),
    async close() {
      for (const ledger of opened) await ledger.close();
      await database.close();
      await drop();
    },
  };
}

function idsOf({ findings }: { findings: readonly { readonly invariant: string }[] }): readonly string[] {
  return [...new Set(findings.map(({ invariant }) => invariant))].sort();
}

export const OLD = { settled: holdIdOf("settled"), released: holdIdOf("released"), late: holdIdOf("late") };
export const NEW = holdIdOf("new", LATER_MS);

/** Makes old receipts of every kind at {@link NOON_MS}, sums them up, and a new one 60 days later. */
export async function fillLedger(env: RetainedLedger): Promise<void> {
  const { ledger, clock } = env;
  const walletId = WALLET;
  for (const each of [WALLET, "overdrawn"]) {
    await ledger.createWallet(each);
    await ledger.topUp({ walletId: each, topUpId: "funds", amount: 100n });
  }
  await ledger.setSpendLimit({ walletId, limitId: "total", keyId: "k1", period: "total", amount: 90n });
  await ledger.setSpendLimit({ walletId, limitId: "month", keyId: "k1", period: "month", amount: 80n });
  for (const holdId of [OLD.settled, OLD.released]) await ledger.hold(holdOf(10n, { holdId }));
  await ledger.settle({ walletId, holdId: OLD.settled, amount: 9n, facts: FACTS });
  await ledger.refund({ walletId, refundId: "r1", holdId: OLD.settled, amount: 4n });
  await ledger.release({ walletId, holdId: OLD.released, facts: FACTS });
  await chargeOf(ledger);
  await ledger.hold(holdOf(10n, { walletId: "overdrawn", holdId: OLD.late, ttlMs: 1_000 }));
  clock.nowMs += 2_000;
  await ledger.sweep();
  await ledger.settle({ walletId: "overdrawn", holdId: OLD.late, amount: 5_000_000_000n, facts: FACTS });
  await moveTo(env, LATER_MS);
  await ledger.hold(holdOf(10n, { holdId: NEW }));
  await ledger.settle({ walletId, holdId: NEW, amount: 7n, facts: FACTS });
  clock.nowMs += 3 * 3_600_000;
  while (await ledger.rollUp());
}

/** Lets days pass as if retention had looked at the clock in each of them. */
export async function moveTo({ ledger, clock, run }: RetainedLedger, toMs: number) {
  clock.nowMs = toMs;
  await run(`UPDATE retention SET seen_at_ms = ${toMs} RETURNING id`);
  while (await ledger.rollUp());
}

export function chargeOf(ledger: LocalLedger) {
  return ledger.charge({
    walletId: WALLET,
    chargeId: "c1",
    keyId: "k1",
    amount: 6n,
    facts: { surface: "batch", model: "demo" },
    outcome: FACTS,
  });
}

/** Takes steps until there is no more to do. Returns how many receipts were dropped, and why it stopped. */
export async function retainAll(ledger: LocalLedger, receiptsDays: number) {
  for (let receipts = 0; ; ) {
    const step = await ledger.retain({ receiptsDays });
    receipts += step.receipts;
    if (!step.isMore) return { receipts, stopped: step.stopped };
  }
}

const DAMAGED = ["transfers", "holds", "dropped_receipts", "dropped_counters", "limit_counters"];

/** Runs SQL that damages tables, reads the findings of the audit, and restores the tables. */
export async function findingsOf({ run, findings }: RetainedLedger, damage: string) {
  for (const table of DAMAGED) await run(`CREATE TABLE saved_${table} AS SELECT * FROM ${table}`);
  await run(damage);
  const found = await findings();
  for (const table of DAMAGED) {
    await run(`DELETE FROM ${table}`);
    await run(`INSERT INTO ${table} SELECT * FROM saved_${table}`);
    await run(`DROP TABLE saved_${table}`);
  }
  return found;
}
