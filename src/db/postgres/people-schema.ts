// Tables of people, with the names and meanings of ../sqlite/people-schema.ts.
import { boolean, index, pgTable, primaryKey } from "drizzle-orm/pg-core";
import { bytewise, moment, whole } from "./columns.ts";

/** People who sign in. The e-mail is in lower case. */
export const people = pgTable("people", {
  id: bytewise("id").primaryKey(),
  name: bytewise("name").notNull(),
  email: bytewise("email").notNull().unique(),
  emailVerified: boolean("email_verified").notNull().default(false),
  image: bytewise("image"),
  createdAt: moment("created_at").notNull(),
  updatedAt: moment("updated_at").notNull(),
  isOperator: boolean("is_operator").notNull().default(false),
  /** Set with a one-time password: every other action then requires a new password first. */
  mustChangePassword: boolean("must_change_password").notNull().default(false),
});

/** Sessions. `token` is the SHA-256 of the cookie's token in hex. */
export const sessions = pgTable(
  "sessions",
  {
    id: bytewise("id").primaryKey(),
    userId: bytewise("user_id").notNull(),
    token: bytewise("token").notNull().unique(),
    expiresAt: moment("expires_at").notNull(),
    ipAddress: bytewise("ip_address"),
    userAgent: bytewise("user_agent"),
    createdAt: moment("created_at").notNull(),
    updatedAt: moment("updated_at").notNull(),
    /** When the password was last given in this session. */
    confirmedAtMs: whole("confirmed_at_ms"),
    /** The account inside which an operator acts, until `actingUntilMs`. */
    actingAccountId: bytewise("acting_account_id"),
    actingUntilMs: whole("acting_until_ms"),
  },
  (table) => [index("sessions_user").on(table.userId)],
);

/** Ways to sign in. `password` is an argon2id hash. */
export const credentials = pgTable(
  "credentials",
  {
    id: bytewise("id").primaryKey(),
    accountId: bytewise("account_id").notNull(),
    providerId: bytewise("provider_id").notNull(),
    userId: bytewise("user_id").notNull(),
    accessToken: bytewise("access_token"),
    refreshToken: bytewise("refresh_token"),
    idToken: bytewise("id_token"),
    accessTokenExpiresAt: moment("access_token_expires_at"),
    refreshTokenExpiresAt: moment("refresh_token_expires_at"),
    scope: bytewise("scope"),
    password: bytewise("password"),
    createdAt: moment("created_at").notNull(),
    updatedAt: moment("updated_at").notNull(),
  },
  (table) => [index("credentials_user").on(table.userId)],
);

/** Proofs of an e-mail address: password resets and verifications. `identifier` is a digest. */
export const proofs = pgTable(
  "proofs",
  {
    id: bytewise("id").primaryKey(),
    identifier: bytewise("identifier").notNull(),
    value: bytewise("value").notNull(),
    expiresAt: moment("expires_at").notNull(),
    createdAt: moment("created_at").notNull(),
    updatedAt: moment("updated_at").notNull(),
  },
  (table) => [index("proofs_identifier").on(table.identifier)],
);

/** The role of a person in an account. */
export const members = pgTable(
  "members",
  {
    accountId: bytewise("account_id").notNull(),
    personId: bytewise("person_id").notNull(),
    role: bytewise("role").$type<"owner" | "developer" | "viewer">().notNull(),
    createdAtMs: whole("created_at_ms").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.personId] }),
    index("members_person").on(table.personId),
  ],
);

/** Invitations into an account. `digest` is null until a token exists: mailed, or handed to the inviter. */
export const invitations = pgTable(
  "invitations",
  {
    id: bytewise("id").primaryKey(),
    accountId: bytewise("account_id").notNull(),
    email: bytewise("email").notNull(),
    role: bytewise("role").$type<"owner" | "developer" | "viewer">().notNull(),
    digest: bytewise("digest").unique(),
    invitedBy: bytewise("invited_by").notNull(),
    createdAtMs: whole("created_at_ms").notNull(),
    expiresAtMs: whole("expires_at_ms").notNull(),
    acceptedAtMs: whole("accepted_at_ms"),
    revokedAtMs: whole("revoked_at_ms"),
  },
  (table) => [index("invitations_account").on(table.accountId)],
);

/** The audit trail: every change, with its author. Rows never change. `before` and `after` are JSON. */
export const auditEntries = pgTable(
  "audit_entries",
  {
    id: bytewise("id").primaryKey(),
    accountId: bytewise("account_id"),
    actorKind: bytewise("actor_kind")
      .$type<"person" | "management_key" | "command_line" | "system">()
      .notNull(),
    actorId: bytewise("actor_id").notNull(),
    /** The e-mail of a person or the hint of a management key, at the time of the change. */
    actorName: bytewise("actor_name").notNull(),
    /** Whether an operator acted inside the account. */
    isActing: boolean("is_acting").notNull().default(false),
    action: bytewise("action").notNull(),
    target: bytewise("target").notNull(),
    before: bytewise("before"),
    after: bytewise("after"),
    address: bytewise("address"),
    atMs: whole("at_ms").notNull(),
  },
  (table) => [index("audit_entries_account").on(table.accountId, table.id)],
);

/** Keys of programs for the console's API. Without an account a key is a platform operator's. */
export const managementKeys = pgTable(
  "management_keys",
  {
    id: bytewise("id").primaryKey(),
    accountId: bytewise("account_id"),
    name: bytewise("name").notNull(),
    hint: bytewise("hint").notNull(),
    digest: bytewise("digest").notNull().unique(),
    role: bytewise("role").$type<"owner" | "developer" | "viewer" | "operator">().notNull(),
    createdBy: bytewise("created_by").notNull(),
    createdAtMs: whole("created_at_ms").notNull(),
    expiresAtMs: whole("expires_at_ms"),
    revokedAtMs: whole("revoked_at_ms"),
    lastUsedAtMs: whole("last_used_at_ms"),
  },
  (table) => [index("management_keys_account").on(table.accountId)],
);

/**
 * Answers of creations by `idempotency-key`. `answer` is encrypted under the caller's own credential, because
 * it may hold a secret; null while the creation runs.
 */
export const idempotentAnswers = pgTable(
  "idempotent_answers",
  {
    credential: bytewise("credential").notNull(),
    digest: bytewise("digest").notNull(),
    requestDigest: bytewise("request_digest").notNull(),
    answer: bytewise("answer"),
    createdAtMs: whole("created_at_ms").notNull(),
  },
  (table) => [primaryKey({ columns: [table.credential, table.digest] })],
);

/** Values that all replicas share, such as the secret of the cookies. The first writer wins. */
export const sharedValues = pgTable("shared_values", {
  name: bytewise("name").primaryKey(),
  value: bytewise("value").notNull(),
});

/** Which process runs a background job of this database. */
export const leases = pgTable("leases", {
  job: bytewise("job").primaryKey(),
  holder: bytewise("holder").notNull(),
  expiresAtMs: whole("expires_at_ms").notNull(),
});
