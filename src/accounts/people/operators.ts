import { and, eq } from "drizzle-orm";
import type { Database, DatabaseParts, Db } from "../../db/database.ts";
import { printTime } from "../../domain/id-time.ts";
import { GatewayError } from "../../errors.ts";
import { findAccount } from "../accounts.ts";
import { type Actor, type AuditActor, recordChange } from "../audit-trail.ts";
import { createOneTimePassword, type Passwords } from "./passwords.ts";
import { insertPerson, normaliseEmail, type Person, readPerson, setPasswordHash } from "./people.ts";
import { deleteSessions, endResetLinks } from "./sessions.ts";
import { endUnprovenWays } from "./sign-in-ways.ts";

interface OperatorParts {
  readonly database: Database;
  readonly passwords: Passwords;
  readonly now?: () => number;
}

interface NewOperator {
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
  parts: OperatorParts,
  wish: NewOperator,
  actor: AuditActor,
): Promise<CreatedOperator> {
  return parts.database.transact(await prepareOperator(parts, wish, actor));
}

/** Like {@link createOperator}, for a transaction of the caller: the password is hashed before it. */
export async function prepareOperator(
  { database, passwords, now = Date.now }: OperatorParts,
  { email: text, name = "Operator", accountId }: NewOperator,
  actor: AuditActor,
): Promise<(tx: Db) => Promise<CreatedOperator>> {
  const email = normaliseEmail(text);
  const oneTimePassword = createOneTimePassword();
  const passwordHash = await passwords.hash(oneTimePassword);
  const nowMs = now();
  return async (tx) => {
    const promoted = await promote(database, tx, { email, passwordHash, actor }, nowMs);
    const attributes = { name, email, emailVerified: false, isOperator: true, mustChangePassword: true };
    const { passwordUntilMs } = openDoor(nowMs);
    const person =
      promoted ?? (await insertPerson(database, tx, { ...attributes, passwordHash, passwordUntilMs }, nowMs));
    const action = promoted ? "operator.password_reset" : "operator.created";
    const change = { action, target: person.id, after: { email, is_operator: true } };
    await recordChange(database, tx, actor, change, nowMs);
    if (accountId !== undefined) await addOwner(database, tx, { accountId, personId: person.id }, nowMs);
    return { person, oneTimePassword, isNew: promoted === undefined };
  };
}

/** Returns the operators of this gateway. */
export async function findOperators({ db, tables: { people } }: Database): Promise<readonly Person[]> {
  return (await db.select().from(people).where(eq(people.isOperator, true))).map(readPerson);
}

/** How long an operator's new password is accepted although the file requires another way to sign in. */
const DOOR_MS = 24 * 60 * 60_000;

/**
 * Makes an existing person an operator with a new password. Passkeys and identities of an address that is not proven end
 * with a new right: others could have claimed the address. Returns `undefined` for an unknown e-mail.
 */
async function promote(
  database: Database,
  tx: Db,
  { email, passwordHash, actor }: { email: string; passwordHash: string; actor: AuditActor },
  nowMs: number,
): Promise<Person | undefined> {
  const { people } = database.tables;
  const [before] = await tx.select().from(people).where(eq(people.email, email));
  if (!before) return undefined;
  const personId = before.id;
  const set = { isOperator: true, operatorIdentityId: null, mustChangePassword: true, ...openDoor(nowMs) };
  const [row] = await tx.update(people).set(set).where(eq(people.id, personId)).returning();
  await setPasswordHash(database, tx, { personId, passwordHash }, nowMs);
  await deleteSessions(database, tx, { personId });
  await endResetLinks(database, tx, { personId });
  if (!before.isOperator && !before.emailVerified) {
    await endUnprovenWays(database, tx, { actor, personId }, nowMs);
  }
  return row && readPerson(row);
}

function openDoor(nowMs: number) {
  return { passwordUntilMs: nowMs + DOOR_MS, updatedAt: new Date(nowMs) };
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

const ACTING_MS = 30 * 60_000;

/** A session of an operator inside an account. */
interface Acting {
  readonly accountId: string;
  readonly accountName: string;
  readonly untilMs: number;
}

/** Whether an operator acts now. An end too far ahead was written before a clock was set back. */
export function isActing({ untilMs }: Pick<Acting, "untilMs">, nowMs: number): boolean {
  return nowMs < untilMs && untilMs - nowMs <= ACTING_MS;
}

/**
 * Lets an operator act inside an account for 30 minutes, in this session only. The account's audit trail
 * shows it. Rejects with `unknown_item`, and with `not_permitted` without a session, as for management keys.
 */
export async function beginActing(
  { database, now }: DatabaseParts,
  actor: Actor,
  { accountId, reason }: { readonly accountId: string; readonly reason: string },
): Promise<Acting> {
  const { session } = actor;
  if (!session) throw new GatewayError("not_permitted");
  const account = await findAccount(database, accountId);
  if (account?.id !== accountId) throw new GatewayError("unknown_item");
  const nowMs = now();
  const untilMs = nowMs + ACTING_MS;
  await setActing(database, actor, { session: session.id, accountId, untilMs }, (tx) => {
    const after = { reason, until: printTime(untilMs) };
    return recordChange(
      database,
      tx,
      { ...actor, acting: { accountId, untilMs } },
      { accountId, action: "account.acting_began", target: accountId, after },
      nowMs,
    );
  });
  return { accountId, accountName: account.name, untilMs };
}

/** Ends the session inside an account. Does nothing without one. */
export async function endActing({ database, now }: DatabaseParts, actor: Actor): Promise<void> {
  const { session, acting } = actor;
  if (!session || !acting) return;
  const { accountId } = acting;
  const change = { accountId, action: "account.acting_ended", target: accountId };
  await setActing(database, actor, { session: session.id, accountId: null, untilMs: null }, (tx) =>
    recordChange(database, tx, actor, change, now()),
  );
}

interface NewActing {
  readonly session: string;
  readonly accountId: string | null;
  readonly untilMs: number | null;
}

async function setActing(
  database: Database,
  actor: Actor,
  { session, accountId, untilMs }: NewActing,
  record: (tx: Database["db"]) => Promise<void>,
): Promise<void> {
  const { sessions } = database.tables;
  await database.transact(async (tx) => {
    const changed = await tx
      .update(sessions)
      .set({ actingAccountId: accountId, actingUntilMs: untilMs })
      .where(and(eq(sessions.id, session), eq(sessions.userId, actor.id)))
      .returning({ id: sessions.id });
    if (changed.length === 0) throw new GatewayError("no_session");
    await record(tx);
  });
}
