// Roll-ups of usage: sums of receipts, recomputed by a background job.
import { index, pgTable, primaryKey } from "drizzle-orm/pg-core";
import { MEASURE_COLUMNS } from "../usage-columns.ts";
import { bytewise, whole } from "./columns.ts";

/** The columns that {@link MEASURE_COLUMNS} names. */
const measures = () => Object.fromEntries(MEASURE_COLUMNS.map((name) => [name, whole(name)]));

const group = () => ({
  walletId: bytewise("wallet_id").notNull(),
  /** The start of the UTC hour or day of the time in the hold ids. */
  startMs: whole("start_ms").notNull(),
  keyId: bytewise("key_id").notNull(),
  model: bytewise("model").notNull(),
  /** `UNKNOWN` of ../usage-columns.ts for none, as in `outcome`. */
  upstream: bytewise("upstream").notNull(),
  outcome: bytewise("outcome").notNull(),
});

/** Receipts summed by wallet, hour, key, model, upstream and outcome. */
export const usageHours = pgTable("usage_hours", { ...group(), ...measures() }, (table) => [
  index("usage_hours_wallet").on(table.walletId, table.startMs),
]);

/** Usage by UTC day: always the sums of the hours. */
export const usageDays = pgTable("usage_days", { ...group(), ...measures() }, (table) => [
  index("usage_days_wallet").on(table.walletId, table.startMs),
]);

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
 * of the job.
 */
export const usageCursor = pgTable("usage_cursor", {
  id: whole("id").primaryKey(),
  version: whole("version").notNull(),
  hoursFromMs: whole("hours_from_ms").notNull(),
  hoursToMs: whole("hours_to_ms").notNull(),
  daysFromMs: whole("days_from_ms").notNull(),
  daysToMs: whole("days_to_ms").notNull(),
});

/**
 * One row: a transaction that changes a receipt of an hour before `fenceMs` writes the hour to `usage_stale`.
 * A table of its own, because raising the fence in PostgreSQL locks it against the ledger's transactions.
 */
export const usageFence = pgTable("usage_fence", {
  id: whole("id").primaryKey(),
  fenceMs: whole("fence_ms").notNull(),
});
