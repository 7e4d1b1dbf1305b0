// Wallets, the journal, holds and spending limits. The ledger's stores query them in SQL. Partitions, triggers and
// storage, which Drizzle cannot express, are in migrations written by hand.
import { sql } from "drizzle-orm";
import type { CreditSource } from "../../domain/credit.ts";
import type { Columns } from "../sqlite/columns.ts";

/** Cached balances: `posted` is the sum of the journal, `held` the sum of the open holds. Locked first. */
export const wallets = (t: Columns) =>
  t.createTable(
    "wallets",
    {
      walletId: t.text("wallet_id").primaryKey(),
      posted: t.nanos("posted").notNull(),
      held: t.nanos("held").notNull(),
      creditLimit: t.nanos("credit_limit").notNull(),
      state: t.text("state").$type<"active" | "frozen">().notNull(),
      lastSeq: t.whole("last_seq").notNull(),
      createdAtMs: t.whole("created_at_ms").notNull(),
      /** The number of the newest credit; 0 before the first. */
      newestCredit: t.whole("newest_credit").notNull().default(0),
      /** Whether each transfer has the credits that it was taken from. Otherwise it was taken from the newest one. */
      mixed: t.flag("mixed").notNull().default(false),
      /** No hold was taken at a later time. */
      newestHoldMs: t.whole("newest_hold_ms").notNull().default(0),
    },
    (table) => [t.check("wallets_held", sql`${table.held} >= 0`)],
  );

/**
 * The journal. Each row debits one account of the wallet's book and credits another; rows never change.
 * SQLite has them in the order of time, so that one transaction writes rows of many wallets to adjacent pages.
 */
export const transfers = (t: Columns) =>
  t.createTable(
    "transfers",
    {
      walletId: t.text("wallet_id").notNull(),
      seq: t.whole("seq").notNull(),
      transferId: t.text("transfer_id").notNull(),
      kind: t.small("kind").notNull(),
      debitAccount: t.small("debit_account").notNull(),
      creditAccount: t.small("credit_account").notNull(),
      amount: t.nanos("amount").notNull(),
      postedAfter: t.nanos("posted_after").notNull(),
      holdId: t.uuid("hold_id"),
      createdAtMs: t.whole("created_at_ms").notNull(),
      /** A JSON array of `[credit, amount]`; null for the newest credit of the time, or without credits. */
      credits: t.json("credits"),
    },
    (table) => [
      ...(t.isSqlite
        ? [
            t.uniqueIndex("transfers_once").on(table.transferId, table.kind, table.walletId),
            // Each entry ends with the number of its row, so that it is in the order of the wallet's transfers.
            t.index("transfers_wallet").on(table.walletId),
          ]
        : [
            t.primaryKey({ columns: [table.walletId, table.seq] }),
            t.uniqueIndex("transfers_once").on(table.walletId, table.transferId, table.kind),
          ]),
      // Top-ups and refunds: few, so that settlements cost nothing more.
      t.index("transfers_in").on(table.walletId, table.kind, table.amount).where(sql`kind IN (1, 5)`),
      // What top-ups granted and what credits lost at their ends, by time: sums of all wallets read these alone.
      t.index("transfers_granted").on(table.createdAtMs, table.walletId).where(sql`kind IN (1, 7)`),
      // A charge has an id of its own: a refund finds it by its receipt.
      t.index("transfers_charges").on(table.walletId, table.holdId).where(sql`kind = 6`),
      t.check("transfers_amount", sql`${table.amount} > 0`),
      t.check("transfers_accounts", sql`${table.debitAccount} <> ${table.creditAccount}`),
    ],
  );

/**
 * The money of wallets by source and end. `seq` is the transfer that granted it, or 0 for what the wallet had before
 * credits were kept. `left_amount` is not kept for the newest credit of a wallet that is not mixed.
 */
