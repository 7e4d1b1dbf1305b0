import { and, asc, eq, isNull, or } from "drizzle-orm";
import type { Database, Db, Tables } from "../../db/database.ts";
import { isMailAddress } from "../../domain/mail-address.ts";
import { GatewayError } from "../../errors.ts";
import type { Account } from "../accounts.ts";
import { type AuditActor, type Role, recordChange } from "../audit-trail.ts";

/** A human who signs in to the console. */
export interface Person {
  readonly id: string;
  readonly name: string;
  /** In lower case; unique. */
  readonly email: string;
  readonly emailVerified: boolean;
  readonly isOperator: boolean;
  /** Set with a one-time password, until it is replaced. */
  readonly mustChangePassword: boolean;
  /** The identity whose groups made the person an operator, which counts in sessions of that identity alone. */
  readonly operatorIdentityId: string | undefined;
  /** Until when the password is accepted although the file requires another way to sign in. */
  readonly passwordUntilMs: number | undefined;
}

interface NewPerson extends Omit<Person, "id" | "operatorIdentityId" | "passwordUntilMs"> {
  /** Default: a new UUIDv7. */
  readonly id?: string | undefined;
  /** `undefined` for a person who signs in at a provider. */
  readonly passwordHash: string | undefined;
  /** See {@link Person.passwordUntilMs}. */
  readonly passwordUntilMs?: number | undefined;
}

/** Writes a person in a transaction, with a password where one is given. Rejects with `conflict` when the e-mail is taken. */
export async function insertPerson(
  { tables: { credentials, people } }: Database,
  tx: Db,
  { passwordHash, id: givenId, ...attributes }: NewPerson,
  nowMs: number,
): Promise<Person> {
  const id = givenId ?? Bun.randomUUIDv7("hex", nowMs);
  const at = { createdAt: new Date(nowMs), updatedAt: new Date(nowMs) };
  const [row] = await tx
    .insert(people)
    .values({ id, ...attributes, ...at })
    .onConflictDoNothing()
    .returning();
  if (!row) throw new GatewayError("conflict");
  if (passwordHash === undefined) return readPerson(row);
  // The sign-in library finds a password by these three columns.
  const credential = { accountId: id, providerId: "credential", userId: id, password: passwordHash };
  await tx.insert(credentials).values({ id: Bun.randomUUIDv7("hex", nowMs), ...credential, ...at });
  return readPerson(row);
}

/** Replaces the password of a person in a transaction. */
export async function setPasswordHash(
  { tables: { credentials } }: Database,
  tx: Db,
  { personId, passwordHash }: { readonly personId: string; readonly passwordHash: string },
  nowMs: number,
): Promise<void> {
  const at = new Date(nowMs);
  const changed = await tx
    .update(credentials)
    .set({ password: passwordHash, updatedAt: at })
    .where(eq(credentials.userId, personId))
    .returning({ id: credentials.id });
  if (changed.length > 0) return;
  const credential = { accountId: personId, providerId: "credential", userId: personId };
  const id = Bun.randomUUIDv7("hex", nowMs);
  await tx
    .insert(credentials)
    .values({ id, ...credential, password: passwordHash, createdAt: at, updatedAt: at });
}

/** Finds a person by the normalised e-mail. */
export async function findPerson(
  { db, tables: { people } }: Database,
  email: string,
): Promise<Person | undefined> {
  const [row] = await db.select().from(people).where(eq(people.email, email));
  return row && readPerson(row);
}

/** Finds a person by its id. */
export async function findPersonById(
  { db, tables: { people } }: Database,
  id: string,
): Promise<Person | undefined> {
  const [row] = await db.select().from(people).where(eq(people.id, id));
  return row && readPerson(row);
}

/** Changes the name of a person. */
export async function renamePerson(
  database: Database,
  { actor, person, name }: { actor: AuditActor; person: Person; name: string },
  nowMs: number,
): Promise<Person> {
  const { people } = database.tables;
  await database.transact(async (tx) => {
    await tx
      .update(people)
      .set({ name, updatedAt: new Date(nowMs) })
      .where(eq(people.id, person.id));
    const names = { before: { name: person.name }, after: { name } };
    const change = { action: "person.renamed", target: person.id, ...names };
    await recordChange(database, tx, actor, change, nowMs);
  });
  return { ...person, name };
}

/** An account of a person. */
interface Membership {
  readonly accountId: string;
  readonly name: string;
  readonly state: Account["state"];
  readonly role: Role;
}

/** Lists the accounts in which a signed-in person has a role, by name. */
export async function listMemberships(
  { db, tables }: Database,
  actor: Pick<AuditActor, "id" | "session">,
): Promise<readonly Membership[]> {
  const { accounts, members } = tables;
  return db
    .select({ accountId: accounts.id, name: accounts.name, state: accounts.state, role: members.role })
    .from(members)
    .innerJoin(accounts, eq(accounts.id, members.accountId))
    .where(isMemberNow(tables, actor))
    .orderBy(asc(accounts.name), asc(accounts.id));
}

/**
 * Selects the memberships that count for an actor. A role that groups of a provider gave counts in sessions of that
 * identity alone: it would otherwise outlive the person's place in the group.
 */
export function isMemberNow(
  { members }: Pick<Tables, "members">,
  { id, session }: Pick<AuditActor, "id" | "session">,
) {
  const isOwn = isNull(members.identityId);
  const { identityId } = session ?? {};
  const isGiven = identityId === undefined ? isOwn : or(isOwn, eq(members.identityId, identityId));
  return and(eq(members.personId, id), isGiven);
}

export function readPerson(row: Database["tables"]["people"]["$inferSelect"]): Person {
  const { id, name, email, emailVerified, isOperator, mustChangePassword } = row;
  const operatorIdentityId = row.operatorIdentityId ?? undefined;
  const passwordUntilMs = row.passwordUntilMs ?? undefined;
  return {
    id,
    name,
    email,
    emailVerified,
    isOperator,
    mustChangePassword,
    operatorIdentityId,
    passwordUntilMs,
  };
}

/**
 * Returns an e-mail address as it is stored: composed (NFC) and in lower case. Throws `wrong_shape` for a text
 * that is no plain address. A host without a dot, such as `localhost`, is allowed.
 */
export function normaliseEmail(text: string): string {
  const email = text.trim().normalize("NFC").toLowerCase();
  if (!isMailAddress(email)) throw new GatewayError("wrong_shape", { path: "email" });
  return email;
}
