import { sql } from "drizzle-orm";
import { boolean, check, index, pgTable, primaryKey, smallint, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { bytewise, nanos, printedJson, verbatimJson, whole } from "./columns.ts";

// Tables and columns have the names and meanings of ../sqlite/schema.ts. Partitions, triggers and storage,
// which Drizzle cannot express, are in migrations/0001_storage.sql.

/** Accounts. The wallet of an account has its id. */
export const accounts = pgTable("accounts", {
  id: bytewise("id").primaryKey(),
  name: bytewise("name").notNull().unique(),
  email: bytewise("email"),
  state: bytewise("state").$type<"active" | "suspended">().notNull().default("active"),
  createdAtMs: whole("created_at_ms").notNull(),
  /** Increases with each change; an edit of an older version is a conflict. */
  version: whole("version").notNull().default(1),
  /** The factor over upstream costs in ten-thousandths; null for the prices of the models. */
  markup: whole("markup"),
});

/**
 * The keys of accounts. `digest` is the SHA-256 of the secret in hex; `models` is a JSON array, null for all
 * models.
 */
export const apiKeys = pgTable(
  "api_keys",
  {
    id: bytewise("id").primaryKey(),
    accountId: bytewise("account_id").notNull(),
    name: bytewise("name").notNull(),
    hint: bytewise("hint").notNull(),
    digest: bytewise("digest").notNull().unique(),
    requestsPerMinute: whole("requests_per_minute"),
    tokensPerMinute: whole("tokens_per_minute"),
    concurrentRequests: whole("concurrent_requests"),
    models: printedJson("models").$type<readonly string[]>(),
    allowsClamp: boolean("allows_clamp").notNull().default(false),
    createdAtMs: whole("created_at_ms").notNull(),
    expiresAtMs: whole("expires_at_ms"),
    revokedAtMs: whole("revoked_at_ms"),
    /** The person or management key that created the key; null for one of the command line. */
    createdBy: bytewise("created_by"),
    /** Increases with each change; an edit of an older version is a conflict. */
    version: whole("version").notNull().default(1),
    /** Digest and hint of the secret before the last rotation, which is valid until `previousEndsAtMs`. */
    previousDigest: bytewise("previous_digest").unique(),
    previousHint: bytewise("previous_hint"),
    previousEndsAtMs: whole("previous_ends_at_ms"),
  },
  (table) => [index("api_keys_account").on(table.accountId)],
);

/**
 * The running gateways of this database. Each renews its row, so that gateways that count limits separately
 * know of each other.
 */
export const gateways = pgTable("gateways", {
  id: bytewise("id").primaryKey(),
  /** Whether the gateway counts limits in Redis, which gateways share. */
  hasRedis: boolean("has_redis").notNull(),
  seenAtMs: whole("seen_at_ms").notNull(),
});

/**
 * One row: which database this is. A restore gives the copy an id of its own, so that no settlement of the
 * original reaches it by accident.
 */
export const instance = pgTable("instance", {
  /** Always "this". */
  id: bytewise("id").primaryKey(),
  /** 32 hex digits, random. */
  instanceId: bytewise("instance_id").notNull(),
  /** Grows by one with each restore. */
  epoch: whole("epoch").notNull().default(1),
  /** The instance whose backup was restored, and the times of both. */
  restoredFrom: bytewise("restored_from"),
  backupAtMs: whole("backup_at_ms"),
  restoredAtMs: whole("restored_at_ms"),
  /** Where the database was last served: tells a copy from its original. */
  servedAt: bytewise("served_at"),
});

/** Cached balances: `posted` is the sum of the journal, `held` the sum of the open holds. Locked first. */
export const wallets = pgTable(
  "wallets",
  {
    walletId: bytewise("wallet_id").primaryKey(),
    posted: nanos("posted").notNull(),
    held: nanos("held").notNull(),
    creditLimit: nanos("credit_limit").notNull(),
    state: bytewise("state").$type<"active" | "frozen">().notNull(),
    lastSeq: whole("last_seq").notNull(),
    createdAtMs: whole("created_at_ms").notNull(),
  },
  (table) => [check("wallets_held", sql`${table.held} >= 0`)],
);

/** The journal. Each row debits one account of the wallet's book and credits another; rows never change. */
export const transfers = pgTable(
  "transfers",
  {
    walletId: bytewise("wallet_id").notNull(),
    seq: whole("seq").notNull(),
    transferId: bytewise("transfer_id").notNull(),
    kind: smallint("kind").notNull(),
    debitAccount: smallint("debit_account").notNull(),
    creditAccount: smallint("credit_account").notNull(),
    amount: nanos("amount").notNull(),
    postedAfter: nanos("posted_after").notNull(),
    holdId: uuid("hold_id"),
    createdAtMs: whole("created_at_ms").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.walletId, table.seq] }),
    uniqueIndex("transfers_once").on(table.walletId, table.transferId, table.kind),
    index("transfers_in").on(table.walletId, table.kind, table.amount).where(sql`kind IN (1, 5)`),
    check("transfers_amount", sql`${table.amount} > 0`),
    check("transfers_accounts", sql`${table.debitAccount} <> ${table.creditAccount}`),
  ],
);

