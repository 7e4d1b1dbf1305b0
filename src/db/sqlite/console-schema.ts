// Mails, payments, refused requests, notices and shared links: the other tables of the console.
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { nanos } from "./columns.ts";

/** Mails to send. `data` is JSON without secrets: a token is made when the mail is sent. */
export const mails = sqliteTable(
  "mails",
  {
    id: text("id").primaryKey(),
    template: text("template").notNull(),
    address: text("address").notNull(),
    data: text("data").notNull(),
    attempts: integer("attempts").notNull().default(0),
    createdAtMs: integer("created_at_ms").notNull(),
    /** Null when the mail was sent or given up. */
    nextAtMs: integer("next_at_ms"),
    sentAtMs: integer("sent_at_ms"),
    failedAtMs: integer("failed_at_ms"),
  },
  (table) => [index("mails_next").on(table.nextAtMs)],
);

/** Codes that add money to a wallet, each once. `digest` is the SHA-256 of the code in hex. */
export const redeemCodes = sqliteTable("redeem_codes", {
  id: text("id").primaryKey(),
  digest: text("digest").notNull().unique(),
  hint: text("hint").notNull(),
  amount: nanos("amount").notNull(),
  note: text("note"),
  createdBy: text("created_by").notNull(),
  createdAtMs: integer("created_at_ms").notNull(),
  expiresAtMs: integer("expires_at_ms"),
  redeemedAtMs: integer("redeemed_at_ms"),
  accountId: text("account_id"),
  creditedAtMs: integer("credited_at_ms"),
});

/** Payments by Stripe Checkout. The id is that of the checkout session, and of its top-up. */
export const checkouts = sqliteTable(
  "checkouts",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    amount: nanos("amount").notNull(),
    currency: text("currency").notNull(),
    createdBy: text("created_by").notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
    paidAtMs: integer("paid_at_ms"),
    creditedAtMs: integer("credited_at_ms"),
    expiredAtMs: integer("expired_at_ms"),
  },
  (table) => [index("checkouts_account").on(table.accountId)],
);

/** Refused requests per key, cause, model and minute. `facts` is JSON of the last one. Kept for 7 days. */
export const refusedRequests = sqliteTable(
  "refused_requests",
  {
    accountId: text("account_id").notNull(),
    keyId: text("key_id").notNull(),
    cause: text("cause").notNull(),
    model: text("model").notNull(),
    minuteMs: integer("minute_ms").notNull(),
    /** The process that counted, so that no two processes write one row. */
    gatewayId: text("gateway_id").notNull(),
    count: integer("count").notNull(),
    lastRequestId: text("last_request_id").notNull(),
    facts: text("facts").notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.accountId, table.minuteMs, table.keyId, table.cause, table.model, table.gatewayId],
    }),
    index("refused_requests_id").on(table.lastRequestId),
    index("refused_requests_minute").on(table.minuteMs),
  ],
);

/** What an account wants to be notified of. `threshold` is nanos, percent or a count, by kind. */
export const noticeRules = sqliteTable(
  "notice_rules",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    kind: text("kind", { enum: ["balance_below", "key_limit", "upstream_errors"] }).notNull(),
    threshold: nanos("threshold").notNull(),
    /** JSON arrays of text. */
    emails: text("emails").notNull(),
    webhookUrl: text("webhook_url"),
    version: integer("version").notNull().default(1),
    createdAtMs: integer("created_at_ms").notNull(),
    /** Since when the rule is not evaluated. */
    pausedAtMs: integer("paused_at_ms"),
  },
  (table) => [index("notice_rules_account").on(table.accountId)],
);

/** Notices, each once per `episode`, which ends when the threshold is no longer crossed. */
export const notices = sqliteTable(
  "notices",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    ruleId: text("rule_id").notNull(),
    /** The subject of the rule: the account, a key or an upstream. */
    subject: text("subject").notNull(),
    data: text("data").notNull(),
    raisedAtMs: integer("raised_at_ms").notNull(),
    endedAtMs: integer("ended_at_ms"),
    readAtMs: integer("read_at_ms"),
  },
  (table) => [index("notices_account").on(table.accountId, table.id)],
);

/** The notices that are raised and not ended: at most one per rule and subject. */
export const openNotices = sqliteTable(
  "open_notices",
  {
    ruleId: text("rule_id").notNull(),
    subject: text("subject").notNull(),
    noticeId: text("notice_id").notNull(),
  },
  (table) => [primaryKey({ columns: [table.ruleId, table.subject] })],
);

/** Webhook calls to make, one per notice. */
export const webhookCalls = sqliteTable(
  "webhook_calls",
  {
    id: text("id").primaryKey(),
    noticeId: text("notice_id").notNull(),
    url: text("url").notNull(),
    body: text("body").notNull(),
    attempts: integer("attempts").notNull().default(0),
    createdAtMs: integer("created_at_ms").notNull(),
    nextAtMs: integer("next_at_ms"),
    deliveredAtMs: integer("delivered_at_ms"),
    failedAtMs: integer("failed_at_ms"),
    /** HTTP status of the last try; null when the receiver sent none. */
    lastStatus: integer("last_status"),
  },
  (table) => [
    index("webhook_calls_next").on(table.nextAtMs),
    uniqueIndex("webhook_calls_once").on(table.noticeId, table.url),
  ],
);

/** Read-only links to the usage of one key or of a whole account. `digest` is that of the link's token. */
export const sharedLinks = sqliteTable(
  "shared_links",
  {
    id: text("id").primaryKey(),
    digest: text("digest").notNull().unique(),
    accountId: text("account_id").notNull(),
    keyId: text("key_id"),
    showsNames: integer("shows_names", { mode: "boolean" }).notNull().default(false),
    createdBy: text("created_by").notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
    expiresAtMs: integer("expires_at_ms").notNull(),
    revokedAtMs: integer("revoked_at_ms"),
  },
  (table) => [index("shared_links_account").on(table.accountId)],
);
