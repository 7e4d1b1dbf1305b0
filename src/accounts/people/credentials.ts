import { eq } from "drizzle-orm";
import type { Database, Db } from "../../db/database.ts";
import { NO_SIGN_IN_RULES, type SignInRules } from "../../domain/sign-in-rules.ts";
import { GatewayError } from "../../errors.ts";
import { type Actor, type AuditActor, recordChange } from "../audit-trail.ts";
import { hasSecondFactor, requireSecondFactor } from "../second-factor/second-factor.ts";
import { checkNewPassword } from "./passwords.ts";
import { findPersonById, normaliseEmail, type Person } from "./people.ts";
import { confirmSession, endOpenedSession, endResetLinks } from "./sessions.ts";
import type { SignIn, Visitor } from "./sign-in.ts";
import { endUnprovenWays } from "./sign-in-ways.ts";
import { type Throttle, trustedSessionOf } from "./throttle.ts";

/** Orders mails in the transaction of the change that needs them. */
export interface MailOrders {
  enqueue(
    tx: Db,
    order: {
      readonly template: "password_reset" | "email_verification" | "invitation";
      readonly address: string;
      readonly data: Readonly<Record<string, unknown>>;
    },
  ): Promise<void>;
}

export interface CredentialParts {
  readonly database: Database;
  readonly signIn: SignIn;
  readonly throttle: Throttle;
  readonly mails: MailOrders;
  /** Returns how people may sign in. Default: by passwords alone. */
  readonly rules?: () => SignInRules;
  readonly now: () => number;
}

/** A person with a new session. `cookies` are the values of `set-cookie`: of the session and the known browser. */
export interface SignedIn {
  readonly person: Person;
  readonly cookies: readonly [session: string, device: string];
}

/**
 * Signs a person in. Unknown addresses and wrong passwords cost one hash each and get the same answer. Rejects
 * with `wrong_password`, with `code_needed` for a person with a second factor, or with `sign_in_throttled` after too many failures of an address or for an e-mail. Failures of
 * strangers do not count against a browser that has signed the person in before.
 */
export async function signInPerson(
  parts: CredentialParts,
  visitor: Visitor,
  given: { readonly email: string; readonly password: string; readonly code?: string | undefined },
): Promise<SignedIn> {
  const { database, signIn, throttle } = parts;
  const email = normaliseEmail(given.email);
  const sender = await signIn.recognise(visitor, email);
  const attempt = { address: sender.address, subject: email, trusted: sender.trusted };
  const { password, code } = given;
  const opened = await throttle("sign-in", attempt, async () => {
    const opening = await signIn.signIn(sender, { email, password });
    // The password alone opens nothing for a person with a second factor: its session is given to no one.
    return requireSecondFactor(database, { personId: opening.personId, code }, parts.now()).then(
      () => opening,
      (fault: unknown) => endOpenedSession(database, opening.digest).then(() => Promise.reject(fault)),
    );
  });
  const person = await requirePerson(database, opened.personId);
  if (mayUsePassword(parts, person)) return { person, cookies: opened.cookies };
  await endOpenedSession(database, opened.digest);
  throw new GatewayError("not_permitted", {
    message: "Sign in at your provider: passwords are not accepted.",
  });
}

/** Whether a password opens a session: always, unless the file requires a provider and no command opened a door. */
function mayUsePassword({ rules, now }: CredentialParts, { passwordUntilMs = 0 }: Person): boolean {
  return !rules?.().requiresProvider || now() < passwordUntilMs;
}

/**
 * Changes the password of the actor, ends all its sessions and opens a new one. With a second factor, the new session has
 * the proof of the former one: a password alone is none. Rejects with `wrong_password`, and with `wrong_shape` for a new
 * password of a wrong length or the old one again.
 */
export async function changePassword(
  { database, signIn, throttle, now }: CredentialParts,
  visitor: Visitor,
  { actor, current, password }: { actor: Actor; current: string; password: string },
): Promise<Pick<SignedIn, "cookies">> {
  checkNewPassword(password);
  if (password.normalize("NFKC") === current.normalize("NFKC")) {
    const message = "The new password must differ from the old one.";
    throw new GatewayError("wrong_shape", { path: "password", message });
  }
  const sender = withSession(visitor, actor);
  const { id: personId, session } = actor;
  const isProof = !(await hasSecondFactor(database, personId));
  const followUp = async (tx: Db) => {
    const { sessions } = database.tables;
    const before = { confirmedAtMs: session?.confirmedAtMs ?? null };
    if (!isProof) await tx.update(sessions).set(before).where(eq(sessions.userId, personId));
    await recordNewPassword(database, tx, { actor, personId, action: "password.changed" }, now());
  };
  return throttle("sign-in", sender, () => signIn.changePassword(sender, { current, password }, followUp));
}

/**
 * Records in the actor's session that the password was given just now, with a code where the person has a second factor.
 * Rejects with `wrong_password` and `code_needed`, and with `not_permitted` where the provider alone confirms.
 */
