import type { Database, Db } from "../../db/database.ts";
import type { SignInRules } from "../../domain/sign-in-rules.ts";
import { GatewayError } from "../../errors.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { createAccount } from "../accounts.ts";
import { type AuditActor, recordChange } from "../audit-trail.ts";
import type { MailOrders, SignedIn } from "./credentials.ts";
import { acceptInvitation, findInvitation } from "./invitation-links.ts";
import { checkNewPassword, type Passwords } from "./passwords.ts";
import { findPerson, findPersonById, insertPerson, normaliseEmail } from "./people.ts";
import { hashCallerOf, type SignIn, type Visitor } from "./sign-in.ts";
import type { Throttle } from "./throttle.ts";

export interface SignUpParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "createWallet">;
  readonly passwords: Passwords;
  readonly signIn: SignIn;
  readonly throttle: Throttle;
  readonly mails: MailOrders;
  /** Returns who may sign up. */
  readonly policy: () => "open" | "invited" | "closed";
  /** Returns how people may sign in. Default: by passwords alone. */
  readonly rules?: () => SignInRules;
  readonly now: () => number;
}

export interface NewSignUp {
  readonly name: string;
  readonly email: string;
  readonly password: string;
  /** Name of the person's own account. Default: the name of the person. */
  readonly accountName?: string | undefined;
  /** The token of an invitation: the person joins its account, and gets none of its own. */
  readonly invitation?: string | undefined;
}

/**
 * Creates a person with its own account, or with its membership in the account that invited it, in one transaction,
 * and signs it in. Without an invitation a mail is ordered that proves the address. Rejects with `not_permitted`
 * where sign-up is not open to this visitor, `conflict` for a taken e-mail or account name, and `unknown_item` for
 * an invitation that is not open.
 */
export async function signUp(parts: SignUpParts, visitor: Visitor, given: NewSignUp): Promise<SignedIn> {
  requireAdmission(parts, given);
  checkNewPassword(given.password);
  const email = normaliseEmail(given.email);
  const { address } = visitor;
  await parts.throttle("sign-up", { address, subject: email }, () =>
    create(parts, visitor, { ...given, email }),
  );
  const { personId, cookies } = await parts.signIn.signIn(visitor, { email, password: given.password });
  const person = await findPersonById(parts.database, personId);
  if (!person) throw new GatewayError("no_session");
  return { person, cookies };
}

function requireAdmission({ policy, rules }: SignUpParts, { invitation }: NewSignUp): void {
  if (rules?.().requiresProvider) throw new GatewayError("not_permitted");
  const isAdmitted = policy() === "open" || (policy() === "invited" && invitation !== undefined);
  if (!isAdmitted) throw new GatewayError("not_permitted");
}

async function create(parts: SignUpParts, visitor: Visitor, given: NewSignUp): Promise<void> {
  const { database, passwords, now } = parts;
  const { email, invitation } = given;
  // A wrong invitation and a taken address are found before the hash, which is the costly part.
  if (invitation !== undefined) await requireInvitation(database, { invitation, email }, now());
  if (await findPerson(database, email)) throw new GatewayError("conflict");
  const passwordHash = await passwords.hash(given.password, hashCallerOf(visitor));
  const id = Bun.randomUUIDv7("hex", now());
  await createPerson(parts, visitor, { ...given, id, passwordHash, isEmailVerified: false });
}

/** A person to be created, who signs in by a password or at a provider. */
export interface NewPersonOfOwn extends Omit<NewSignUp, "password"> {
  readonly id: string;
  readonly passwordHash: string | undefined;
  readonly isEmailVerified: boolean;
  /** Whether the person gets no account of its own, although it brings no invitation. */
  readonly hasRights?: boolean | undefined;
  /** Runs in the transaction that creates the person. */
  readonly created?: ((tx: Db, actor: AuditActor) => Promise<void>) | undefined;
}

/**
 * Creates a person in one transaction, with an account of its own, or with a membership by its invitation. An address
 * that is not proven gets a mail. Rejects with `conflict` for a taken e-mail, and `unknown_item` for an invitation that is not open.
 */
export async function createPerson(
  parts: Pick<SignUpParts, "database" | "ledger" | "mails" | "now">,
  { address }: Visitor,
  given: NewPersonOfOwn,
): Promise<void> {
  const { database } = parts;
  const { id, email, name, invitation, isEmailVerified: emailVerified, passwordHash } = given;
  const nowMs = parts.now();
  const actor: AuditActor = { kind: "person", id, name: email, address };
  const insert = async (tx: Db) => {
    const flags = { emailVerified, isOperator: false, mustChangePassword: false };
    await insertPerson(database, tx, { id, name, email, ...flags, passwordHash }, nowMs);
    const change = { action: "person.created", target: id, after: { name, email } };
    await recordChange(database, tx, actor, change, nowMs);
    await given.created?.(tx, actor);
  };
  const order = { template: "email_verification", address: email, data: {} } as const;
  const isProven = emailVerified || invitation !== undefined;
  const insertWithMail = async (tx: Db) => {
    await insert(tx);
    if (!isProven) await parts.mails.enqueue(tx, order);
  };
  if (invitation === undefined && !given.hasRights) {
    return createOwnAccount(parts, given, { id, actor, insert: insertWithMail });
  }
  await database.transact(async (tx) => {
    await insertWithMail(tx);
    if (invitation === undefined) return;
    await acceptInvitation(database, tx, { token: invitation, person: { id, email }, actor, nowMs });
  });
}

interface Founder {
  readonly id: string;
  readonly actor: AuditActor;
  insert(tx: Db): Promise<void>;
}

/** A name that the person did not choose itself may be taken: it then gets a few letters more. */
async function createOwnAccount(
  parts: Pick<SignUpParts, "database" | "ledger" | "now">,
  { name, email, accountName }: Omit<NewSignUp, "password">,
  { id, actor, insert }: Founder,
): Promise<void> {
  const create = (free: string) =>
    createAccount(parts, { name: free, email, ownerId: id }, { actor, created: insert });
  if (accountName !== undefined) {
    await create(accountName);
    return;
  }
  const isTaken = (thrown: unknown) => thrown instanceof GatewayError && thrown.kind === "conflict";
  await create(name).catch(async (thrown: unknown) => {
    if (!isTaken(thrown) || (await findPerson(parts.database, email))) throw thrown;
    await create(`${name} ${id.slice(-6)}`);
  });
}

async function requireInvitation(
  database: Database,
  { invitation, email }: { readonly invitation: string; readonly email: string },
  nowMs: number,
): Promise<void> {
  const found = await findInvitation(database, invitation, nowMs);
  if (!found) throw new GatewayError("unknown_item");
  if (found.invitation.email !== email) throw new GatewayError("not_permitted");
}
