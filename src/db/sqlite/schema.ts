import { sql } from "drizzle-orm";
import {
  check,
  customType,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";
import type { Nanos } from "../../domain/money.ts";

/**
 * Money in an integer column. Throws RangeError where the connection reads integers as numbers and
 * this one does not fit: rounding money is worse than failing.
 */
const nanos = customType<{ data: Nanos; driverData: bigint | number }>({
  dataType: () => "integer",
  fromDriver(value) {
    if (typeof value === "number" && !Number.isSafeInteger(value)) {
      throw new RangeError("Cannot read an amount exactly: the statement must read integers as bigint");
    }
    return BigInt(value);
  },
});

/** Who pays. The wallet of an account has the same id. */
export const accounts = sqliteTable("accounts", {
  id: text().primaryKey(),
  name: text().notNull().unique(),
  email: text(),
  state: text({ enum: ["active", "suspended"] })
    .notNull()
    .default("active"),
  createdAtMs: integer("created_at_ms").notNull(),
});

/** Keys of accounts. `digest` is the SHA-256 of the secret in hex; `models` a JSON array, null for every model. */
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
  },
  (table) => [index("api_keys_account").on(table.accountId)],
);

/**
 * Gateways that run on this database, each renewing its row, so that those which count limits apart from each
 * other know it.
 */
export const gateways = sqliteTable("gateways", {
  id: text().primaryKey(),
  /** Whether it counts limits in Redis, together with the others that do. */
  hasRedis: integer("has_redis", { mode: "boolean" }).notNull(),
  seenAtMs: integer("seen_at_ms").notNull(),
});

/** Cached balances: `posted` is the sum of the journal, `held` that of the open holds. */
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
 * The journal, in the order of time, so that what many wallets write at once is written in one place: each
 * row debits one account of the wallet's book and credits another. Never changed.
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
    check("transfers_amount", sql`${table.amount} > 0`),
    check("transfers_accounts", sql`${table.debitAccount} <> ${table.creditAccount}`),
  ],
);

/**
 * Requests from hold to receipt, and charges, which are settled from the start, in the order of
 * the time in their ids. `limits` is a JSON array of `[limitId, periodStartMs]`, null for none; prices are
 * pico-USD per token; what belongs to the outcome is null while the hold is open.
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
    /** The amount that a settlement named; less than `captured` when an expiry had captured more. */
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
    /** What the settlement or release added to `metadata`; JSON as well. */
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
  },
  (table) => [
    primaryKey({ columns: [table.holdId, table.walletId] }),
    index("holds_open").on(table.expiresAtMs).where(sql`state = 'held'`),
    check("holds_refunded", sql`${table.refunded} BETWEEN 0 AND ${table.captured}`),
  ],
);

/**
 * Spending limits; without a key a limit binds the whole wallet, without a zone its periods are UTC's. A
 * deleted one stays, out of force: its id and what that counted never become another key's.
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

/** What a limit has used and holds in one period; there is nothing to reset, a new period is a new row. */
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