/**
 * Requests from hold to receipt, partitioned by the month in the hold's id. `limits` is a JSON array of
 * `[limitId, periodStartMs]` or null. Prices are pico-USD per token. The columns of the outcome are null
 * while the hold is open.
 */
export const holds = pgTable(
  "holds",
  {
    walletId: bytewise("wallet_id").notNull(),
    holdId: uuid("hold_id").notNull(),
    keyId: bytewise("key_id").notNull(),
    state: bytewise("state").$type<"held" | "settled" | "released" | "expired">().notNull(),
    late: boolean("late").notNull(),
    requested: nanos("requested").notNull(),
    minimum: nanos("minimum").notNull(),
    granted: nanos("granted").notNull(),
    accrued: nanos("accrued").notNull(),
    /** The amount of the settlement; less than `captured` when the expiry had captured more. */
    actual: nanos("actual"),
    captured: nanos("captured").notNull(),
    refunded: nanos("refunded").notNull(),
    ttlMs: whole("ttl_ms").notNull(),
    createdAtMs: whole("created_at_ms").notNull(),
    expiresAtMs: whole("expires_at_ms").notNull(),
    resolvedAtMs: whole("resolved_at_ms"),
    limits: verbatimJson("limits"),
    surface: bytewise("surface").notNull(),
    model: bytewise("model").notNull(),
    metadata: verbatimJson("metadata"),
    /** JSON that the settlement or release added to `metadata`. */
    settleMetadata: verbatimJson("settle_metadata"),
    outcome: bytewise("outcome"),
    source: bytewise("source").$type<"reported" | "estimated" | "expired" | "none">(),
    upstream: bytewise("upstream"),
    upstreamModel: bytewise("upstream_model"),
    priceInput: nanos("price_input"),
    priceOutput: nanos("price_output"),
    priceCachedInput: nanos("price_cached_input"),
    priceCacheWrite: nanos("price_cache_write"),
    priceCacheWrite1h: nanos("price_cache_write_1h"),
    inputTokens: whole("input_tokens"),
    cachedInputTokens: whole("cached_input_tokens"),
    cacheWriteTokens: whole("cache_write_tokens"),
    cacheWrite1hTokens: whole("cache_write_1h_tokens"),
    outputTokens: whole("output_tokens"),
    firstOutputMs: whole("first_output_ms"),
    totalMs: whole("total_ms"),
    attempts: verbatimJson("attempts"),
    /** What the upstream bills the operator, in nanos; null where that is unknown. */
    upstreamCost: nanos("upstream_cost"),
    /** What the request is charged by instead of tokens; null for a model that is priced by tokens. */
    unitName: bytewise("unit_name"),
    units: whole("units"),
    /** Pico-USD per unit. */
    unitPrice: nanos("unit_price"),
  },
  (table) => [
    primaryKey({ columns: [table.walletId, table.holdId] }),
    index("holds_open").on(table.expiresAtMs).where(sql`state = 'held'`),
    check("holds_refunded", sql`${table.refunded} BETWEEN 0 AND ${table.captured}`),
  ],
);

/**
 * Spending limits. Without a key a limit binds the whole wallet; without a zone its periods are in UTC. A
 * deleted limit keeps its row, so that its id and counters never become those of another key.
 */
export const spendLimits = pgTable(
  "spend_limits",
  {
    walletId: bytewise("wallet_id").notNull(),
    limitId: bytewise("limit_id").notNull(),
    keyId: bytewise("key_id"),
    period: bytewise("period").$type<"total" | "day" | "week" | "month">().notNull(),
    timeZone: bytewise("time_zone"),
    amount: nanos("amount").notNull(),
    deletedAtMs: whole("deleted_at_ms"),
  },
  (table) => [
    primaryKey({ columns: [table.walletId, table.limitId] }),
    index("spend_limits_key").on(table.walletId, table.keyId),
  ],
);

/** The used and held amounts of a limit in one period. A new period is a new row, so nothing is reset. */
export const limitCounters = pgTable(
  "limit_counters",
  {
    walletId: bytewise("wallet_id").notNull(),
    limitId: bytewise("limit_id").notNull(),
    periodStartMs: whole("period_start_ms").notNull(),
    used: nanos("used").notNull(),
    held: nanos("held").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.walletId, table.limitId, table.periodStartMs] }),
    check("limit_counters_counts", sql`${table.used} >= 0 AND ${table.held} >= 0`),
  ],
);
