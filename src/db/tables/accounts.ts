// Accounts, their keys, the gateways of a database, and the database itself.
import { sql } from "drizzle-orm";
import type { BillingDetails } from "../../domain/company.ts";
import type { RecordingRules } from "../../domain/recording-rules.ts";
import type { Tier } from "../../domain/tiers.ts";
import type { Columns } from "../sqlite/columns.ts";

/** Accounts. The wallet of an account has its id. */
export const accounts = (t: Columns) =>
  t.createTable("accounts", {
    id: t.text("id").primaryKey(),
    name: t.text("name").notNull().unique(),
    email: t.text("email"),
    state: t.text("state").$type<"active" | "suspended">().notNull().default("active"),
    createdAtMs: t.whole("created_at_ms").notNull(),
    /** Increases with each change; an edit of an older version is a conflict. */
    version: t.whole("version").notNull().default(1),
    /** The factor over upstream costs in ten-thousandths; null for the prices of the models. */
    markup: t.whole("markup"),
    /** How receipts name end users; null for the text that was sent. */
    endUsers: t.text("end_users").$type<"hashed" | "off">(),
    /** A JSON array of the keys that tags may have; null for none. */
    tagKeys: t.printedJson("tag_keys").$type<readonly string[]>(),
    /** Whether holds count for project and member: from the first project or limit of one on. */
    hasScopes: t.flag("has_scopes").notNull().default(false),
    /** Whom its statements are for; null for its name alone. */
    billing: t.printedJson("billing").$type<BillingDetails>(),
    /** The models and the markup that come with its plan; the account's own markup goes first. */
    planModels: t.printedJson("plan_models").$type<readonly string[]>(),
    planMarkup: t.whole("plan_markup"),
  });

/** The projects of accounts, which own keys. The default project of an account has its id, and a row once changed. */
export const projects = (t: Columns) =>
  t.createTable(
    "projects",
    {
      id: t.text("id").primaryKey(),
      accountId: t.text("account_id").notNull(),
      name: t.text("name").notNull(),
      createdAtMs: t.whole("created_at_ms").notNull(),
      /** An archived project takes no new keys. */
      archivedAtMs: t.whole("archived_at_ms"),
      /** Increases with each change; an edit of an older version is a conflict. */
      version: t.whole("version").notNull().default(1),
    },
    (table) => [t.uniqueIndex("projects_account_name").on(table.accountId, table.name)],
  );

/**
 * The keys of accounts. `digest` is the SHA-256 of the secret in hex; `models` is a JSON array, null for all
 * models.
 */
export const apiKeys = (t: Columns) =>
  t.createTable(
    "api_keys",
    {
      id: t.text("id").primaryKey(),
      accountId: t.text("account_id").notNull(),
      name: t.text("name").notNull(),
      hint: t.text("hint").notNull(),
      digest: t.text("digest").notNull().unique(),
      requestsPerMinute: t.whole("requests_per_minute"),
      tokensPerMinute: t.whole("tokens_per_minute"),
      concurrentRequests: t.whole("concurrent_requests"),
      models: t.printedJson("models").$type<readonly string[]>(),
      /** The service tiers that the key may ask for; null for all. */
      tiers: t.printedJson("tiers").$type<readonly Tier[]>(),
      forbidsPaidTools: t.flag("forbids_paid_tools").notNull().default(false),
      allowsClamp: t.flag("allows_clamp").notNull().default(false),
      createdAtMs: t.whole("created_at_ms").notNull(),
      expiresAtMs: t.whole("expires_at_ms"),
      revokedAtMs: t.whole("revoked_at_ms"),
      /** The person or management key that created the key; null for one of the command line. */
      createdBy: t.text("created_by"),
      /** Increases with each change; an edit of an older version is a conflict. */
      version: t.whole("version").notNull().default(1),
      /** Digest and hint of the secret before the last rotation, which is valid until `previousEndsAtMs`. */
      previousDigest: t.text("previous_digest").unique(),
      previousHint: t.text("previous_hint"),
      previousEndsAtMs: t.whole("previous_ends_at_ms"),
      /** Null for the default project of the account. That of a key that a key made is that of its root. */
      projectId: t.text("project_id"),
      /** Whether the key may make keys below it. */
      allowsChildren: t.flag("allows_children").notNull().default(false),
      /** The keys above, the nearest first: a key has at most 3. They never change. */
      parentId: t.text("parent_id"),
      parent2Id: t.text("parent_2_id"),
      parent3Id: t.text("parent_3_id"),
      /** Digest of the parent's secret that made the key, with which the key ends; null once its limit was removed. */
      parentDigest: t.text("parent_digest"),
      /** How bodies of its requests are kept; null for a key that never recorded. */
      recording: t.printedJson("recording").$type<RecordingRules>(),
    },
    (table) => [
      t.index("api_keys_account").on(table.accountId),
      t.index("api_keys_project").on(table.projectId).where(sql`project_id IS NOT NULL`),
      // The keys below a key: those that live are counted, all of them end with it.
      t.index("api_keys_parent").on(table.parentId, table.expiresAtMs).where(sql`parent_id IS NOT NULL`),
      t.index("api_keys_child_end").on(table.expiresAtMs).where(sql`parent_digest IS NOT NULL`),
      // Keys that keys made, whose limits were removed: deleted when their receipts are gone.
      t
        .index("api_keys_child_gone")
        .on(table.expiresAtMs)
        .where(sql`parent_id IS NOT NULL AND parent_digest IS NULL`),
      t.index("api_keys_parent_2").on(table.parent2Id).where(sql`parent_2_id IS NOT NULL`),
      t.index("api_keys_parent_3").on(table.parent3Id).where(sql`parent_3_id IS NOT NULL`),
    ],
  );

