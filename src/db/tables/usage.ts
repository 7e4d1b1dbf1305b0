// Roll-ups: sums of receipts and of the journal, written by a background job. Exports of usage.
import type { Columns } from "../sqlite/columns.ts";
import { COST_COLUMNS, DROPPED_SUM_COLUMNS, JOURNAL_SUM_COLUMNS, MEASURE_COLUMNS } from "../usage-columns.ts";

/** The columns that {@link MEASURE_COLUMNS} names. */
const measures = (t: Columns) => Object.fromEntries(MEASURE_COLUMNS.map((name) => [name, t.whole(name)]));

/** The start of the UTC hour or day of the time in the hold ids. */
const startMs = (t: Columns) => t.whole("start_ms").notNull();

const answer = (t: Columns) => ({
  model: t.text("model").notNull(),
  /** `UNKNOWN` of ../usage-columns.ts for none, as in `outcome`. */
  upstream: t.text("upstream").notNull(),
  outcome: t.text("outcome").notNull(),
});

const ofWallets = (t: Columns, name: string) =>
  t.createTable(
    name,
    {
      walletId: t.text("wallet_id").notNull(),
      startMs: startMs(t),
      keyId: t.text("key_id").notNull(),
      ...answer(t),
      ...measures(t),
    },
    ({ walletId, startMs, keyId, model, upstream, outcome }) => [
      t.isSqlite
        ? t.primaryKey({ columns: [walletId, startMs, keyId, model, upstream, outcome] })
        : t.index(`${name}_wallet`).on(walletId, startMs),
    ],
  );

const ofTotals = (t: Columns, name: string) =>
  t.createTable(
    name,
    { startMs: startMs(t), ...answer(t), ...measures(t) },
    ({ startMs, model, upstream, outcome }) => [
      t.isSqlite
        ? t.primaryKey({ columns: [startMs, model, upstream, outcome] })
        : t.index(`${name}_start`).on(startMs),
    ],
  );

/** Receipts summed by wallet, hour, key, model, upstream and outcome. */
export const usageHours = (t: Columns) => ofWallets(t, "usage_hours");

/** Usage by UTC day: always the sums of the hours. */
export const usageDays = (t: Columns) => ofWallets(t, "usage_days");

/** Usage of all wallets and keys by hour: always the sums of {@link usageHours}. */
export const usageTotalHours = (t: Columns) => ofTotals(t, "usage_total_hours");

/** Usage of all wallets and keys by UTC day: always the sums of {@link usageTotalHours}. */
export const usageTotalDays = (t: Columns) => ofTotals(t, "usage_total_days");

/**
 * Receipts summed by wallet, UTC day and scope; those without scopes have no rows. A day has at most `OWN_ROWS_MAX`
 * ids of a kind, and `OTHER` for the rest.
 */
export const usageScopeDays = (t: Columns) =>
  t.createTable(
    "usage_scope_days",
    {
      walletId: t.text("wallet_id").notNull(),
      startMs: startMs(t),
      kind: t.text("kind").notNull(),
      scopeId: t.text("scope_id").notNull(),
      /** Receipts that ended well, which other roll-ups have under their outcome. */
      ok: t.whole("ok"),
      ...measures(t),
    },
    ({ walletId, startMs, kind, scopeId }) => [t.primaryKey({ columns: [walletId, startMs, kind, scopeId] })],
  );

/**
 * Hours of wallets whose roll-ups must not be read: a receipt has changed since, or is still open. `changes`
 * grows with each change, so that the job notices changes during a recomputation.
 */
export const usageStale = (t: Columns) =>
  t.createTable(
    "usage_stale",
    {
      walletId: t.text("wallet_id").notNull(),
      startMs: t.whole("start_ms").notNull(),
      changes: t.whole("changes").notNull(),
    },
    (table) => [t.primaryKey({ columns: [table.walletId, table.startMs] })],
  );

/**
 * One row: which hours and days are summed up, from `from` to before `to`. `version` grows with each write
 * of the job. Totals reach from `totalsFromMs` to `hoursToMs`, while `totalsVersion` equals `version`: a
 * program that knows no totals increases the latter alone. Scope days have a version of their own likewise.
 */
export const usageCursor = (t: Columns) =>
  t.createTable("usage_cursor", {
    id: t.whole("id").primaryKey(),
    version: t.whole("version").notNull(),
    hoursFromMs: t.whole("hours_from_ms").notNull(),
    hoursToMs: t.whole("hours_to_ms").notNull(),
    daysFromMs: t.whole("days_from_ms").notNull(),
    daysToMs: t.whole("days_to_ms").notNull(),
    totalsFromMs: t.whole("totals_from_ms").notNull().default(0),
    totalsVersion: t.whole("totals_version").notNull().default(0),
    scopesFromMs: t.whole("scopes_from_ms").notNull().default(0),
    scopesToMs: t.whole("scopes_to_ms").notNull().default(0),
    scopesVersion: t.whole("scopes_version").notNull().default(0),
  });

