import { and, desc, eq, gt, inArray, lt, lte, ne } from "drizzle-orm";
import type { Database, Db, Tables } from "../../db/database.ts";
import { DAY_MS } from "../../domain/id-time.ts";
import { type AuditActor, recordChange } from "../audit-trail.ts";
import { type Person, readPerson } from "./people.ts";
import { SESSION_S } from "./session-cookie.ts";

/** `lastSeenAtMs` is at most this old while a session is in use, so that not each request writes. */
const SEEN_EVERY_MS = 5 * 60_000;
/** How far ahead the clock may have been that opened a session. */
export const AHEAD_MS_MAX = DAY_MS;
const SWEPT_MAX = 500;
/** Visitors begin sign-ins at providers and by passkeys, each with a proof: more than one pass may be needed. */
const SWEPT_PASSES_MAX = 20;
/** Sessions of one person: browsers and scripts that sign in again and again would otherwise fill the table. */
const SESSIONS_MAX = 20;

/** A session in force, and its person. */
export interface Session {
  readonly id: string;
  readonly person: Person;
  readonly address: string | undefined;
  readonly agent: string | undefined;
  readonly createdAtMs: number;
  /** Up to 5 minutes old. */
  readonly lastSeenAtMs: number;
  readonly expiresAtMs: number;
  /** When the person last gave a password or another proof in this session. */
  readonly confirmedAtMs: number | undefined;
  /** The identity at a provider that opened the session. */
  readonly identityId: string | undefined;
  /** The issuer of that identity; `undefined` where it is not linked any more. */
  readonly issuer: string | undefined;
  /** What opened the session, where neither a password nor a provider did. */
  readonly way?: "passkey" | undefined;
  /** The account inside which an operator acts. The time may have passed. */
  readonly acting: { readonly accountId: string; readonly untilMs: number } | undefined;
}

/** Finds the session of a token that has not expired, by the token's digest, with one query. */
export async function findSession(
  { db, tables: { people, sessions, identities } }: Database,
  digest: string,
  nowMs: number,
): Promise<Session | undefined> {
  const [row] = await db
    .select({ session: sessions, person: people, issuer: identities.issuer })
    .from(sessions)
    .innerJoin(people, eq(people.id, sessions.userId))
    .leftJoin(identities, eq(identities.id, sessions.identityId))
    .where(and(eq(sessions.token, digest), isInForce(sessions, nowMs)));
  return row && readSession(row);
}

/** Lists the sessions of a person that have not expired, newest first. */
export async function listSessions(
  { db, tables: { people, sessions, identities } }: Database,
  personId: string,
  nowMs: number,
): Promise<readonly Session[]> {
  const rows = await db
    .select({ session: sessions, person: people, issuer: identities.issuer })
    .from(sessions)
    .innerJoin(people, eq(people.id, sessions.userId))
    .leftJoin(identities, eq(identities.id, sessions.identityId))
    .where(and(eq(sessions.userId, personId), isInForce(sessions, nowMs)))
    .orderBy(desc(sessions.createdAt), desc(sessions.id));
  return rows.map(readSession);
}

/** A day more than a session lasts, for clocks that are corrected: a later end is of a clock that was far ahead. */
function isInForce({ expiresAt }: Tables["sessions"], nowMs: number) {
  return and(
    gt(expiresAt, new Date(nowMs)),
    lte(expiresAt, new Date(nowMs + SESSION_S * 1_000 + AHEAD_MS_MAX)),
  );
}

/** Records that a session is in use, unless that was recorded within 5 minutes. */
export async function touchSession(database: Database, session: Session, nowMs: number): Promise<void> {
  const ageMs = nowMs - session.lastSeenAtMs;
  // A negative age comes from a clock that was ahead: the time is corrected.
  if (ageMs >= 0 && ageMs < SEEN_EVERY_MS) return;
  await update(database, session.id, { updatedAt: new Date(nowMs) });
}

/** Whether a session was renewed more than a day ago. One of a provider ends, so that its groups are read again. */
export function needsRenewal({ expiresAtMs, identityId }: Session, nowMs: number): boolean {
  return identityId === undefined && expiresAtMs - nowMs < SESSION_S * 1_000 - DAY_MS;
}

/** Moves the expiry of a session to 14 days from now. */
export async function renewSession(database: Database, sessionId: string, nowMs: number): Promise<void> {
  const expiresAt = new Date(nowMs + SESSION_S * 1_000);
  await update(database, sessionId, { expiresAt, updatedAt: new Date(nowMs) });
}

/** Records that the person gave a password or another proof in a session. */
export async function confirmSession(database: Database, sessionId: string, nowMs: number): Promise<void> {
  await update(database, sessionId, { confirmedAtMs: nowMs });
}

/** Ends one session of a person. Returns `false` when the person has no such session. */
export async function endSession(
  database: Database,
  { actor, personId, sessionId }: { actor: AuditActor; personId: string; sessionId: string },
  nowMs: number,
): Promise<boolean> {
  const { sessions } = database.tables;
  return database.transact(async (tx) => {
    const isWanted = and(eq(sessions.id, sessionId), eq(sessions.userId, personId));
    const ended = await tx.delete(sessions).where(isWanted).returning({ id: sessions.id });
    if (ended.length === 0) return false;
    const change = { action: "session.ended", target: personId, before: { session: sessionId } };
    await recordChange(database, tx, actor, change, nowMs);
    return true;
  });
}

