// Ways to sign in beside passwords: identities at OpenID providers, passkeys, and the second factor of passwords.
import type { Columns } from "../sqlite/columns.ts";

/** Identities of people at OpenID providers. Issuer and subject together are one identity; an e-mail never is. */
export const identities = (t: Columns) =>
  t.createTable(
    "identities",
    {
      id: t.text("id").primaryKey(),
      personId: t.text("person_id").notNull(),
      issuer: t.text("issuer").notNull(),
      subject: t.text("subject").notNull(),
      /** The id of the provider in the file, at the last sign-in. */
      provider: t.text("provider").notNull(),
      /** The address that the provider named at the last sign-in, for people to read. */
      email: t.text("email"),
      createdAtMs: t.whole("created_at_ms").notNull(),
      lastUsedAtMs: t.whole("last_used_at_ms").notNull(),
    },
    (table) => [
      t.uniqueIndex("identities_subject").on(table.issuer, table.subject),
      t.index("identities_person").on(table.personId),
    ],
  );

/** Passkeys of people. `id` is the credential's id in base64url, and `publicKey` its COSE key in base64url. */
export const passkeys = (t: Columns) =>
  t.createTable(
    "passkeys",
    {
      id: t.text("id").primaryKey(),
      personId: t.text("person_id").notNull(),
      name: t.text("name").notNull(),
      publicKey: t.text("public_key").notNull(),
      /** Uses that the authenticator has counted; 0 where it counts none. */
      uses: t.whole("uses").notNull(),
      /** JSON array of text: how browsers reach the authenticator. */
      transports: t.text("transports").notNull(),
      /** Whether other devices of the person have it too. */
      isSynced: t.flag("is_synced").notNull(),
      createdAtMs: t.whole("created_at_ms").notNull(),
      lastUsedAtMs: t.whole("last_used_at_ms"),
    },
    (table) => [t.index("passkeys_person").on(table.personId)],
  );

/** The second factor of a password: codes of an authenticator app, and recovery codes. */
export const secondFactors = (t: Columns) =>
  t.createTable("second_factors", {
    personId: t.text("person_id").primaryKey(),
    /** The secret of the app, encrypted under a shared value of the database. */
    secret: t.text("secret").notNull(),
    /** JSON array of the digests of recovery codes that were not used. */
    recoveryDigests: t.text("recovery_digests").notNull(),
    /** Null until a code has shown that the app has the secret. */
    confirmedAtMs: t.whole("confirmed_at_ms"),
    /** The 30 seconds of the last accepted code: no code of them or of earlier ones is accepted again. */
    lastStep: t.whole("last_step").notNull(),
    /** Wrong codes since the last right one. */
    failures: t.whole("failures").notNull(),
    lockedUntilMs: t.whole("locked_until_ms"),
    createdAtMs: t.whole("created_at_ms").notNull(),
  });