/**
 * One row: a transaction that changes a receipt of an hour before `fenceMs` writes the hour to `usage_stale`.
 * A table of its own, because raising the fence in PostgreSQL locks it against the ledger's transactions.
 */
export const usageFence = (t: Columns) =>
  t.createTable("usage_fence", {
    id: t.whole("id").primaryKey(),
    fenceMs: t.whole("fence_ms").notNull(),
    /** 1 while there are exports: transactions then add rows to `export_ends`. */
    recordsEnds: t.whole("records_ends").notNull().default(0),
  });

/**
 * The sums of a wallet's first transfers, as high and low parts. `position` is the number of its row of the last
 * of them. Transfers never change, so that these sums never do.
 */
export const journalSums = (t: Columns) =>
  t.createTable("journal_sums", {
    walletId: t.text("wallet_id").primaryKey(),
    position: t.whole("position").notNull(),
    ...Object.fromEntries(JOURNAL_SUM_COLUMNS.map((name) => [name, t.whole(name).notNull()])),
  });

/**
 * One row: how far receipts were dropped. Those before `receiptsFromMs` may be gone, those before `clearedToMs`
 * are. `seenAtMs` and `pausedUntilMs` notice a clock that jumps.
 */
export const retention = (t: Columns) =>
  t.createTable("retention", {
    id: t.whole("id").primaryKey(),
    receiptsFromMs: t.whole("receipts_from_ms").notNull(),
    clearedToMs: t.whole("cleared_to_ms").notNull(),
    seenAtMs: t.whole("seen_at_ms").notNull(),
    pausedUntilMs: t.whole("paused_until_ms").notNull(),
  });

/**
 * The sums of a wallet's dropped receipts, as high and low parts. `above` is what I8 of the audit explains an
 * overdraft with.
 */
export const droppedReceipts = (t: Columns) =>
  t.createTable("dropped_receipts", {
    walletId: t.text("wallet_id").primaryKey(),
    ...Object.fromEntries(DROPPED_SUM_COLUMNS.map((name) => [name, t.whole(name).notNull()])),
    ...Object.fromEntries(COST_COLUMNS.map((name) => [name, t.whole(name).notNull().default(0)])),
  });

/** What dropped receipts had used of a limit in one period, so that the audit can still add its counter up. */
export const droppedCounters = (t: Columns) =>
  t.createTable(
    "dropped_counters",
    {
      walletId: t.text("wallet_id").notNull(),
      limitId: t.text("limit_id").notNull(),
      periodStartMs: t.whole("period_start_ms").notNull(),
      used: t.nanos("used").notNull(),
    },
    (table) => [t.primaryKey({ columns: [table.walletId, table.limitId, table.periodStartMs] })],
  );

/** One row per export. `version` grows with each move of its cursor. */
export const usageExports = (t: Columns) =>
  t.createTable("exports", {
    name: t.text("name").primaryKey(),
    version: t.whole("version").notNull(),
    createdAtMs: t.whole("created_at_ms").notNull(),
    /** The number of the last row of `export_ends` that was exported. */
    endsPosition: t.whole("ends_position").notNull(),
    /** Hold id and wallet id of the last older receipt that was searched; null when none is left. */
    searchedTo: t.text("searched_to"),
  });

/**
 * The last transfer of a wallet that was exported, or in SQLite of all wallets under the id "": rows are
 * numbered in the order of their commits there. No row is the start of the journal.
 */
export const exportPositions = (t: Columns) =>
  t.createTable(
    "export_positions",
    {
      export: t.text("export").notNull(),
      walletId: t.text("wallet_id").notNull(),
      position: t.whole("position").notNull(),
    },
    (table) => [t.primaryKey({ columns: [table.export, table.walletId] })],
  );

/**
 * Receipts that ended without a transfer, while there are exports. A batch adds rows without a position; the
 * next export numbers them, so that a late commit gets a later number.
 */
export const exportEnds = (t: Columns) =>
  t.createTable(
    "export_ends",
    {
      walletId: t.text("wallet_id").notNull(),
      holdId: t.uuid("hold_id").notNull(),
      position: t.whole("position"),
    },
    (table) => [t.index("export_ends_position").on(table.position)],
  );

/** One row: the last number given to a row of {@link exportEnds}. */
export const exportNumbers = (t: Columns) =>
  t.createTable("export_numbers", {
    id: t.whole("id").primaryKey(),
    last: t.whole("last").notNull(),
  });
