// People, roles, sessions and the audit trail. The tables that sign-in.ts hands to better-auth have its columns.
import type { Columns } from "../sqlite/columns.ts";

/** People who sign in. The e-mail is in lower case. */
export const people = (t: Columns) =>
  t.createTable("people", {
    id: t.text("id").primaryKey(),
    name: t.text("name").notNull(),
    email: t.text("email").notNull().unique(),
    emailVerified: t.flag("email_verified").notNull().default(false),
    image: t.text("image"),
    createdAt: t.moment("created_at").notNull(),
    updatedAt: t.moment("updated_at").notNull(),
    isOperator: t.flag("is_operator").notNull().default(false),
    /** Set with a one-time password: every other action then requires a new password first. */
    mustChangePassword: t.flag("must_change_password").notNull().default(false),
    /** The identity whose groups made the person an operator. Null where a person or a command did. */
    operatorIdentityId: t.text("operator_identity_id"),
    /** Until when the password is accepted although the file requires another way to sign in. */
    passwordUntilMs: t.whole("password_until_ms"),
  });

/** Sessions. `token` is the SHA-256 of the cookie's token in hex. */
export const sessions = (t: Columns) =>
  t.createTable(
    "sessions",
    {
      id: t.text("id").primaryKey(),
      userId: t.text("user_id").notNull(),
      token: t.text("token").notNull().unique(),
      expiresAt: t.moment("expires_at").notNull(),
      ipAddress: t.text("ip_address"),
      userAgent: t.text("user_agent"),
      createdAt: t.moment("created_at").notNull(),
      updatedAt: t.moment("updated_at").notNull(),
      /** When the password was last given in this session. */
      confirmedAtMs: t.whole("confirmed_at_ms"),
      /** The account inside which an operator acts, until `actingUntilMs`. */
      actingAccountId: t.text("acting_account_id"),
      actingUntilMs: t.whole("acting_until_ms"),
      /** The identity that opened the session. Null for passwords and passkeys. */
      identityId: t.text("identity_id"),
      /** What opened the session, where neither a password nor a provider did. */
      way: t.text("way").$type<"passkey">(),
    },
    (table) => [t.index("sessions_user").on(table.userId)],
  );

/** Ways to sign in. `password` is an argon2id hash. */
export const credentials = (t: Columns) =>
  t.createTable(
    "credentials",
    {
      id: t.text("id").primaryKey(),
      accountId: t.text("account_id").notNull(),
      providerId: t.text("provider_id").notNull(),
      userId: t.text("user_id").notNull(),
      accessToken: t.text("access_token"),
      refreshToken: t.text("refresh_token"),
      idToken: t.text("id_token"),
      accessTokenExpiresAt: t.moment("access_token_expires_at"),
      refreshTokenExpiresAt: t.moment("refresh_token_expires_at"),
      scope: t.text("scope"),
      password: t.text("password"),
      createdAt: t.moment("created_at").notNull(),
      updatedAt: t.moment("updated_at").notNull(),
    },
    (table) => [t.index("credentials_user").on(table.userId)],
  );

/**
 * Proofs that are given once: password resets, verified addresses, begun sign-ins at providers, challenges of passkeys.
 * `identifier` is a digest.
 */
export const proofs = (t: Columns) =>
  t.createTable(
    "proofs",
    {
      id: t.text("id").primaryKey(),
      identifier: t.text("identifier").notNull(),
      value: t.text("value").notNull(),
      expiresAt: t.moment("expires_at").notNull(),
      createdAt: t.moment("created_at").notNull(),
      updatedAt: t.moment("updated_at").notNull(),
    },
    (table) => [t.index("proofs_identifier").on(table.identifier)],
  );

/** The role of a person in an account. */
export const members = (t: Columns) =>
  t.createTable(
    "members",
    {
      accountId: t.text("account_id").notNull(),
      personId: t.text("person_id").notNull(),
      role: t.text("role").$type<"owner" | "developer" | "viewer">().notNull(),
      createdAtMs: t.whole("created_at_ms").notNull(),
      /** The identity whose groups gave the role. Null where a person did. */
      identityId: t.text("identity_id"),
    },
    (table) => [
      t.primaryKey({ columns: [table.accountId, table.personId] }),
      t.index("members_person").on(table.personId),
    ],
  );

