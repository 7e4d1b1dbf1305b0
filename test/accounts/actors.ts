import type { Actor, Role } from "../../src/accounts/audit-trail.ts";
import type { Database } from "../../src/db/database.ts";

/** Adds a person with a confirmed address to the directory, and returns it as an actor with a session of its own. */
export async function addPerson(
  { db, tables }: Database,
  {
    email = `${Bun.randomUUIDv7()}@example.com`,
    isOperator = false,
    emailVerified = true,
  }: { email?: string; isOperator?: boolean; emailVerified?: boolean } = {},
): Promise<Actor> {
  const id = Bun.randomUUIDv7();
  const at = { createdAt: new Date(), updatedAt: new Date() };
  await db.insert(tables.people).values({ id, name: "Ada", email, emailVerified, isOperator, ...at });
  const sessionId = await addSession({ db, tables }, id);
  const session = { id: sessionId, mustChangePassword: false, confirmedAtMs: Date.now() };
  const none = { role: undefined, acting: undefined };
  return { kind: "person", id, name: email, isOperator, ...none, session, address: "192.0.2.1" };
}

/** Adds a session of a day to a person, and returns its id. */
export async function addSession(
  { db, tables }: Pick<Database, "db" | "tables">,
  userId: string,
): Promise<string> {
  const [id, createdAt] = [Bun.randomUUIDv7(), new Date()];
  const times = { createdAt, updatedAt: createdAt, expiresAt: new Date(createdAt.getTime() + 86_400_000) };
  await db.insert(tables.sessions).values({ id, userId, token: `token of ${id}`, ...times });
  return id;
}

/** Adds a person with a role in an account. */
export async function addMember(
  database: Database,
  accountId: string,
  role: Role,
  given?: Parameters<typeof addPerson>[1],
): Promise<Actor> {
  const person = await addPerson(database, given);
  const { db, tables } = database;
  await db.insert(tables.members).values({ accountId, personId: person.id, role, createdAtMs: Date.now() });
  return person;
}

/** Returns the actions of the audit trail of an account, oldest first. */
export async function actionsOf({ db, tables }: Database, accountId: string): Promise<readonly string[]> {
  const rows = await db.select().from(tables.auditEntries);
  return rows
    .filter((row) => row.accountId === accountId)
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ action }) => action);
}
