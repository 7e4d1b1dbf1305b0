// People, roles, sessions and the audit trail. The tables that sign-in.ts hands to better-auth have its columns.
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** People who sign in. The e-mail is in lower case. */
export const people = sqliteTable("people", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  email: text("email").notNull().unique(),
  emailVerified: integer("email_verified", { mode: "boolean" }).notNull().default(false),
  image: text("image"),
  createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
  updatedAt: integer("updated_at", { mode: "timestamp_ms" }).notNull(),
  isOperator: integer("is_operator", { mode: "boolean" }).notNull().default(false),
  /** Set with a one-time password: every other action then requires a new password first. */
  mustChangePassword: integer("must_change_password", { mode: "boolean" }).notNull().default(false),
});

/** Sessions. `token` is the SHA-256 of the cookie's token in hex. */
export const sessions = sqliteTable(
  "sessions",
  {
    id: text("id").primaryKey(),
    userId: text("user_id").notNull(),
    token: text("token").notNull().unique(),
    expiresAt: integer("expires_at", { mode: "timestamp_ms" }).notNull(),
    ipAddress: text("ip_address"),
    userAgent: text("user_agent"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    updatedAt: integer("updated_at", { mode: "timestamp_ms" }).notNull(),
    /** When the password was last given in this session. */
    confirmedAtMs: integer("confirmed_at_ms"),
    /** The account inside which an operator acts, until `actingUntilMs`. */
    actingAccountId: text("acting_account_id"),
    actingUntilMs: integer("acting_until_ms"),
  },
  (table) => [index("sessions_user").on(table.userId)],
);

/** Ways to sign in. `password` is an argon2id hash. */
export const credentials = sqliteTable(
  "credentials",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    providerId: text("provider_id").notNull(),
    userId: text("user_id").notNull(),
    accessToken: text("access_token"),
    refreshToken: text("refresh_token"),
    idToken: text("id_token"),
    accessTokenExpiresAt: integer("access_token_expires_at", { mode: "timestamp_ms" }),
    refreshTokenExpiresAt: integer("refresh_token_expires_at", { mode: "timestamp_ms" }),
    scope: text("scope"),
    password: text("password"),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    updatedAt: integer("updated_at", { mode: "timestamp_ms" }).notNull(),
  },
  (table) => [index("credentials_user").on(table.userId)],
);

/** Proofs of an e-mail address: password resets and verifications. `identifier` is a digest. */
export const proofs = sqliteTable(
  "proofs",
  {
    id: text("id").primaryKey(),
    identifier: text("identifier").notNull(),
    value: text("value").notNull(),
    expiresAt: integer("expires_at", { mode: "timestamp_ms" }).notNull(),
    createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    updatedAt: integer("updated_at", { mode: "timestamp_ms" }).notNull(),
  },
  (table) => [index("proofs_identifier").on(table.identifier)],
);

/** The role of a person in an account. */
export const members = sqliteTable(
  "members",
  {
    accountId: text("account_id").notNull(),
    personId: text("person_id").notNull(),
    role: text("role", { enum: ["owner", "developer", "viewer"] }).notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.personId] }),
    index("members_person").on(table.personId),
  ],
);

/** Invitations into an account. `digest` is null until a token exists: mailed, or handed to the inviter. */
export const invitations = sqliteTable(
  "invitations",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    email: text("email").notNull(),
    role: text("role", { enum: ["owner", "developer", "viewer"] }).notNull(),
    digest: text("digest").unique(),
    invitedBy: text("invited_by").notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
    expiresAtMs: integer("expires_at_ms").notNull(),
    acceptedAtMs: integer("accepted_at_ms"),
    revokedAtMs: integer("revoked_at_ms"),
  },
  (table) => [index("invitations_account").on(table.accountId)],
);

/** The audit trail: every change, with its author. Rows never change. `before` and `after` are JSON. */
export const auditEntries = sqliteTable(
  "audit_entries",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id"),
    actorKind: text("actor_kind", { enum: ["person", "management_key", "command_line", "system"] }).notNull(),
    actorId: text("actor_id").notNull(),
    /** The e-mail of a person or the hint of a management key, at the time of the change. */
    actorName: text("actor_name").notNull(),
    /** Whether an operator acted inside the account. */
    isActing: integer("is_acting", { mode: "boolean" }).notNull().default(false),
    action: text("action").notNull(),
    target: text("target").notNull(),
    before: text("before"),
    after: text("after"),
    address: text("address"),
    atMs: integer("at_ms").notNull(),
  },
  (table) => [index("audit_entries_account").on(table.accountId, table.id)],
);

/** Keys of programs for the console's API. Without an account a key is a platform operator's. */
export const managementKeys = sqliteTable(
  "management_keys",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id"),
    name: text("name").notNull(),
    hint: text("hint").notNull(),
    digest: text("digest").notNull().unique(),
    role: text("role", { enum: ["owner", "developer", "viewer", "operator"] }).notNull(),
    createdBy: text("created_by").notNull(),
    createdAtMs: integer("created_at_ms").notNull(),
    expiresAtMs: integer("expires_at_ms"),
    revokedAtMs: integer("revoked_at_ms"),
    lastUsedAtMs: integer("last_used_at_ms"),
  },
  (table) => [index("management_keys_account").on(table.accountId)],
);

/**
 * Answers of creations by `idempotency-key`. `answer` is encrypted under the caller's own credential, because
 * it may hold a secret; null while the creation runs.
 */
export const idempotentAnswers = sqliteTable(
  "idempotent_answers",
  {
    credential: text("credential").notNull(),
    digest: text("digest").notNull(),
    requestDigest: text("request_digest").notNull(),
    answer: text("answer"),
    createdAtMs: integer("created_at_ms").notNull(),
  },
  (table) => [primaryKey({ columns: [table.credential, table.digest] })],
);

/** Values that all replicas share, such as the secret of the cookies. The first writer wins. */
export const sharedValues = sqliteTable("shared_values", {
  name: text("name").primaryKey(),
  value: text("value").notNull(),
});

/** Which process runs a background job of this database. */
export const leases = sqliteTable("leases", {
  job: text("job").primaryKey(),
  holder: text("holder").notNull(),
  expiresAtMs: integer("expires_at_ms").notNull(),
});