export const credits = (t: Columns) =>
  t.createTable(
    "credits",
    {
      walletId: t.text("wallet_id").notNull(),
      seq: t.whole("seq").notNull(),
      /** The id of the top-up or refund that granted it. */
      creditId: t.text("credit_id").notNull(),
      source: t.text("source").$type<CreditSource>().notNull(),
      amount: t.nanos("amount").notNull(),
      leftAmount: t.nanos("left_amount").notNull(),
      /** What was taken off at the end, or later when a hold freed it. */
      expired: t.nanos("expired").notNull(),
      expiresAtMs: t.whole("expires_at_ms"),
      createdAtMs: t.whole("created_at_ms").notNull(),
      /** Since the end was booked, the sum of the open holds from before it; null before. */
      claims: t.nanos("claims"),
      /** Those that were taken earlier; null before. */
      endedAtMs: t.whole("ended_at_ms"),
      /** Whether something is left. A column of its own, so that most charges change no index. */
      live: t.flag("live").notNull(),
    },
    (table) => [
      t.primaryKey({ columns: [table.walletId, table.seq] }),
      t.index("credits_live").on(table.walletId).where(sql`live`),
      t.index("credits_due").on(table.expiresAtMs).where(sql`live AND claims IS NULL`),
      t.check("credits_left", sql`${table.leftAmount} >= 0 AND ${table.expired} >= 0`),
    ],
  );

/**
 * Requests from hold to receipt, and charges, which are settled from the start. SQLite has them in the order of
 * the time in their ids, PostgreSQL in partitions by its month. `limits` is a JSON array of
 * `[limitId, periodStartMs]` or null. Prices are pico-USD per token. The columns of the outcome are null while
 * the hold is open.
 */
export const holds = (t: Columns) =>
  t.createTable(
    "holds",
    {
      walletId: t.text("wallet_id").notNull(),
      holdId: t.uuid("hold_id").notNull(),
      keyId: t.text("key_id").notNull(),
      /** A JSON array of `[kind, id]`: what the hold counts for beside its wallet and key; null for nothing else. */
      scopes: t.json("scopes"),
      state: t.text("state").$type<"held" | "settled" | "released" | "expired">().notNull(),
      late: t.flag("late").notNull(),
      requested: t.nanos("requested").notNull(),
      minimum: t.nanos("minimum").notNull(),
      granted: t.nanos("granted").notNull(),
      accrued: t.nanos("accrued").notNull(),
      /** The amount of the settlement; less than `captured` when the expiry had captured more. */
      actual: t.nanos("actual"),
      captured: t.nanos("captured").notNull(),
      refunded: t.nanos("refunded").notNull(),
      ttlMs: t.whole("ttl_ms").notNull(),
      createdAtMs: t.whole("created_at_ms").notNull(),
      expiresAtMs: t.whole("expires_at_ms").notNull(),
      resolvedAtMs: t.whole("resolved_at_ms"),
      limits: t.json("limits"),
      surface: t.text("surface").notNull(),
      model: t.text("model").notNull(),
      metadata: t.json("metadata"),
      /** JSON that the settlement or release added to `metadata`. */
      settleMetadata: t.json("settle_metadata"),
      outcome: t.text("outcome"),
      source: t.text("source").$type<"reported" | "estimated" | "expired" | "none">(),
      upstream: t.text("upstream"),
      upstreamModel: t.text("upstream_model"),
      priceInput: t.nanos("price_input"),
      priceOutput: t.nanos("price_output"),
      priceCachedInput: t.nanos("price_cached_input"),
      priceCacheWrite: t.nanos("price_cache_write"),
      priceCacheWrite1h: t.nanos("price_cache_write_1h"),
      inputTokens: t.whole("input_tokens"),
      cachedInputTokens: t.whole("cached_input_tokens"),
      cacheWriteTokens: t.whole("cache_write_tokens"),
      cacheWrite1hTokens: t.whole("cache_write_1h_tokens"),
      outputTokens: t.whole("output_tokens"),
      firstOutputMs: t.whole("first_output_ms"),
      totalMs: t.whole("total_ms"),
      attempts: t.json("attempts"),
      /** What the upstream bills the operator, in nanos; null where that is unknown. */
      upstreamCost: t.nanos("upstream_cost"),
      /** What the request is charged by instead of tokens; null for a model that is priced by tokens. */
      unitName: t.text("unit_name"),
      units: t.whole("units"),
      /** Pico-USD per unit. */
      unitPrice: t.nanos("unit_price"),
      /** The service tier of the price; null for the standard one. */
      tier: t.text("tier"),
      /**
       * A JSON array of `[name, count, picos]`: calls of tools, and tokens of audio and images with prices of their
       * own, which the tokens above contain; null for none.
       */
      items: t.json("items"),
    },
    (table) => [
      t.primaryKey({ columns: t.isSqlite ? [table.holdId, table.walletId] : [table.walletId, table.holdId] }),
      t.index("holds_open").on(table.expiresAtMs).where(sql`state = 'held'`),
      t.check("holds_refunded", sql`${table.refunded} BETWEEN 0 AND ${table.captured}`),
    ],
  );