export async function confirmPassword(
  { database, signIn, throttle, rules, now }: CredentialParts,
  visitor: Visitor,
  { actor, password, code }: { actor: Actor; password: string; code?: string | undefined },
): Promise<void> {
  const { session } = actor;
  if (!session) throw new GatewayError("no_session");
  requireOwnProof(rules?.() ?? NO_SIGN_IN_RULES, actor);
  const sender = withSession(visitor, actor);
  await throttle("sign-in", sender, async () => {
    await signIn.verifyPassword(sender, password);
    await requireSecondFactor(database, { personId: actor.id, code }, now());
  });
  await confirmSession(database, session.id, now());
}

/**
 * Whether a password or passkey is a fresh proof in a session of the actor. Not in that of a provider where the file
 * requires one: the provider alone knows whether the person is still there.
 */
export function acceptsOwnProof(
  { requiresProvider }: SignInRules,
  { session }: Pick<Actor, "session">,
): boolean {
  return !requiresProvider || session?.identityId === undefined;
}

/** Throws `not_permitted` where a password or passkey is no fresh proof. */
export function requireOwnProof(rules: SignInRules, actor: Pick<Actor, "session">): void {
  if (acceptsOwnProof(rules, actor)) return;
  throw new GatewayError("not_permitted", {
    message: "Confirm at your provider: passwords and passkeys are not accepted.",
  });
}

/** Attempts within a session count for it alone: strangers could otherwise lock its person out of it. */
function withSession(visitor: Visitor, { session }: Actor): Visitor {
  return { ...visitor, trusted: trustedSessionOf(session) ?? visitor.trusted };
}

/**
 * Orders a mail with a link for a new password. Does the same for unknown addresses, whose mail is dropped when
 * it should be sent.
 */
export async function orderPasswordReset(
  { database, throttle, mails }: CredentialParts,
  { address }: Visitor,
  emailText: string,
): Promise<void> {
  const email = normaliseEmail(emailText);
  await throttle("mail", { address, subject: email }, () =>
    database.transact((tx) => mails.enqueue(tx, { template: "password_reset", address: email, data: {} })),
  );
}

/**
 * Sets a new password by the token of a mail, and ends every session of its person. The mail reached the person,
 * so that the address is proven as well: for the first time, passkeys and identities end that were added before. Rejects
 * with `unknown_item` for a token that was used or has expired.
 */
export async function resetPassword(
  { database, signIn, throttle, now }: CredentialParts,
  { address }: Visitor,
  { token, password }: { readonly token: string; readonly password: string },
): Promise<void> {
  checkNewPassword(password);
  const followUp = (personId: string) => async (tx: Db) => {
    const { people } = database.tables;
    const isPerson = eq(people.id, personId);
    const [row] = await tx.select().from(people).where(isPerson);
    const actor = { kind: "person", id: personId, name: row?.email ?? "", address } as const;
    if (row && !row.emailVerified) await endUnprovenWays(database, tx, { actor, personId }, now());
    await tx.update(people).set({ emailVerified: true }).where(isPerson);
    await recordNewPassword(database, tx, { actor, personId, action: "password.reset" }, now());
  };
  await throttle("guess", { address }, () => signIn.resetPassword(token, password, followUp));
}

/** Orders a mail that proves the address of the actor. Does nothing for a proven address. */
export async function orderEmailVerification(
  { database, throttle, mails }: CredentialParts,
  { address }: Visitor,
  actor: Actor,
): Promise<void> {
  const person = await requirePerson(database, actor.id);
  if (person.emailVerified) return;
  const order = { template: "email_verification", address: person.email, data: {} } as const;
  await throttle("mail", { address, subject: person.email }, () =>
    database.transact((tx) => mails.enqueue(tx, order)),
  );
}

/** Proves an address by the token of a mail. Rejects with `unknown_item` for a token that has expired. */
export async function verifyEmail(
  { signIn, throttle }: CredentialParts,
  { address }: Visitor,
  token: string,
): Promise<void> {
  await throttle("guess", { address }, () => signIn.verifyEmail(token));
}

interface NewPassword {
  readonly actor: AuditActor;
  readonly personId: string;
  readonly action: "password.changed" | "password.reset";
}

async function recordNewPassword(
  database: Database,
  tx: Db,
  { actor, personId, action }: NewPassword,
  nowMs: number,
): Promise<void> {
  const { people } = database.tables;
  await tx.update(people).set({ mustChangePassword: false }).where(eq(people.id, personId));
  // A link that was mailed before could undo the change, which may have been made because of it.
  await endResetLinks(database, tx, { personId });
  await recordChange(database, tx, actor, { action, target: personId }, nowMs);
}

async function requirePerson(database: Database, personId: string): Promise<Person> {
  const person = await findPersonById(database, personId);
  if (!person) throw new GatewayError("no_session");
  return person;
}
