import type { Database, Db } from "../../db/database.ts";
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

function requireAdmission({ policy }: SignUpParts, { invitation }: NewSignUp): void {
  const isAdmitted = policy() === "open" || (policy() === "invited" && invitation !== undefined);
  if (!isAdmitted) throw new GatewayError("not_permitted");
}

async function create(parts: SignUpParts, visitor: Visitor, given: NewSignUp): Promise<void> {
  const { database, passwords, now } = parts;
  const { email, name, invitation } = given;
  // A wrong invitation and a taken address are found before the hash, which is the costly part.
  if (invitation !== undefined) await requireInvitation(database, { invitation, email }, now());
  if (await findPerson(database, email)) throw new GatewayError("conflict");
  const passwordHash = await passwords.hash(given.password, hashCallerOf(visitor));
  const nowMs = now();
  const id = Bun.randomUUIDv7("hex", nowMs);
  const actor: AuditActor = { kind: "person", id, name: email, address: visitor.address };
  const insert = async (tx: Db) => {
    const flags = { emailVerified: false, isOperator: false, mustChangePassword: false };
    await insertPerson(database, tx, { id, name, email, ...flags, passwordHash }, nowMs);
    const change = { action: "person.created", target: id, after: { name, email } };
    await recordChange(database, tx, actor, change, nowMs);
  };
  if (invitation === undefined) {
    const order = { template: "email_verification", address: email, data: {} } as const;
    const insertUnproven = async (tx: Db) => {
      await insert(tx);
      await parts.mails.enqueue(tx, order);
    };
    return createOwnAccount(parts, given, { id, actor, insert: insertUnproven });
  }
  await database.transact(async (tx) => {
    await insert(tx);
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
  parts: SignUpParts,
  { name, email, accountName }: NewSignUp,
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