/**
 * Spending limits. Without a zone their periods are in UTC. A deleted limit keeps its row while receipts count against
 * it, so that its id and counters never become those of another key.
 */
export const spendLimits = (t: Columns) =>
  t.createTable(
    "spend_limits",
    {
      walletId: t.text("wallet_id").notNull(),
      limitId: t.text("limit_id").notNull(),
      /** What the limit binds: a key's id, or another scope's kind and id; null for the whole wallet. */
      keyId: t.text("key_id"),
      /** The kind of the scopes that a template counts one by one. */
      eachKind: t.text("each_kind"),
      /** Or a window, such as "5h". */
      period: t.text("period").$type<"total" | "day" | "week" | "month">().notNull(),
      timeZone: t.text("time_zone"),
      amount: t.nanos("amount").notNull(),
      deletedAtMs: t.whole("deleted_at_ms"),
    },
    (table) => [
      t.primaryKey({ columns: [table.walletId, table.limitId] }),
      t.index("spend_limits_key").on(table.walletId, table.keyId),
      // Deleted limits go with the last receipt that counted against them.
      t.index("spend_limits_deleted").on(table.deletedAtMs).where(sql`deleted_at_ms IS NOT NULL`),
    ],
  );

/**
 * The used and held amounts of a limit in one period. A new period is a new row, so nothing is reset. Those of a
 * template have the id of the limit, a line feed and the id of the scope. Those of windows end with a line feed.
 */
export const limitCounters = (t: Columns) =>
  t.createTable(
    "limit_counters",
    {
      walletId: t.text("wallet_id").notNull(),
      limitId: t.text("limit_id").notNull(),
      periodStartMs: t.whole("period_start_ms").notNull(),
      used: t.nanos("used").notNull(),
      held: t.nanos("held").notNull(),
    },
    (table) => [
      t.primaryKey({ columns: [table.walletId, table.limitId, table.periodStartMs] }),
      // Those of past periods are deleted when their receipts are gone.
      t.index("limit_counters_period").on(table.periodStartMs),
      t.check("limit_counters_counts", sql`${table.used} >= 0 AND ${table.held} >= 0`),
    ],
  );

/**
 * The names of end users that were replaced within the last days, as SHA-256. A settlement outbox may have a hold of
 * an earlier time that the ledger lost: its receipt gets the pseudonym.
 */
export const forgottenNames = (t: Columns) =>
  t.createTable(
    "forgotten_names",
    {
      walletId: t.text("wallet_id").notNull(),
      digest: t.text("digest").notNull(),
      pseudonym: t.text("pseudonym").notNull(),
      forgottenAtMs: t.whole("forgotten_at_ms").notNull(),
    },
    (table) => [t.primaryKey({ columns: [table.walletId, table.digest] })],
  );