/** Ends a session that was opened by a first proof, and is not given to anyone without a second. */
export async function endOpenedSession(
  { transact, tables: { sessions } }: Database,
  digest: string,
): Promise<void> {
  await transact(async (tx) => {
    await tx.delete(sessions).where(eq(sessions.token, digest));
  });
}

/** Ends the sessions of a person, except `keptId`. Returns how many there were. */
export async function endSessions(
  database: Database,
  { actor, personId, keptId }: { actor: AuditActor; personId: string; keptId?: string | undefined },
  nowMs: number,
): Promise<number> {
  return database.transact(async (tx) => {
    const ended = await deleteSessions(database, tx, { personId, keptId });
    if (ended === 0) return 0;
    const change = { action: "sessions.ended", target: personId, before: { sessions: ended } };
    await recordChange(database, tx, actor, change, nowMs);
    return ended;
  });
}

/** Deletes the sessions of a person inside a transaction, or those of one way, except `keptId`. Returns how many. */
export async function deleteSessions(
  { tables: { sessions } }: Database,
  tx: Db,
  { personId, keptId, way }: Pick<Session, "way"> & { personId: string; keptId?: string | undefined },
): Promise<number> {
  const isOther = keptId === undefined ? undefined : ne(sessions.id, keptId);
  const isOfWay = way === undefined ? undefined : eq(sessions.way, way);
  const isWanted = and(eq(sessions.userId, personId), isOther, isOfWay);
  return (await tx.delete(sessions).where(isWanted).returning({ id: sessions.id })).length;
}

/** Ends the sessions of a person beyond 20, those first that were not used for the longest time. */
export async function boundSessions(
  { tables: { sessions }, transact }: Database,
  personId: string,
): Promise<void> {
  await transact(async (tx) => {
    const unused = await tx
      .select({ id: sessions.id })
      .from(sessions)
      .where(eq(sessions.userId, personId))
      .orderBy(desc(sessions.updatedAt), desc(sessions.id))
      .limit(SWEPT_MAX)
      .offset(SESSIONS_MAX);
    const ids = unused.map(({ id }) => id);
    if (ids.length > 0) await tx.delete(sessions).where(inArray(sessions.id, ids));
  });
}

/** Ends the links for a new password of a person, in a transaction. */
export async function endResetLinks(
  { tables: { proofs } }: Database,
  tx: Db,
  { personId }: { readonly personId: string },
): Promise<void> {
  await tx.delete(proofs).where(eq(proofs.value, personId));
}

/** Deletes expired sessions and proofs, at most 10,000 of each. Returns how many there were. */
export async function sweepSessions(database: Database, nowMs: number): Promise<number> {
  const { tables } = database;
  let swept = 0;
  for (const table of [tables.sessions, tables.proofs]) {
    for (let pass = 0; pass < SWEPT_PASSES_MAX; pass += 1) {
      const count = await sweepTable(database, table, nowMs);
      swept += count;
      if (count < SWEPT_MAX) break;
    }
  }
  return swept;
}

type SweptTable = Database["tables"]["sessions"] | Database["tables"]["proofs"];

async function sweepTable({ db, transact }: Database, table: SweptTable, nowMs: number): Promise<number> {
  const isExpired = lt(table.expiresAt, new Date(nowMs));
  const rows = await db.select({ id: table.id }).from(table).where(isExpired).limit(SWEPT_MAX);
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return 0;
  await transact(async (tx) => {
    await tx.delete(table).where(inArray(table.id, ids));
  });
  return ids.length;
}

type SessionRow = Database["tables"]["sessions"]["$inferSelect"];
type PersonRow = Database["tables"]["people"]["$inferSelect"];

async function update(
  { transact, tables: { sessions } }: Database,
  sessionId: string,
  values: Partial<SessionRow>,
): Promise<void> {
  await transact(async (tx) => {
    await tx.update(sessions).set(values).where(eq(sessions.id, sessionId));
  });
}

interface FoundSession {
  readonly session: SessionRow;
  readonly person: PersonRow;
  readonly issuer: string | null;
}

function readSession({ session, person, issuer }: FoundSession): Session {
  const { actingAccountId, actingUntilMs } = session;
  const isActing = actingAccountId !== null && actingUntilMs !== null;
  return {
    id: session.id,
    person: readPerson(person),
    address: session.ipAddress || undefined,
    agent: session.userAgent || undefined,
    createdAtMs: session.createdAt.getTime(),
    lastSeenAtMs: session.updatedAt.getTime(),
    expiresAtMs: session.expiresAt.getTime(),
    confirmedAtMs: session.confirmedAtMs ?? undefined,
    identityId: session.identityId ?? undefined,
    issuer: issuer ?? undefined,
    way: session.way ?? undefined,
    acting: isActing ? { accountId: actingAccountId, untilMs: actingUntilMs } : undefined,
  };
}