/** Invitations into an account. `digest` is null until a token exists: mailed, or handed to the inviter. */
export const invitations = (t: Columns) =>
  t.createTable(
    "invitations",
    {
      id: t.text("id").primaryKey(),
      accountId: t.text("account_id").notNull(),
      email: t.text("email").notNull(),
      role: t.text("role").$type<"owner" | "developer" | "viewer">().notNull(),
      digest: t.text("digest").unique(),
      invitedBy: t.text("invited_by").notNull(),
      createdAtMs: t.whole("created_at_ms").notNull(),
      expiresAtMs: t.whole("expires_at_ms").notNull(),
      acceptedAtMs: t.whole("accepted_at_ms"),
      revokedAtMs: t.whole("revoked_at_ms"),
    },
    (table) => [t.index("invitations_account").on(table.accountId)],
  );

/** The audit trail: every change, with its author. Rows never change. `before` and `after` are JSON. */
export const auditEntries = (t: Columns) =>
  t.createTable(
    "audit_entries",
    {
      id: t.text("id").primaryKey(),
      accountId: t.text("account_id"),
      actorKind: t
        .text("actor_kind")
        .$type<"person" | "management_key" | "api_key" | "payment_caller" | "command_line" | "system">()
        .notNull(),
      actorId: t.text("actor_id").notNull(),
      /** The e-mail of a person or the hint of a management key, at the time of the change. */
      actorName: t.text("actor_name").notNull(),
      /** Whether an operator acted inside the account. */
      isActing: t.flag("is_acting").notNull().default(false),
      action: t.text("action").notNull(),
      target: t.text("target").notNull(),
      before: t.text("before"),
      after: t.text("after"),
      address: t.text("address"),
      atMs: t.whole("at_ms").notNull(),
    },
    (table) => [
      t.index("audit_entries_account").on(table.accountId, table.id),
      t.index("audit_entries_target").on(table.target, table.action),
    ],
  );

/** Keys of programs for the console's API. Without an account a key is a platform operator's. */
export const managementKeys = (t: Columns) =>
  t.createTable(
    "management_keys",
    {
      id: t.text("id").primaryKey(),
      accountId: t.text("account_id"),
      name: t.text("name").notNull(),
      hint: t.text("hint").notNull(),
      digest: t.text("digest").notNull().unique(),
      role: t.text("role").$type<"owner" | "developer" | "viewer" | "operator">().notNull(),
      createdBy: t.text("created_by").notNull(),
      createdAtMs: t.whole("created_at_ms").notNull(),
      expiresAtMs: t.whole("expires_at_ms"),
      revokedAtMs: t.whole("revoked_at_ms"),
      lastUsedAtMs: t.whole("last_used_at_ms"),
    },
    (table) => [t.index("management_keys_account").on(table.accountId)],
  );

/**
 * Answers of creations by `idempotency-key`. `answer` is encrypted under the caller's own credential, because
 * it may hold a secret; null while the creation runs.
 */
export const idempotentAnswers = (t: Columns) =>
  t.createTable(
    "idempotent_answers",
    {
      credential: t.text("credential").notNull(),
      digest: t.text("digest").notNull(),
      requestDigest: t.text("request_digest").notNull(),
      answer: t.text("answer"),
      createdAtMs: t.whole("created_at_ms").notNull(),
    },
    (table) => [t.primaryKey({ columns: [table.credential, table.digest] })],
  );

/** Values that all replicas share, such as the secret of the cookies. The first writer wins. */
export const sharedValues = (t: Columns) =>
  t.createTable("shared_values", {
    name: t.text("name").primaryKey(),
    value: t.text("value").notNull(),
  });

/** Which process runs a background job of this database. */
export const leases = (t: Columns) =>
  t.createTable("leases", {
    job: t.text("job").primaryKey(),
    holder: t.text("holder").notNull(),
    expiresAtMs: t.whole("expires_at_ms").notNull(),
  });
