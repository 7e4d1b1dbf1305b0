// Mails, refused requests, notices and shared links: the other tables of the console.
import { sql } from "drizzle-orm";
import type { ScopeKind } from "../../domain/scope.ts";
import type { Columns } from "../sqlite/columns.ts";
import { ROUTE_COUNT_COLUMNS } from "../usage-columns.ts";

/** Mails to send. `data` is JSON without secrets: a token is made when the mail is sent. */
export const mails = (t: Columns) =>
  t.createTable(
    "mails",
    {
      id: t.text("id").primaryKey(),
      template: t.text("template").notNull(),
      address: t.text("address").notNull(),
      data: t.text("data").notNull(),
      attempts: t.whole("attempts").notNull().default(0),
      createdAtMs: t.whole("created_at_ms").notNull(),
      /** Null when the mail was sent or given up. */
      nextAtMs: t.whole("next_at_ms"),
      sentAtMs: t.whole("sent_at_ms"),
      failedAtMs: t.whole("failed_at_ms"),
    },
    (table) => [t.index("mails_next").on(table.nextAtMs)],
  );

/** Refused requests per key (empty: several), cause, model and minute. `facts` is JSON of the latest. Kept for 7 days. */
export const refusedRequests = (t: Columns) =>
  t.createTable(
    "refused_requests",
    {
      accountId: t.text("account_id").notNull(),
      keyId: t.text("key_id").notNull(),
      cause: t.text("cause").notNull(),
      model: t.text("model").notNull(),
      minuteMs: t.whole("minute_ms").notNull(),
      /** The process that counted, so that no two processes write one row. */
      gatewayId: t.text("gateway_id").notNull(),
      count: t.whole("count").notNull(),
      lastRequestId: t.text("last_request_id").notNull(),
      facts: t.text("facts").notNull(),
    },
    (table) => [
      t.primaryKey({
        columns: [table.accountId, table.minuteMs, table.keyId, table.cause, table.model, table.gatewayId],
      }),
      t.index("refused_requests_id").on(table.lastRequestId),
      t.index("refused_requests_minute").on(table.minuteMs),
    ],
  );

/** Attempts at routes by hour, and under the upstream "" the requests of a model. No account or key is in them. */
export const routeHours = (t: Columns) =>
  t.createTable(
    "route_hours",
    {
      startMs: t.whole("start_ms").notNull(),
      model: t.text("model").notNull(),
      upstream: t.text("upstream").notNull(),
      upstreamModel: t.text("upstream_model").notNull(),
      ...Object.fromEntries(ROUTE_COUNT_COLUMNS.map((name) => [name, t.whole(name).notNull().default(0)])),
    },
    ({ startMs, model, upstream, upstreamModel }) => [
      t.primaryKey({ columns: [startMs, model, upstream, upstreamModel] }),
    ],
  );

/** What an account wants to be notified of. `threshold` is nanos, percent or a count, by kind. */
export const noticeRules = (t: Columns) =>
  t.createTable(
    "notice_rules",
    {
      id: t.text("id").primaryKey(),
      accountId: t.text("account_id").notNull(),
      kind: t
        .text("kind")
        .$type<"balance_below" | "credit_ends" | "key_limit" | "subject_limit" | "upstream_errors">()
        .notNull(),
      threshold: t.nanos("threshold").notNull(),
      /** JSON arrays of text. */
      emails: t.text("emails").notNull(),
      webhookUrl: t.text("webhook_url"),
      version: t.whole("version").notNull().default(1),
      createdAtMs: t.whole("created_at_ms").notNull(),
      /** Since when the rule is not evaluated. */
      pausedAtMs: t.whole("paused_at_ms"),
    },
    (table) => [t.index("notice_rules_account").on(table.accountId)],
  );

/** Notices, each once per `episode`, which ends when the threshold is no longer crossed. */
export const notices = (t: Columns) =>
  t.createTable(
    "notices",
    {
      id: t.text("id").primaryKey(),
      accountId: t.text("account_id").notNull(),
      ruleId: t.text("rule_id").notNull(),
      /** The subject of the rule: the account, a key, an upstream, or the subject of a limit. */
      subject: t.text("subject").notNull(),
      data: t.text("data").notNull(),
      /** Whether it is of an end user, a member, a run or a child key, or sums up several. */
      ofSubject: t.flag("of_subject").notNull().default(false),
      raisedAtMs: t.whole("raised_at_ms").notNull(),
      endedAtMs: t.whole("ended_at_ms"),
      readAtMs: t.whole("read_at_ms"),
    },
    (table) => [
      t.index("notices_account").on(table.accountId, table.id),
      // Few of many: every page of the console counts them.
      t.index("notices_unread").on(table.accountId).where(sql`read_at_ms IS NULL AND NOT of_subject`),
    ],
  );

