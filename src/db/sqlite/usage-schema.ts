// Roll-ups: sums of receipts and of the journal, written by a background job.
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { COST_COLUMNS, DROPPED_SUM_COLUMNS, JOURNAL_SUM_COLUMNS, MEASURE_COLUMNS } from "../usage-columns.ts";
import { nanos } from "./columns.ts";

/** The columns that {@link MEASURE_COLUMNS} names. */
const measures = () => Object.fromEntries(MEASURE_COLUMNS.map((name) => [name, integer(name)]));

/** The start of the UTC hour or day of the time in the hold ids. */
const startMs = () => integer("start_ms").notNull();

const answer = () => ({
  model: text("model").notNull(),
  /** `UNKNOWN` of ../usage-columns.ts for none, as in `outcome`. */
  upstream: text("upstream").notNull(),
  outcome: text("outcome").notNull(),
});

const group = () => ({
  walletId: text("wallet_id").notNull(),
  startMs: startMs(),
  keyId: text("key_id").notNull(),
  ...answer(),
});

/** Receipts summed by wallet, hour, key, model, upstream and outcome. */
export const usageHours = sqliteTable("usage_hours", { ...group(), ...measures() }, (table) => [
  primaryKey({
    columns: [table.walletId, table.startMs, table.keyId, table.model, table.upstream, table.outcome],
  }),
]);

/** Usage by UTC day: always the sums of the hours. */
export const usageDays = sqliteTable("usage_days", { ...group(), ...measures() }, (table) => [
  primaryKey({
    columns: [table.walletId, table.startMs, table.keyId, table.model, table.upstream, table.outcome],
  }),
]);

/** Usage of all wallets and keys by hour: always the sums of {@link usageHours}. */
export const usageTotalHours = sqliteTable(
  "usage_total_hours",
  { startMs: startMs(), ...answer(), ...measures() },
  (table) => [primaryKey({ columns: [table.startMs, table.model, table.upstream, table.outcome] })],
);

/** Usage of all wallets and keys by UTC day: always the sums of {@link usageTotalHours}. */
export const usageTotalDays = sqliteTable(
  "usage_total_days",
  { startMs: startMs(), ...answer(), ...measures() },
  (table) => [primaryKey({ columns: [table.startMs, table.model, table.upstream, table.outcome] })],
);

/**
 * Hours of wallets whose roll-ups must not be read: a receipt has changed since, or is still open. `changes`
 * grows with each change, so that the job notices changes during a recomputation.
 */
export const usageStale = sqliteTable(
  "usage_stale",
  {
    walletId: text("wallet_id").notNull(),
    startMs: integer("start_ms").notNull(),
    changes: integer("changes").notNull(),
  },
  (table) => [primaryKey({ columns: [table.walletId, table.startMs] })],
);

/**
 * One row: which hours and days are summed up, from `from` to before `to`. `version` grows with each write
 * of the job. Totals reach from `totalsFromMs` to `hoursToMs`, while `totalsVersion` equals `version`: a
 * program that knows no totals increases the latter alone.
 */
export const usageCursor = sqliteTable("usage_cursor", {
  id: integer("id").primaryKey(),
  version: integer("version").notNull(),
  hoursFromMs: integer("hours_from_ms").notNull(),
  hoursToMs: integer("hours_to_ms").notNull(),
  daysFromMs: integer("days_from_ms").notNull(),
  daysToMs: integer("days_to_ms").notNull(),
  totalsFromMs: integer("totals_from_ms").notNull().default(0),
  totalsVersion: integer("totals_version").notNull().default(0),
});

/**
 * One row: a transaction that changes a receipt of an hour before `fenceMs` writes the hour to `usage_stale`.
 * A table of its own, because raising the fence in PostgreSQL locks it against the ledger's transactions.
 */
export const usageFence = sqliteTable("usage_fence", {
  id: integer("id").primaryKey(),
  fenceMs: integer("fence_ms").notNull(),
  /** 1 while there are exports: transactions then add rows to `export_ends`. */
  recordsEnds: integer("records_ends").notNull().default(0),
});

/**
 * The sums of a wallet's first transfers, as high and low parts. `position` is the number of its row of the last
 * of them. Transfers never change, so that these sums never do.
 */
export const journalSums = sqliteTable("journal_sums", {
  walletId: text("wallet_id").primaryKey(),
  position: integer("position").notNull(),
  ...Object.fromEntries(JOURNAL_SUM_COLUMNS.map((name) => [name, integer(name).notNull()])),
});

/**
 * One row: how far receipts were dropped. Those before `receiptsFromMs` may be gone, those before `clearedToMs`
 * are. `seenAtMs` and `pausedUntilMs` notice a clock that jumps.
 */
export const retention = sqliteTable("retention", {
  id: integer("id").primaryKey(),
  receiptsFromMs: integer("receipts_from_ms").notNull(),
  clearedToMs: integer("cleared_to_ms").notNull(),
  seenAtMs: integer("seen_at_ms").notNull(),
  pausedUntilMs: integer("paused_until_ms").notNull(),
});

/**
 * The sums of a wallet's dropped receipts, as high and low parts. `above` is what I8 of the audit explains an
 * overdraft with.
 */
export const droppedReceipts = sqliteTable("dropped_receipts", {
  walletId: text("wallet_id").primaryKey(),
  ...Object.fromEntries(DROPPED_SUM_COLUMNS.map((name) => [name, integer(name).notNull()])),
  ...Object.fromEntries(COST_COLUMNS.map((name) => [name, integer(name).notNull().default(0)])),
});

/** What dropped receipts had used of a limit in one period, so that the audit can still add its counter up. */
export const droppedCounters = sqliteTable(
  "dropped_counters",
  {
    walletId: text("wallet_id").notNull(),
    limitId: text("limit_id").notNull(),
    periodStartMs: integer("period_start_ms").notNull(),
    used: nanos("used").notNull(),
  },
  (table) => [primaryKey({ columns: [table.walletId, table.limitId, table.periodStartMs] })],
);
