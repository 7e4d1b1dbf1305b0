// Roll-ups: sums of receipts and of the journal, written by a background job.
import { index, pgTable, primaryKey } from "drizzle-orm/pg-core";
import { COST_COLUMNS, DROPPED_SUM_COLUMNS, JOURNAL_SUM_COLUMNS, MEASURE_COLUMNS } from "../usage-columns.ts";
import { bytewise, nanos, whole } from "./columns.ts";

/** The columns that {@link MEASURE_COLUMNS} names. */
const measures = () => Object.fromEntries(MEASURE_COLUMNS.map((name) => [name, whole(name)]));

/** The start of the UTC hour or day of the time in the hold ids. */
const startMs = () => whole("start_ms").notNull();

const answer = () => ({
  model: bytewise("model").notNull(),
  /** `UNKNOWN` of ../usage-columns.ts for none, as in `outcome`. */
  upstream: bytewise("upstream").notNull(),
  outcome: bytewise("outcome").notNull(),
});

const group = () => ({
  walletId: bytewise("wallet_id").notNull(),
  startMs: startMs(),
  keyId: bytewise("key_id").notNull(),
  ...answer(),
});

/** Receipts summed by wallet, hour, key, model, upstream and outcome. */
export const usageHours = pgTable("usage_hours", { ...group(), ...measures() }, (table) => [
  index("usage_hours_wallet").on(table.walletId, table.startMs),
]);

/** Usage by UTC day: always the sums of the hours. */
export const usageDays = pgTable("usage_days", { ...group(), ...measures() }, (table) => [
  index("usage_days_wallet").on(table.walletId, table.startMs),
]);

/** Usage of all wallets and keys by hour: always the sums of {@link usageHours}. */
export const usageTotalHours = pgTable(
  "usage_total_hours",
  { startMs: startMs(), ...answer(), ...measures() },
  (table) => [index("usage_total_hours_start").on(table.startMs)],
);

/** Usage of all wallets and keys by UTC day: always the sums of {@link usageTotalHours}. */
export const usageTotalDays = pgTable(
  "usage_total_days",
  { startMs: startMs(), ...answer(), ...measures() },
  (table) => [index("usage_total_days_start").on(table.startMs)],
);

/**
 * Hours of wallets whose roll-ups must not be read: a receipt has changed since, or is still open. `changes`
 * grows with each change, so that the job notices changes during a recomputation.
 */
export const usageStale = pgTable(
  "usage_stale",
  {
    walletId: bytewise("wallet_id").notNull(),
    startMs: whole("start_ms").notNull(),
    changes: whole("changes").notNull(),
  },
  (table) => [primaryKey({ columns: [table.walletId, table.startMs] })],
);

/**
 * One row: which hours and days are summed up, from `from` to before `to`. `version` grows with each write
 * of the job. Totals reach from `totalsFromMs` to `hoursToMs`, while `totalsVersion` equals `version`: a
 * program that knows no totals increases the latter alone.
 */
export const usageCursor = pgTable("usage_cursor", {
  id: whole("id").primaryKey(),
  version: whole("version").notNull(),
  hoursFromMs: whole("hours_from_ms").notNull(),
  hoursToMs: whole("hours_to_ms").notNull(),
  daysFromMs: whole("days_from_ms").notNull(),
  daysToMs: whole("days_to_ms").notNull(),
  totalsFromMs: whole("totals_from_ms").notNull().default(0),
  totalsVersion: whole("totals_version").notNull().default(0),
});

/**
 * One row: a transaction that changes a receipt of an hour before `fenceMs` writes the hour to `usage_stale`.
 * A table of its own, because raising the fence in PostgreSQL locks it against the ledger's transactions.
 */
export const usageFence = pgTable("usage_fence", {
  id: whole("id").primaryKey(),
  fenceMs: whole("fence_ms").notNull(),
  /** 1 while there are exports: transactions then add rows to `export_ends`. */
  recordsEnds: whole("records_ends").notNull().default(0),
});

/**
 * The sums of a wallet's first transfers, as high and low parts. `position` is its number of the last
 * of them. Transfers never change, so that these sums never do.
 */
export const journalSums = pgTable("journal_sums", {
  walletId: bytewise("wallet_id").primaryKey(),
  position: whole("position").notNull(),
  ...Object.fromEntries(JOURNAL_SUM_COLUMNS.map((name) => [name, whole(name).notNull()])),
});

/**
 * One row: how far receipts were dropped. Those before `receiptsFromMs` may be gone, those before `clearedToMs`
 * are. `seenAtMs` and `pausedUntilMs` notice a clock that jumps.
 */
export const retention = pgTable("retention", {
  id: whole("id").primaryKey(),
  receiptsFromMs: whole("receipts_from_ms").notNull(),
  clearedToMs: whole("cleared_to_ms").notNull(),
  seenAtMs: whole("seen_at_ms").notNull(),
  pausedUntilMs: whole("paused_until_ms").notNull(),
});

/**
 * The sums of a wallet's dropped receipts, as high and low parts. `above` is what I8 of the audit explains an
 * overdraft with.
 */
export const droppedReceipts = pgTable("dropped_receipts", {
  walletId: bytewise("wallet_id").primaryKey(),
  ...Object.fromEntries(DROPPED_SUM_COLUMNS.map((name) => [name, whole(name).notNull()])),
  ...Object.fromEntries(COST_COLUMNS.map((name) => [name, whole(name).notNull().default(0)])),
});

/** What dropped receipts had used of a limit in one period, so that the audit can still add its counter up. */
export const droppedCounters = pgTable(
  "dropped_counters",
  {
    walletId: bytewise("wallet_id").notNull(),
    limitId: bytewise("limit_id").notNull(),
    periodStartMs: whole("period_start_ms").notNull(),
    used: nanos("used").notNull(),
  },
  (table) => [primaryKey({ columns: [table.walletId, table.limitId, table.periodStartMs] })],
);
