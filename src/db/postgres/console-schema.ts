// Other tables of the console, with the names and meanings of ../sqlite/console-schema.ts.
import { boolean, index, pgTable, primaryKey, uniqueIndex } from "drizzle-orm/pg-core";
import { bytewise, nanos, whole } from "./columns.ts";

/** Mails to send. `data` is JSON without secrets: a token is made when the mail is sent. */
export const mails = pgTable(
  "mails",
  {
    id: bytewise("id").primaryKey(),
    template: bytewise("template").notNull(),
    address: bytewise("address").notNull(),
    data: bytewise("data").notNull(),
    attempts: whole("attempts").notNull().default(0),
    createdAtMs: whole("created_at_ms").notNull(),
    /** Null when the mail was sent or given up. */
    nextAtMs: whole("next_at_ms"),
    sentAtMs: whole("sent_at_ms"),
    failedAtMs: whole("failed_at_ms"),
  },
  (table) => [index("mails_next").on(table.nextAtMs)],
);

/** Codes that add money to a wallet, each once. `digest` is the SHA-256 of the code in hex. */
export const redeemCodes = pgTable("redeem_codes", {
  id: bytewise("id").primaryKey(),
  digest: bytewise("digest").notNull().unique(),
  hint: bytewise("hint").notNull(),
  amount: nanos("amount").notNull(),
  note: bytewise("note"),
  createdBy: bytewise("created_by").notNull(),
  createdAtMs: whole("created_at_ms").notNull(),
  expiresAtMs: whole("expires_at_ms"),
  redeemedAtMs: whole("redeemed_at_ms"),
  accountId: bytewise("account_id"),
  creditedAtMs: whole("credited_at_ms"),
});

/** Payments by Stripe Checkout. The id is that of the checkout session, and of its top-up. */
export const checkouts = pgTable(
  "checkouts",
  {
    id: bytewise("id").primaryKey(),
    accountId: bytewise("account_id").notNull(),
    amount: nanos("amount").notNull(),
    currency: bytewise("currency").notNull(),
    createdBy: bytewise("created_by").notNull(),
    createdAtMs: whole("created_at_ms").notNull(),
    paidAtMs: whole("paid_at_ms"),
    creditedAtMs: whole("credited_at_ms"),
    expiredAtMs: whole("expired_at_ms"),
  },
  (table) => [index("checkouts_account").on(table.accountId)],
);

/** Refused requests per key, cause, model and minute. `facts` is JSON of the last one. Kept for 7 days. */
export const refusedRequests = pgTable(
  "refused_requests",
  {
    accountId: bytewise("account_id").notNull(),
    keyId: bytewise("key_id").notNull(),
    cause: bytewise("cause").notNull(),
    model: bytewise("model").notNull(),
    minuteMs: whole("minute_ms").notNull(),
    /** The process that counted, so that no two processes write one row. */
    gatewayId: bytewise("gateway_id").notNull(),
    count: whole("count").notNull(),
    lastRequestId: bytewise("last_request_id").notNull(),
    facts: bytewise("facts").notNull(),
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
export const noticeRules = pgTable(
  "notice_rules",
  {
    id: bytewise("id").primaryKey(),
    accountId: bytewise("account_id").notNull(),
    kind: bytewise("kind").$type<"balance_below" | "key_limit" | "upstream_errors">().notNull(),
    threshold: nanos("threshold").notNull(),
    /** JSON arrays of text. */
    emails: bytewise("emails").notNull(),
    webhookUrl: bytewise("webhook_url"),
    version: whole("version").notNull().default(1),
    createdAtMs: whole("created_at_ms").notNull(),
    /** Since when the rule is not evaluated. */
    pausedAtMs: whole("paused_at_ms"),
  },
  (table) => [index("notice_rules_account").on(table.accountId)],
);

/** Notices, each once per `episode`, which ends when the threshold is no longer crossed. */
export const notices = pgTable(
  "notices",
  {
    id: bytewise("id").primaryKey(),
    accountId: bytewise("account_id").notNull(),
    ruleId: bytewise("rule_id").notNull(),
    /** The subject of the rule: the account, a key or an upstream. */
    subject: bytewise("subject").notNull(),
    data: bytewise("data").notNull(),
    raisedAtMs: whole("raised_at_ms").notNull(),
    endedAtMs: whole("ended_at_ms"),
    readAtMs: whole("read_at_ms"),
  },
  (table) => [index("notices_account").on(table.accountId, table.id)],
);

/** The notices that are raised and not ended: at most one per rule and subject. */
export const openNotices = pgTable(
  "open_notices",
  {
    ruleId: bytewise("rule_id").notNull(),
    subject: bytewise("subject").notNull(),
    noticeId: bytewise("notice_id").notNull(),
  },
  (table) => [primaryKey({ columns: [table.ruleId, table.subject] })],
);

/** Webhook calls to make, one per notice. */
export const webhookCalls = pgTable(
  "webhook_calls",
  {
    id: bytewise("id").primaryKey(),
    noticeId: bytewise("notice_id").notNull(),
    url: bytewise("url").notNull(),
    body: bytewise("body").notNull(),
    attempts: whole("attempts").notNull().default(0),
    createdAtMs: whole("created_at_ms").notNull(),
    nextAtMs: whole("next_at_ms"),
    deliveredAtMs: whole("delivered_at_ms"),
    failedAtMs: whole("failed_at_ms"),
    /** HTTP status of the last try; null when the receiver sent none. */
    lastStatus: whole("last_status"),
  },
  (table) => [
    index("webhook_calls_next").on(table.nextAtMs),
    uniqueIndex("webhook_calls_once").on(table.noticeId, table.url),
  ],
);

/** Read-only links to the usage of one key or of a whole account. `digest` is that of the link's token. */
export const sharedLinks = pgTable(
  "shared_links",
  {
    id: bytewise("id").primaryKey(),
    digest: bytewise("digest").notNull().unique(),
    accountId: bytewise("account_id").notNull(),
    keyId: bytewise("key_id"),
    showsNames: boolean("shows_names").notNull().default(false),
    createdBy: bytewise("created_by").notNull(),
    createdAtMs: whole("created_at_ms").notNull(),
    expiresAtMs: whole("expires_at_ms").notNull(),
    revokedAtMs: whole("revoked_at_ms"),
  },
  (table) => [index("shared_links_account").on(table.accountId)],
);
