import type { SQL } from "bun";
import { buildIndex, laterIndexes, missingIndexes, partMigration } from "./indexes.ts";
import { LOCK_TIMEOUT_MS, withRetries } from "./lock-waits.ts";
import books from "./migrations/0000_books.sql" with { type: "text" };
import storage from "./migrations/0001_storage.sql" with { type: "text" };
import gateways from "./migrations/0002_gateways.sql" with { type: "text" };
import consoleTables from "./migrations/0003_console.sql" with { type: "text" };
import usage from "./migrations/0004_usage.sql" with { type: "text" };
import transfers from "./migrations/0005_transfers.sql" with { type: "text" };
import noticePauses from "./migrations/0006_notice_pauses.sql" with { type: "text" };
import totals from "./migrations/0007_totals.sql" with { type: "text" };
import retention from "./migrations/0008_retention.sql" with { type: "text" };
import usageExports from "./migrations/0009_exports.sql" with { type: "text" };
import instance from "./migrations/0010_instance.sql" with { type: "text" };
import upstreamCost from "./migrations/0011_upstream_cost.sql" with { type: "text" };
import units from "./migrations/0012_units.sql" with { type: "text" };
import limitVersions from "./migrations/0013_limit_versions.sql" with { type: "text" };
import scopes from "./migrations/0014_scopes.sql" with { type: "text" };
import projects from "./migrations/0015_projects.sql" with { type: "text" };
import attribution from "./migrations/0016_attribution.sql" with { type: "text" };
import scopeDays from "./migrations/0017_scope_days.sql" with { type: "text" };
import subjectNotices from "./migrations/0018_subject_notices.sql" with { type: "text" };
import removal from "./migrations/0019_removal.sql" with { type: "text" };
import credits from "./migrations/0020_credits.sql" with { type: "text" };
import codeCredits from "./migrations/0021_code-credits.sql" with { type: "text" };
import payments from "./migrations/0022_payments.sql" with { type: "text" };
import plans from "./migrations/0023_plans.sql" with { type: "text" };
import signedPayments from "./migrations/0024_signed_payments.sql" with { type: "text" };
import grantedTransfers from "./migrations/0025_granted_transfers.sql" with { type: "text" };
import planOrders from "./migrations/0026_plan_orders.sql" with { type: "text" };
import tiers from "./migrations/0027_tiers.sql" with { type: "text" };
import receiptItems from "./migrations/0028_receipt_items.sql" with { type: "text" };
import routeHours from "./migrations/0029_route_hours.sql" with { type: "text" };
import recordings from "./migrations/0030_recordings.sql" with { type: "text" };
import keysPaidTools from "./migrations/0031_keys_paid_tools.sql" with { type: "text" };
import signInWays from "./migrations/0032_sign_in_ways.sql" with { type: "text" };
import accountBilling from "./migrations/0033_account_billing.sql" with { type: "text" };
import noticesUnread from "./migrations/0034_notices_unread.sql" with { type: "text" };
import auditTargets from "./migrations/0035_audit_targets.sql" with { type: "text" };

/**
 * Every migration in order. Generated migrations are added by hand; a test compares this list with the
 * folder.
 */
