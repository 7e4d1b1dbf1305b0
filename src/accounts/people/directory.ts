import { and, count, eq, inArray } from "drizzle-orm";
import type { Database, DatabaseParts, Db, Tables } from "../../db/database.ts";
import { GatewayError } from "../../errors.ts";
import { type AuditActor, recordChange } from "../audit-trail.ts";
import { containsText } from "../contains-text.ts";
import { orderRows } from "../ordered-rows.ts";
import { endRightsOfOperator } from "./left-rights.ts";
import { lastSeen } from "./members.ts";
import { deleteSessions } from "./sessions.ts";

/** A person as operators see it. */
export interface ListedPerson {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly isOperator: boolean;
  readonly createdAtMs: number;
  readonly lastSeenAtMs: number | undefined;
  readonly accounts: number;
  readonly sessions: number;
}

export interface DirectoryPage {
  /** Part of a name or an e-mail, in any case. */
  readonly text?: string | undefined;
  /** Default: by id, which is the order of their sign-up. */
  readonly sort?: string | undefined;
  readonly token?: string | undefined;
  readonly size: number;
}

/** What people are ordered by. */
export const PEOPLE_ORDERS = ["name"] as const;

/** Lists people. */
export async function listPeople(
  database: Database,
  { text, sort, token, size }: DirectoryPage,
): Promise<{ readonly items: readonly ListedPerson[]; readonly next: string | null }> {
  const { db, tables } = database;
  const { people } = tables;
  const orders = { name: { by: people.name, isText: true } } as const;
  const ordered = orderRows({ orders, id: people.id, sort, isOldestFirst: true, token });
  const rows = await db
    .select({ row: people, value: ordered.value })
    .from(people)
    .where(and(containsText([people.name, people.email], text), ordered.isAfter))
    .orderBy(ordered.orderBy)
    .limit(size + 1);
  const { items, next } = ordered.pageOf(rows, size);
  return { items: await describePeople(database, items), next };
}

async function describePeople(
  database: Database,
  rows: readonly Tables["people"]["$inferSelect"][],
): Promise<readonly ListedPerson[]> {
  const ids = rows.map(({ id }) => id);
  const { members, sessions } = database.tables;
  const [seen, accountsOf, sessionsOf] = await Promise.all([
    lastSeen(database, ids),
    countBy(database.db, { table: members, column: members.personId, ids }),
    countBy(database.db, { table: sessions, column: sessions.userId, ids }),
  ]);
  return rows.map(({ id, name, email, emailVerified, isOperator, createdAt }) => ({
    id,
    name,
    email,
    emailVerified,
    isOperator,
    createdAtMs: createdAt.getTime(),
    lastSeenAtMs: seen.get(id),
    accounts: accountsOf.get(id) ?? 0,
    sessions: sessionsOf.get(id) ?? 0,
  }));
}

type MembersTable = Database["tables"]["members"];
type SessionsTable = Database["tables"]["sessions"];

interface Counted {
  readonly table: MembersTable | SessionsTable;
  readonly column: MembersTable["personId"] | SessionsTable["userId"];
  readonly ids: readonly string[];
}

async function countBy(db: Db, { table, column, ids }: Counted): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .select({ id: column, count: count() })
    .from(table)
    .where(inArray(column, [...ids]))
    .groupBy(column);
  return new Map(rows.map((row) => [row.id, Number(row.count)]));
}

const ONE_OPERATOR = "The platform keeps an operator: make another person operator first.";

interface OperatorChange {
  readonly personId: string;
  readonly isOperator: boolean;
  /** Id of the operator who takes over the platform's keys of a former one. Without one, they are revoked. */
  readonly keysTo?: string | undefined;
}

/**
 * Makes a person an operator, or takes it back, with the platform's keys that the person made. A change ends the
 * person's sessions, with whatever they acted in or watch; without a change nothing happens. Rejects with
 * `unknown_item`, with `conflict` when no operator would be left, and with `wrong_shape` for a wrong `keysTo`.
 */
export async function setOperator(
  { database, now }: DatabaseParts,
  actor: AuditActor,
  { personId, isOperator, keysTo }: OperatorChange,
): Promise<ListedPerson> {
  const { people } = database.tables;
  const row = await database.transact(async (tx) => {
    // Locks every operator, so that two of them cannot demote each other at once.
    const operators = await tx
      .update(people)
      .set({ isOperator: true })
      .where(eq(people.isOperator, true))
      .returning({ id: people.id, identityId: people.operatorIdentityId });
    const isOnly = operators.length === 1 && operators[0]?.id === personId;
    if (!isOperator && isOnly) throw new GatewayError("conflict", { message: ONE_OPERATOR });
    // What a person decides, groups of a provider no longer take back. An operator's door ends with the right.
    const set = { isOperator, operatorIdentityId: null, ...(isOperator ? {} : { passwordUntilMs: null }) };
    const [changed] = await tx.update(people).set(set).where(eq(people.id, personId)).returning();
    if (!changed) throw new GatewayError("unknown_item");
    const before = operators.find(({ id }) => id === personId);
    // A right of groups that becomes one of the person's own is a change: it counts in more sessions then.
    const isSame = isOperator ? before?.identityId === null : !before;
    if (isSame) return changed;
    await deleteSessions(database, tx, { personId });
    const nowMs = now();
    const action = isOperator ? "operator.added" : "operator.removed";
    const change = { action, target: personId, after: { email: changed.email } };
    await recordChange(database, tx, actor, change, nowMs);
    if (!isOperator) await endRightsOfOperator({ database, tx, actor, nowMs, keysTo }, personId);
    return changed;
  });
  const [person] = await describePeople(database, [row]);
  if (!person) throw new GatewayError("unknown_item");
  return person;
}

/** Signs a person out everywhere. Returns the number of ended sessions. Rejects with `unknown_item`. */
export async function endSessions(
  { database, now }: DatabaseParts,
  actor: AuditActor,
  personId: string,
): Promise<number> {
  const { people, sessions } = database.tables;
  return database.transact(async (tx) => {
    const [person] = await tx.select({ id: people.id }).from(people).where(eq(people.id, personId));
    if (!person) throw new GatewayError("unknown_item");
    const ended = await tx
      .delete(sessions)
      .where(eq(sessions.userId, personId))
      .returning({ id: sessions.id });
    const change = { action: "sessions.ended", target: personId, after: { ended: ended.length } };
    await recordChange(database, tx, actor, change, now());
    return ended.length;
  });
}
