import { sql } from "drizzle-orm";
import { check, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { nanos } from "./columns.ts";

/** Accounts. The wallet of an account has its id. */
export const accounts = sqliteTable("accounts", {
  id: text().primaryKey(),
  name: text().notNull().unique(),
  email: text(),
  state: text({ enum: ["active", "suspended"] })
    .notNull()
    .default("active"),
  createdAtMs: integer("created_at_ms").notNull(),
  /** Increases with each change; an edit of an older version is a conflict. */
  version: integer().notNull().default(1),
  /** The factor over upstream costs in ten-thousandths; null for the prices of the models. */
  markup: integer(),
});

/**
 * The keys of accounts. `digest` is the SHA-256 of the secret in hex; `models` is a JSON array, null for all
 * models.
 */
export const apiKeys = sqliteTable(
  "api_keys",
  {
    id: text().primaryKey(),
    accountId: text("account_id").notNull(),
    name: text().notNull(),
    hint: text().notNull(),
    digest: text().notNull().unique(),
    requestsPerMinute: integer("requests_per_minute"),
    tokensPerMinute: integer("tokens_per_minute"),
    concurrentRequests: integer("concurrent_requests"),
    models: text({ mode: "json" }).$type<readonly string[]>(),
    allowsClamp: integer("allows_clamp", { mode: "boolean" }).notNull().default(false),
    createdAtMs: integer("created_at_ms").notNull(),
    expiresAtMs: integer("expires_at_ms"),
    revokedAtMs: integer("revoked_at_ms"),
    /** The person or management key that created the key; null for one of the command line. */
    createdBy: text("created_by"),
    /** Increases with each change; an edit of an older version is a conflict. */
    version: integer().notNull().default(1),
    /** Digest and hint of the secret before the last rotation, which is valid until `previousEndsAtMs`. */
    previousDigest: text("previous_digest").unique(),
    previousHint: text("previous_hint"),
    previousEndsAtMs: integer("previous_ends_at_ms"),
  },
  (table) => [index("api_keys_account").on(table.accountId)],
);

/**
 * The running gateways of this database. Each renews its row, so that gateways that count limits separately
 * know of each other.
 */
export const gateways = sqliteTable("gateways", {
  id: text().primaryKey(),
  /** Whether the gateway counts limits in Redis, which gateways share. */
  hasRedis: integer("has_redis", { mode: "boolean" }).notNull(),
  seenAtMs: integer("seen_at_ms").notNull(),
});

/**
 * One row: which database this is. A restore gives the copy an id of its own, so that no settlement of the
 * original reaches it by accident.
 */
export const instance = sqliteTable("instance", {
  /** Always "this". */
  id: text().primaryKey(),
  /** 32 hex digits, random. */
  instanceId: text("instance_id").notNull(),
  /** Grows by one with each restore. */
  epoch: integer().notNull().default(1),
  /** The instance whose backup was restored, and the times of both. */
  restoredFrom: text("restored_from"),
  backupAtMs: integer("backup_at_ms"),
  restoredAtMs: integer("restored_at_ms"),
  /** Where the database was last served: tells a copy from its original. */
  servedAt: text("served_at"),
});

/** Cached balances: `posted` is the sum of the journal, `held` the sum of the open holds. */
export const wallets = sqliteTable(
  "wallets",
  {
    walletId: text("wallet_id").primaryKey(),
    posted: nanos().notNull(),
    held: nanos().notNull(),
    creditLimit: nanos("credit_limit").notNull(),
    state: text({ enum: ["active", "frozen"] }).notNull(),
    lastSeq: integer("last_seq").notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
  },
  (table) => [check("wallets_held", sql`${table.held} >= 0`)],
);

/**
 * The journal. Each row debits one account of the wallet's book and credits another; rows never change. In
 * the order of time, so that one transaction writes the rows of many wallets to adjacent pages.
 */
export const transfers = sqliteTable(
  "transfers",
  {
    walletId: text("wallet_id").notNull(),
    seq: integer().notNull(),
    transferId: text("transfer_id").notNull(),
    kind: integer().notNull(),
    debitAccount: integer("debit_account").notNull(),
    creditAccount: integer("credit_account").notNull(),
    amount: nanos().notNull(),
    postedAfter: nanos("posted_after").notNull(),
    holdId: text("hold_id"),
    createdAtMs: integer("created_at_ms").notNull(),
  },
  (table) => [
    uniqueIndex("transfers_once").on(table.transferId, table.kind, table.walletId),
    // Each entry ends with the number of its row, so that it is in the order of the wallet's transfers.
    index("transfers_wallet").on(table.walletId),
    // Top-ups and refunds: few, so that settlements cost nothing more.
    index("transfers_in").on(table.walletId, table.kind, table.amount).where(sql`kind IN (1, 5)`),
    check("transfers_amount", sql`${table.amount} > 0`),
    check("transfers_accounts", sql`${table.debitAccount} <> ${table.creditAccount}`),
  ],
);

/**
 * Requests from hold to receipt, and charges, which are settled from the start; in the order of the time in
 * their ids. `limits` is a JSON array of `[limitId, periodStartMs]` or null. Prices are pico-USD per token.
 * The columns of the outcome are null while the hold is open.
 */
export const holds = sqliteTable(
  "holds",
  {
    walletId: text("wallet_id").notNull(),
    holdId: text("hold_id").notNull(),
    keyId: text("key_id").notNull(),
    state: text({ enum: ["held", "settled", "released", "expired"] }).notNull(),
    late: integer({ mode: "boolean" }).notNull(),
    requested: nanos().notNull(),
    minimum: nanos().notNull(),
    granted: nanos().notNull(),
    accrued: nanos().notNull(),
    /** The amount of the settlement; less than `captured` when the expiry had captured more. */
    actual: nanos(),
    captured: nanos().notNull(),
    refunded: nanos().notNull(),
    ttlMs: integer("ttl_ms").notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
    expiresAtMs: integer("expires_at_ms").notNull(),
    resolvedAtMs: integer("resolved_at_ms"),
    limits: text(),
    surface: text().notNull(),
    model: text().notNull(),
    metadata: text(),
    /** JSON that the settlement or release added to `metadata`. */
    settleMetadata: text("settle_metadata"),
    outcome: text(),
    source: text({ enum: ["reported", "estimated", "expired", "none"] }),
    upstream: text(),
    upstreamModel: text("upstream_model"),
    priceInput: nanos("price_input"),
    priceOutput: nanos("price_output"),
    priceCachedInput: nanos("price_cached_input"),
    priceCacheWrite: nanos("price_cache_write"),
    priceCacheWrite1h: nanos("price_cache_write_1h"),
    inputTokens: integer("input_tokens"),
    cachedInputTokens: integer("cached_input_tokens"),
    cacheWriteTokens: integer("cache_write_tokens"),
    cacheWrite1hTokens: integer("cache_write_1h_tokens"),
    outputTokens: integer("output_tokens"),
    firstOutputMs: integer("first_output_ms"),
    totalMs: integer("total_ms"),
    attempts: text(),
    /** What the upstream bills the operator, in nanos; null where that is unknown. */
    upstreamCost: nanos("upstream_cost"),
    /** What the request is charged by instead of tokens; null for a model that is priced by tokens. */
    unitName: text("unit_name"),
    units: integer(),
    /** Pico-USD per unit. */
    unitPrice: nanos("unit_price"),
  },
  (table) => [
    primaryKey({ columns: [table.holdId, table.walletId] }),
    index("holds_open").on(table.expiresAtMs).where(sql`state = 'held'`),
    check("holds_refunded", sql`${table.refunded} BETWEEN 0 AND ${table.captured}`),
  ],
);

/**
 * Spending limits. Without a key a limit binds the whole wallet; without a zone its periods are in UTC. A
 * deleted limit keeps its row, so that its id and counters never become those of another key.
 */
export const spendLimits = sqliteTable(
  "spend_limits",
  {
    walletId: text("wallet_id").notNull(),
    limitId: text("limit_id").notNull(),
    keyId: text("key_id"),
    period: text({ enum: ["total", "day", "week", "month"] }).notNull(),
    timeZone: text("time_zone"),
    amount: nanos().notNull(),
    deletedAtMs: integer("deleted_at_ms"),
  },
  (table) => [
    primaryKey({ columns: [table.walletId, table.limitId] }),
    index("spend_limits_key").on(table.walletId, table.keyId),
  ],
);

/** The used and held amounts of a limit in one period. A new period is a new row, so nothing is reset. */
export const limitCounters = sqliteTable(
  "limit_counters",
  {
    walletId: text("wallet_id").notNull(),
    limitId: text("limit_id").notNull(),
    periodStartMs: integer("period_start_ms").notNull(),
    used: nanos().notNull(),
    held: nanos().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.walletId, table.limitId, table.periodStartMs] }),
    check("limit_counters_counts", sql`${table.used} >= 0 AND ${table.held} >= 0`),
  ],
);