/** The notices that are raised and not ended: at most one per rule and subject. */
export const openNotices = (t: Columns) =>
  t.createTable(
    "open_notices",
    {
      ruleId: t.text("rule_id").notNull(),
      subject: t.text("subject").notNull(),
      noticeId: t.text("notice_id").notNull(),
    },
    (table) => [t.primaryKey({ columns: [table.ruleId, table.subject] })],
  );

/**
 * Subjects that crossed the percentage of a rule, once for each period of a limit. `noticeId` is null until the summary
 * of the hour counts it.
 */
export const subjectCrossings = (t: Columns) =>
  t.createTable(
    "subject_crossings",
    {
      id: t.text("id").primaryKey(),
      ruleId: t.text("rule_id").notNull(),
      accountId: t.text("account_id").notNull(),
      percent: t.whole("percent").notNull(),
      limitId: t.text("limit_id").notNull(),
      kind: t.text("kind").$type<ScopeKind>().notNull(),
      subject: t.text("subject").notNull(),
      /** The end of the limit's period; 0 for a total. */
      resetsAtMs: t.whole("resets_at_ms").notNull(),
      /** The UTC hour in which it was found. */
      hourMs: t.whole("hour_ms").notNull(),
      /** When the row may be deleted. */
      keptUntilMs: t.whole("kept_until_ms").notNull(),
      noticeId: t.text("notice_id"),
    },
    (table) => [
      t
        .uniqueIndex("subject_crossings_once")
        .on(table.ruleId, table.percent, table.limitId, table.subject, table.resetsAtMs),
      t.index("subject_crossings_account").on(table.accountId, table.hourMs),
      t.index("subject_crossings_pending").on(table.hourMs).where(sql`notice_id IS NULL`),
      t.index("subject_crossings_kept").on(table.keptUntilMs),
    ],
  );

/** How far the transfers of an account were searched for subjects that crossed a percentage. */
export const subjectPositions = (t: Columns) =>
  t.createTable("subject_positions", {
    accountId: t.text("account_id").primaryKey(),
    position: t.whole("position").notNull(),
  });

/** Webhook calls to make, one per notice. */
export const webhookCalls = (t: Columns) =>
  t.createTable(
    "webhook_calls",
    {
      id: t.text("id").primaryKey(),
      noticeId: t.text("notice_id").notNull(),
      url: t.text("url").notNull(),
      body: t.text("body").notNull(),
      attempts: t.whole("attempts").notNull().default(0),
      createdAtMs: t.whole("created_at_ms").notNull(),
      nextAtMs: t.whole("next_at_ms"),
      deliveredAtMs: t.whole("delivered_at_ms"),
      failedAtMs: t.whole("failed_at_ms"),
      /** HTTP status of the last try; null when the receiver sent none. */
      lastStatus: t.whole("last_status"),
    },
    (table) => [
      t.index("webhook_calls_next").on(table.nextAtMs),
      t.uniqueIndex("webhook_calls_once").on(table.noticeId, table.url),
    ],
  );

/** Read-only links to the usage of one key, of one project, or of a whole account. `digest` is that of the link's token. */
export const sharedLinks = (t: Columns) =>
  t.createTable(
    "shared_links",
    {
      id: t.text("id").primaryKey(),
      digest: t.text("digest").notNull().unique(),
      accountId: t.text("account_id").notNull(),
      /** A key's id, or "project:" and a project's, which programs of earlier versions take for an unknown key. */
      keyId: t.text("key_id"),
      showsNames: t.flag("shows_names").notNull().default(false),
      createdBy: t.text("created_by").notNull(),
      createdAtMs: t.whole("created_at_ms").notNull(),
      expiresAtMs: t.whole("expires_at_ms").notNull(),
      revokedAtMs: t.whole("revoked_at_ms"),
    },
    (table) => [t.index("shared_links_account").on(table.accountId)],
  );
