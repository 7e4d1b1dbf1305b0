import { and, asc, count, eq, isNull, sql } from "drizzle-orm";
import type { Database, Db, Tables } from "../db/database.ts";
import { GatewayError } from "../errors.ts";

/** A project of an account. The account's default one has the account's id. */
export interface Project {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly createdAtMs: number;
  /** An archived project takes no new keys; its keys stay in force. */
  readonly archivedAtMs: number | undefined;
  /** From 1; increases with each change. */
  readonly version: number;
}

/** The name of an account's default project until an owner changes it. No other project may have it. */
export const DEFAULT_PROJECT_NAME = "Default";

/**
 * Locks a project until the transaction ends, for a key that it is to own. Rejects with `wrong_shape` unless it is
 * one of the account, whatever else has the id, and with `conflict` when it is archived.
 */
export async function lockOpenProject(
  database: Database,
  tx: Db,
  project: Pick<Project, "id" | "accountId">,
): Promise<void> {
  const { projects } = database.tables;
  const [row] = await tx
    .update(projects)
    .set({ version: sql`${projects.version}` })
    .where(isProject(database, project))
    .returning({ archivedAtMs: projects.archivedAtMs });
  if (!row) throw new GatewayError("wrong_shape", { path: "project_id" });
  if (row.archivedAtMs !== null) throw new GatewayError("conflict");
}

/** Lists the projects of an account, its default one first, then the oldest first. */
export async function listProjects(
  { db, tables: { projects } }: Database,
  account: DefaultOwner,
): Promise<readonly Project[]> {
  const order = [asc(projects.createdAtMs), asc(projects.id)];
  const rows = await db
    .select()
    .from(projects)
    .where(eq(projects.accountId, account.id))
    .orderBy(...order);
  const own = rows.filter(({ id }) => id !== account.id).map(readProject);
  const stored = rows.find(({ id }) => id === account.id);
  return [stored ? readProject(stored) : defaultOf(account), ...own];
}

/** Finds a project of an account by its id. One of another account is as unknown as one that does not exist. */
export async function findProject(
  database: Database,
  account: DefaultOwner,
  id: string,
): Promise<Project | undefined> {
  const isOwn = isProject(database, { id, accountId: account.id });
  const [row] = await database.db.select().from(database.tables.projects).where(isOwn);
  if (row) return readProject(row);
  return id === account.id ? defaultOf(account) : undefined;
}

interface DefaultOwner {
  readonly id: string;
  readonly createdAtMs: number;
}

/** The default project before its first change. */
function defaultOf({ id, createdAtMs }: DefaultOwner): Project {
  return { id, accountId: id, name: DEFAULT_PROJECT_NAME, createdAtMs, archivedAtMs: undefined, version: 1 };
}

/** Counts the keys in force of each project; those of the default one under the account's id. */
export async function countProjectKeys(
  { db, tables: { apiKeys } }: Database,
  accountId: string,
): Promise<ReadonlyMap<string, number>> {
  const isOwn = and(eq(apiKeys.accountId, accountId), isNull(apiKeys.revokedAtMs), isNull(apiKeys.parentId));
  const rows = await db
    .select({ projectId: apiKeys.projectId, count: count() })
    .from(apiKeys)
    .where(isOwn)
    .groupBy(apiKeys.projectId);
  return new Map(rows.map((row) => [row.projectId ?? accountId, row.count]));
}

/** The condition that a row is a project of its account. */
export function isProject(
  { tables: { projects } }: Database,
  { id, accountId }: Pick<Project, "id" | "accountId">,
) {
  return and(eq(projects.id, id), eq(projects.accountId, accountId));
}

export function readProject(row: Tables["projects"]["$inferSelect"]): Project {
  return { ...row, archivedAtMs: row.archivedAtMs ?? undefined };
}
