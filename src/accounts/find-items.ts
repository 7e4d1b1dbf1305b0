import { and, asc, eq, inArray, or } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { chunksOf } from "../domain/chunks.ts";
import type { Scope, ScopeKind } from "../domain/scope.ts";
import type { Receipt } from "../ledger/records.ts";
import type { Account } from "./accounts.ts";
import type { Actor } from "./audit-trail.ts";
import { containsText } from "./contains-text.ts";
import { hintOf } from "./keys/key.ts";
import { isMemberNow } from "./people/people.ts";
import { DEFAULT_PROJECT_NAME } from "./projects.ts";

/** Ids of one query. */
const IDS_MAX = 500;

/** The accounts that an actor may read: their ids, or `all` for operators. */
export type VisibleAccounts = readonly string[] | "all";

/** A key that was found; its account is visible to the searcher. */
interface FoundKey {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly hint: string;
}

export async function findVisibleAccounts(
  { db, tables }: Database,
  actor: Actor,
  nowMs: number,
): Promise<VisibleAccounts> {
  if (actor.isOperator) return "all";
  if (actor.role) return [actor.role.accountId];
  const rows = await db
    .select({ accountId: tables.members.accountId })
    .from(tables.members)
    .where(isMemberNow(tables, actor));
  const { acting } = actor;
  const ids = rows.map(({ accountId }) => accountId);
  return acting && nowMs < acting.untilMs ? [...ids, acting.accountId] : ids;
}

/** Whether an account is among those of {@link findVisibleAccounts}. */
export function isVisible(visible: VisibleAccounts, accountId: string): boolean {
  return visible === "all" || visible.includes(accountId);
}

/** Finds keys by id, by hint, by a secret that begins with the hint, and by a part of the name. */
export async function searchKeys(
  { db, tables: { apiKeys } }: Database,
  visible: VisibleAccounts,
  { text, limit }: { readonly text: string; readonly limit: number },
): Promise<readonly FoundKey[]> {
  if (visible.length === 0) return [];
  const { id, accountId, name, hint } = apiKeys;
  const isMatch = or(eq(id, text), eq(hint, hintOf(text)), containsText([name], text));
  const isSeen = visible === "all" ? undefined : inArray(accountId, [...visible]);
  return db
    .select({ id, accountId, name, hint })
    .from(apiKeys)
    .where(and(isMatch, isSeen))
    .orderBy(asc(name), asc(id))
    .limit(limit);
}

/** Finds accounts by id and by a part of the name. */
export async function searchAccounts(
  { db, tables: { accounts } }: Database,
  visible: VisibleAccounts,
  { text, limit }: { readonly text: string; readonly limit: number },
): Promise<readonly Pick<Account, "id" | "name">[]> {
  if (visible.length === 0) return [];
  const { id, name } = accounts;
  const isSeen = visible === "all" ? undefined : inArray(id, [...visible]);
  return db
    .select({ id, name })
    .from(accounts)
    .where(and(or(eq(id, text), containsText([name], text)), isSeen))
    .orderBy(asc(name), asc(id))
    .limit(limit);
}

/**
 * Finds the names of keys by their ids, among those of one account or of all. A receipt of an internal service
 * may name any key: an account sees the names of its own only.
 */
export async function findKeyNames(
  { db, tables: { apiKeys } }: Database,
  accountId: string | undefined,
  keyIds: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (const ids of chunksOf([...new Set(keyIds)], IDS_MAX)) {
    const isNamed = inArray(apiKeys.id, ids);
    const isOwn = accountId === undefined ? undefined : eq(apiKeys.accountId, accountId);
    const rows = await db
      .select({ id: apiKeys.id, name: apiKeys.name })
      .from(apiKeys)
      .where(and(isNamed, isOwn));
    for (const { id, name } of rows) names.set(id, name);
  }
  return names;
}

/** Finds the projects of keys of one account; keys of the default one are left out. */
export async function findKeyProjects(
  { db, tables: { apiKeys } }: Database,
  accountId: string,
  keyIds: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const projects = new Map<string, string>();
  for (const ids of chunksOf([...new Set(keyIds)], IDS_MAX)) {
    const isNamed = inArray(apiKeys.id, ids);
    const rows = await db
      .select({ id: apiKeys.id, projectId: apiKeys.projectId })
      .from(apiKeys)
      .where(and(isNamed, eq(apiKeys.accountId, accountId)));
    for (const { id, projectId } of rows) if (projectId !== null) projects.set(id, projectId);
  }
  return projects;
}

/** What a receipt counts for. */
type CountedReceipt = Pick<Receipt, "walletId" | "keyId" | "scopes">;

/** Finds the names of the keys, projects and members that a receipt counts for, by their ids. */
export function findScopeNames(
  database: Database,
  { walletId, keyId, scopes }: CountedReceipt,
): Promise<ReadonlyMap<string, string>> {
  return findNames(database, walletId, [{ kind: "key", id: keyId }, ...scopes]);
}

/**
 * Finds the names of keys, projects and members of one account by their ids. Of people, it finds those who made keys of
 * the account.
 */
export async function findNames(
  database: Database,
  accountId: string,
  scopes: readonly Scope[],
): Promise<ReadonlyMap<string, string>> {
  const { db, tables } = database;
  const { apiKeys, people, projects } = tables;
  const idsOf = (kind: ScopeKind) => scopes.filter((scope) => scope.kind === kind).map(({ id }) => id);
  const names = new Map(await findKeyNames(database, accountId, [...idsOf("key"), ...idsOf("parent_key")]));
  const projectIds = idsOf("project");
  if (projectIds.length > 0) {
    if (projectIds.includes(accountId)) names.set(accountId, DEFAULT_PROJECT_NAME);
    const isOwn = and(inArray(projects.id, projectIds), eq(projects.accountId, accountId));
    const rows = await db.select({ id: projects.id, name: projects.name }).from(projects).where(isOwn);
    for (const { id, name } of rows) names.set(id, name);
  }
  const members = idsOf("member");
  if (members.length > 0) {
    const isOwn = and(eq(apiKeys.createdBy, people.id), eq(apiKeys.accountId, accountId));
    const rows = await db
      .select({ id: people.id, name: people.name })
      .from(people)
      .innerJoin(apiKeys, isOwn)
      .where(inArray(people.id, members));
    for (const { id, name } of rows) names.set(id, name);
  }
  return names;
}

/** Finds the names of accounts by their ids. */
export async function findAccountNames(
  { db, tables: { accounts } }: Database,
  accountIds: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (const ids of chunksOf([...new Set(accountIds)], IDS_MAX)) {
    const isNamed = inArray(accounts.id, ids);
    const rows = await db.select({ id: accounts.id, name: accounts.name }).from(accounts).where(isNamed);
    for (const { id, name } of rows) names.set(id, name);
  }
  return names;
}

/** Finds the names of people and management keys by their ids. */
export async function findAuthorNames(
  { db, tables: { people, managementKeys } }: Database,
  authorIds: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(authorIds)];
  if (ids.length === 0) return new Map();
  const rows = await Promise.all(
    [people, managementKeys].map((table) =>
      db.select({ id: table.id, name: table.name }).from(table).where(inArray(table.id, ids)),
    ),
  );
  return new Map(rows.flat().map(({ id, name }) => [id, name]));
}
