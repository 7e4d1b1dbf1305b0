// Roll-ups of usage: sums of receipts, recomputed by a background job.
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { MEASURE_COLUMNS } from "../usage-columns.ts";

/** The columns that {@link MEASURE_COLUMNS} names. */
const measures = () => Object.fromEntries(MEASURE_COLUMNS.map((name) => [name, integer(name)]));

const group = () => ({
  walletId: text("wallet_id").notNull(),
  /** The start of the UTC hour or day of the time in the hold ids. */
  startMs: integer("start_ms").notNull(),
  keyId: text("key_id").notNull(),
  model: text("model").notNull(),
  /** `UNKNOWN` of ../usage-columns.ts for none, as in `outcome`. */
  upstream: text("upstream").notNull(),
  outcome: text("outcome").notNull(),
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
 * of the job.
 */
export const usageCursor = sqliteTable("usage_cursor", {
  id: integer("id").primaryKey(),
  version: integer("version").notNull(),
  hoursFromMs: integer("hours_from_ms").notNull(),
  hoursToMs: integer("hours_to_ms").notNull(),
  daysFromMs: integer("days_from_ms").notNull(),
  daysToMs: integer("days_to_ms").notNull(),
});

/**
 * One row: a transaction that changes a receipt of an hour before `fenceMs` writes the hour to `usage_stale`.
 * A table of its own, because raising the fence in PostgreSQL locks it against the ledger's transactions.
 */
export const usageFence = sqliteTable("usage_fence", {
  id: integer("id").primaryKey(),
  fenceMs: integer("fence_ms").notNull(),
});