/** The different values of a tag on a UTC day, of which there are at most 1,000: later ones count as "other". */
export const tagValues = (t: Columns) =>
  t.createTable(
    "tag_values",
    {
      accountId: t.text("account_id").notNull(),
      /** The days since 1970-01-01. */
      day: t.whole("day").notNull(),
      tagKey: t.text("tag_key").notNull(),
      value: t.text("value").notNull(),
    },
    (table) => [t.primaryKey({ columns: [table.accountId, table.day, table.tagKey, table.value] })],
  );

/** The runs with a limit that requests began, so that the first limit holds in every gateway. */
export const runs = (t: Columns) =>
  t.createTable(
    "runs",
    {
      keyId: t.text("key_id").notNull(),
      runId: t.text("run_id").notNull(),
      accountId: t.text("account_id").notNull(),
      amount: t.nanos("amount").notNull(),
      /** The days since 1970-01-01 of its first request. */
      day: t.whole("day").notNull(),
      /** A part of the id of its limit, which is never that of an earlier run; 0 for an id without it. */
      begunAtMs: t.whole("begun_at_ms").notNull().default(0),
      /** The latest day on which a request named its limit, or it was found to have spent more. */
      usedDay: t.whole("used_day").notNull().default(0),
      /** What it had spent when that was last looked at; null for nothing. */
      spent: t.nanos("spent"),
      /** Whether it is being removed: its id begins another run. */
      isEnding: t.flag("is_ending").notNull().default(false),
    },
    (table) => [
      t.primaryKey({ columns: [table.keyId, table.runId] }),
      t.index("runs_key_day").on(table.keyId, table.day),
      t.index("runs_used_day").on(table.usedDay),
    ],
  );

/**
 * The running gateways of this database. Each renews its row, so that gateways that count limits separately
 * know of each other.
 */
export const gateways = (t: Columns) =>
  t.createTable("gateways", {
    id: t.text("id").primaryKey(),
    /** Whether the gateway counts limits in Redis, which gateways share. */
    hasRedis: t.flag("has_redis").notNull(),
    seenAtMs: t.whole("seen_at_ms").notNull(),
  });

/**
 * One row: which database this is. A restore gives the copy an id of its own, so that no settlement of the
 * original reaches it by accident.
 */
export const instance = (t: Columns) =>
  t.createTable("instance", {
    /** Always "this". */
    id: t.text("id").primaryKey(),
    /** 32 hex digits, random. */
    instanceId: t.text("instance_id").notNull(),
    /** Grows by one with each restore. */
    epoch: t.whole("epoch").notNull().default(1),
    /** The instance whose backup was restored, and the times of both. */
    restoredFrom: t.text("restored_from"),
    backupAtMs: t.whole("backup_at_ms"),
    restoredAtMs: t.whole("restored_at_ms"),
    /** Where the database was last served: tells a copy from its original. */
    servedAt: t.text("served_at"),
  });
