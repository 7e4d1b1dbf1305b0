import { Database, SQLiteError } from "bun:sqlite";
import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import { platform } from "../../platform.ts";
import books from "./migrations/0000_books.sql" with { type: "text" };
import appendOnly from "./migrations/0001_append-only.sql" with { type: "text" };
import chargesAndZones from "./migrations/0002_charges-and-zones.sql" with { type: "text" };
import inOrderOfTime from "./migrations/0003_in-order-of-time.sql" with { type: "text" };
import gateways from "./migrations/0004_gateways.sql" with { type: "text" };
import consoleTables from "./migrations/0005_console.sql" with { type: "text" };
import usage from "./migrations/0006_usage.sql" with { type: "text" };
import transfers from "./migrations/0007_transfers.sql" with { type: "text" };
import noticePauses from "./migrations/0008_notice_pauses.sql" with { type: "text" };
import totals from "./migrations/0009_totals.sql" with { type: "text" };
import retention from "./migrations/0010_retention.sql" with { type: "text" };
import usageExports from "./migrations/0011_exports.sql" with { type: "text" };
import instance from "./migrations/0012_instance.sql" with { type: "text" };
import upstreamCost from "./migrations/0013_upstream_cost.sql" with { type: "text" };
import units from "./migrations/0014_units.sql" with { type: "text" };
import scopes from "./migrations/0015_scopes.sql" with { type: "text" };
import projects from "./migrations/0016_projects.sql" with { type: "text" };
import attribution from "./migrations/0017_attribution.sql" with { type: "text" };
import scopeDays from "./migrations/0018_scope_days.sql" with { type: "text" };
import subjectNotices from "./migrations/0019_subject_notices.sql" with { type: "text" };
import removal from "./migrations/0020_removal.sql" with { type: "text" };
import credits from "./migrations/0021_credits.sql" with { type: "text" };
import codeCredits from "./migrations/0022_code-credits.sql" with { type: "text" };
import payments from "./migrations/0023_payments.sql" with { type: "text" };
import plans from "./migrations/0024_plans.sql" with { type: "text" };
import signedPayments from "./migrations/0025_signed_payments.sql" with { type: "text" };
import grantedTransfers from "./migrations/0026_granted_transfers.sql" with { type: "text" };
import planOrders from "./migrations/0027_plan_orders.sql" with { type: "text" };
import tiers from "./migrations/0028_tiers.sql" with { type: "text" };
import receiptItems from "./migrations/0029_receipt_items.sql" with { type: "text" };
import routeHours from "./migrations/0030_route_hours.sql" with { type: "text" };
import recordings from "./migrations/0031_recordings.sql" with { type: "text" };
import keysPaidTools from "./migrations/0032_keys_paid_tools.sql" with { type: "text" };
import signInWays from "./migrations/0033_sign_in_ways.sql" with { type: "text" };
import accountBilling from "./migrations/0034_account_billing.sql" with { type: "text" };
import noticesUnread from "./migrations/0035_notices_unread.sql" with { type: "text" };
import auditTargets from "./migrations/0036_audit_targets.sql" with { type: "text" };

/** Milliseconds that a write outside the ledger waits for a lock. The ledger's connection never waits. */
const BUSY_MS = 2_000;

/** A SQLite database with the current schema. `client` and `db` share one connection. */
export interface SqliteDatabase {
  readonly path: string;
  readonly client: Database;
  readonly db: BunSQLiteDatabase;
  close(): void;
}

/**
 * Opens or creates a database and migrates it; safe in several processes at once. Creates files with mode
 * 0600. Throws when the file cannot be used, or a newer program migrated it.
 */
export function openDatabase(path: string): SqliteDatabase {
  createPrivately(path);
  const client = connect(path, BUSY_MS);
  try {
    switchToWal(client);
    migrate(client);
  } catch (error) {
    client.close();
    throw error;
  }
  return { path, client, db: drizzle(client), close: () => client.close() };
}

/** Opens a connection to an existing database. With `busyMs` 0 a locked database throws at once. */
export function connect(path: string, busyMs: number): Database {
  const client = new Database(path, { readwrite: true, strict: true });
  client.run(`PRAGMA busy_timeout = ${busyMs}`);
  client.run("PRAGMA synchronous = FULL");
  client.run("PRAGMA foreign_keys = OFF");
  return client;
}

/**
 * Switches to WAL. When two processes open a new file at once, SQLite reports a deadlock as SQLITE_BUSY
 * without waiting, so this retries.
 */
function switchToWal(client: Database): void {
  const deadline = platform.monotonicMs() + BUSY_MS;
  for (;;) {
    try {
      client.run("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      const isBusy = error instanceof SQLiteError && error.code?.startsWith("SQLITE_BUSY");
      if (!isBusy || platform.monotonicMs() > deadline) throw error;
      Bun.sleepSync(1 + platform.random() * 10);
    }
  }
}

/**
 * Whether another process of this machine has the database open. Every connection holds a lock for as long as
 * it is open. Must not be called while this process has the file open. Returns false for a file that is missing
 * or cannot be opened.
 *
 * @see https://www.sqlite.org/pragma.html#pragma_locking_mode
 */
export function isOpenElsewhere(path: string): boolean {
  if (!existsSync(path)) return false;
  let client: Database | undefined;
  try {
    client = new Database(path, { readwrite: true });
    client.run("PRAGMA busy_timeout = 0");
    client.run("PRAGMA locking_mode = EXCLUSIVE");
    client.query("SELECT count(*) FROM sqlite_schema").get();
    return false;
  } catch (error) {
    return error instanceof SQLiteError && (error.code ?? "").startsWith("SQLITE_BUSY");
  } finally {
    client?.close();
  }
}

function createPrivately(path: string): void {
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, "a", 0o600));
}

/**
 * Every migration in order. Generated migrations are added by hand; a test compares this list with the
 * folder.
 */
export const MIGRATIONS: readonly string[] = [
  books,
  appendOnly,
  chargesAndZones,
  inOrderOfTime,
  gateways,
  consoleTables,
  usage,
  transfers,
  noticePauses,
  totals,
  retention,
  usageExports,
  instance,
  upstreamCost,
  units,
  scopes,
  projects,
  attribution,
  scopeDays,
  subjectNotices,
  removal,
  credits,
  codeCredits,
  payments,
  plans,
  signedPayments,
  grantedTransfers,
  planOrders,
  tiers,
  receiptItems,
  routeHours,
  recordings,
  keysPaidTools,
  signInWays,
  accountBilling,
  noticesUnread,
  auditTargets,
];

/**
 * Migrates the database, once even when several processes start together. Throws when a newer program
 * migrated it. Reads `user_version` under the lock. Drizzle's own migrator reads the applied migrations
 * before it takes the lock, so that two processes would both apply them.
 */
function migrate(client: Database): void {
  if (appliedCount(client) === MIGRATIONS.length) return;
  client
    .transaction(() => {
      for (const migration of MIGRATIONS.slice(appliedCount(client))) client.run(migration);
      client.run(`PRAGMA user_version = ${MIGRATIONS.length}`);
    })
    .immediate();
}

function appliedCount(client: Database): number {
  const applied = Number(client.query("PRAGMA user_version").values()[0]?.[0]);
  if (applied > MIGRATIONS.length) {
    throw new Error(
      `Cannot open the database: it is at version ${applied}, this program knows ${MIGRATIONS.length}. Use a newer tollgate.`,
    );
  }
  return applied;
}