export const MIGRATIONS: readonly string[] = [
  books,
  storage,
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
  limitVersions,
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

/** The id of the advisory lock of transactions that change the schema: an arbitrary number. */
const LOCK_ID = 8_655_424_553n;
/** The id of the lock that one process holds from its first migration to its last index. */
const MIGRATOR_LOCK_ID = LOCK_ID + 1n;
const LOCK_POLL_MS = 100;

/**
 * Migrates the database while older programs use it: each migration in a transaction of its own, its indexes on
 * older tables after it. May be repeated after any interruption. When several replicas start together, one
 * migrates and the others wait. Throws when a newer program migrated the database.
 */
export async function migrate(client: SQL): Promise<void> {
  if (await isMigrated(client)) return;
  const connection = await client.reserve();
  try {
    await lockMigrator(connection);
    const waitedFor: WaitedFor = [];
    while (!(await isMigrated(connection))) await withRetries(() => takeStep(connection, waitedFor));
  } finally {
    await connection.unsafe("SELECT pg_advisory_unlock_all()").catch(() => undefined);
    connection.release();
  }
}

async function isMigrated(client: SQL): Promise<boolean> {
  if ((await appliedCount(client)) < MIGRATIONS.length) return false;
  return (await missingIndexes(client, laterIndexes(MIGRATIONS))).length === 0;
}

/** Polls, because a build of an index waits for every statement that waits, and would deadlock with a wait. */
async function lockMigrator(connection: SQL): Promise<void> {
  for (;;) {
    const [row] = await connection.unsafe("SELECT pg_try_advisory_lock($1) AS is_locked", [MIGRATOR_LOCK_ID]);
    if (row.is_locked) return;
    await Bun.sleep(LOCK_POLL_MS);
  }
}

/** Builds the first missing index of the applied migrations, or applies the next migration. */
async function takeStep(connection: SQL, waitedFor: WaitedFor): Promise<void> {
  const applied = await appliedCount(connection);
  const [missing] = await missingIndexes(connection, laterIndexes(MIGRATIONS.slice(0, applied)));
  if (missing) return buildIndex(connection, missing);
  await underSchemaLock(connection, async (locked) => {
    await locked.unsafe("CREATE TABLE IF NOT EXISTS schema_version (version integer NOT NULL)");
    // Read again: an older program may have migrated before it released the lock.
    const from = await appliedCount(locked);
    const to = from === 0 ? MIGRATIONS.length : Math.min(from + 1, MIGRATIONS.length);
    await locked.unsafe(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
    // No gateway uses an empty database: one transaction is faster, and its indexes cost nothing.
    const apply = from === 0 ? applyWhole : applyBesideRequests;
    for (const migration of MIGRATIONS.slice(from, to)) await apply(locked, migration, waitedFor);
    await locked.unsafe("DELETE FROM schema_version");
    await locked.unsafe("INSERT INTO schema_version VALUES ($1)", [to]);
  });
}

async function applyWhole(locked: SQL, migration: string): Promise<void> {
  await locked.unsafe(migration).simple();
}

/** The tables that tries of a migration waited for in vain, the last one first. */
type WaitedFor = string[];

/**
 * Locks all tables first, beginning with the one that the try before waited for in vain. In one fixed order,
 * transactions that lock the tables in the opposite order would meet the same deadlock every time. A request may wait
 * for the first table during all waits of a try, so these have one timeout together.
 */
async function applyBesideRequests(locked: SQL, migration: string, waitedFor: WaitedFor): Promise<void> {
  const { altered, transaction } = partMigration(migration);
  const rank = (table: string) => (waitedFor.includes(table) ? waitedFor.indexOf(table) : waitedFor.length);
  const endsAtMs = performance.now() + LOCK_TIMEOUT_MS;
  for (const table of altered.toSorted((one, other) => rank(one) - rank(other))) {
    // PostgreSQL takes 0 for no timeout.
    const leftMs = Math.max(1, Math.ceil(endsAtMs - performance.now()));
    const lock = `SET LOCAL lock_timeout = ${leftMs}; LOCK TABLE "${table}" IN ACCESS EXCLUSIVE MODE`;
    try {
      await locked.unsafe(lock).simple();
    } catch (error) {
      waitedFor.unshift(table);
      throw error;
    }
  }
  await locked.unsafe(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}; ${transaction}`).simple();
}

/** Runs schema changes in a transaction, one replica at a time. */
export function underSchemaLock(client: SQL, change: (locked: SQL) => Promise<void>): Promise<void> {
  return client.begin(async (locked) => {
    await locked.unsafe("SELECT pg_advisory_xact_lock($1)", [LOCK_ID]);
    await change(locked);
  });
}

async function appliedCount(client: SQL): Promise<number> {
  const applied = await readSchemaVersion(client);
  if (applied > MIGRATIONS.length) {
    throw new Error(
      `Cannot open the database: it is at version ${applied}, this program knows ${MIGRATIONS.length}. Use a newer tollgate.`,
    );
  }
  return applied;
}

/** Returns the number of applied migrations; 0 for an empty database. */
export async function readSchemaVersion(client: SQL): Promise<number> {
  const [found] = await client.unsafe("SELECT to_regclass('schema_version') IS NOT NULL AS has_version");
  if (!found.has_version) return 0;
  const [row] = await client.unsafe("SELECT version FROM schema_version");
  return Number(row?.version ?? 0);
}
