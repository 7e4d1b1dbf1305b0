import { eq } from "drizzle-orm";
import type { Database, Db } from "../../db/database.ts";
import { type AuditActor, recordChange } from "../audit-trail.ts";
import { createOneTimePassword, type Passwords } from "./passwords.ts";
import { insertPerson, normaliseEmail, type Person, readPerson, setPasswordHash } from "./people.ts";
import { deleteSessions, endResetLinks } from "./sessions.ts";

export interface OperatorParts {
  readonly database: Database;
  readonly passwords: Passwords;
  readonly now?: () => number;
}

export interface NewOperator {
  readonly email: string;
  /** Default: "Operator". Not used for a person that exists. */
  readonly name?: string | undefined;
  /** An account that the operator owns as well. */
  readonly accountId?: string | undefined;
}

export interface CreatedOperator {
  readonly person: Person;
  /** Must be changed at the first sign-in. Returned only here: the database has its hash. */
  readonly oneTimePassword: string;
  readonly isNew: boolean;
}

/**
 * Creates a platform operator, or makes an existing person one. Either gets a one-time password; sessions of an
 * existing person end. Rejects with `wrong_shape` for a text that is no e-mail address.
 */
export async function createOperator(
  { database, passwords, now = Date.now }: OperatorParts,
  { email: text, name = "Operator", accountId }: NewOperator,
  actor: AuditActor,
): Promise<CreatedOperator> {
  const email = normaliseEmail(text);
  const oneTimePassword = createOneTimePassword();
  const passwordHash = await passwords.hash(oneTimePassword);
  const nowMs = now();
  return database.transact(async (tx) => {
    const promoted = await promote(database, tx, { email, passwordHash }, nowMs);
    const attributes = { name, email, emailVerified: false, isOperator: true, mustChangePassword: true };
    const person = promoted ?? (await insertPerson(database, tx, { ...attributes, passwordHash }, nowMs));
    const action = promoted ? "operator.password_reset" : "operator.created";
    const change = { action, target: person.id, after: { email, is_operator: true } };
    await recordChange(database, tx, actor, change, nowMs);
    if (accountId !== undefined) await addOwner(database, tx, { accountId, personId: person.id }, nowMs);
    return { person, oneTimePassword, isNew: promoted === undefined };
  });
}

/** Makes an existing person an operator with a new password. Returns `undefined` for an unknown e-mail. */
async function promote(
  database: Database,
  tx: Db,
  { email, passwordHash }: { readonly email: string; readonly passwordHash: string },
  nowMs: number,
): Promise<Person | undefined> {
  const { people } = database.tables;
  const [row] = await tx
    .update(people)
    .set({ isOperator: true, mustChangePassword: true, updatedAt: new Date(nowMs) })
    .where(eq(people.email, email))
    .returning();
  if (!row) return undefined;
  await setPasswordHash(database, tx, { personId: row.id, passwordHash }, nowMs);
  await deleteSessions(database, tx, { personId: row.id });
  await endResetLinks(database, tx, { personId: row.id });
  return readPerson(row);
}

async function addOwner(
  { tables: { members } }: Database,
  tx: Db,
  member: { readonly accountId: string; readonly personId: string },
  nowMs: number,
): Promise<void> {
  await tx
    .insert(members)
    .values({ ...member, role: "owner", createdAtMs: nowMs })
    .onConflictDoNothing();
}
