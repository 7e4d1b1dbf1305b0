import { and, count, eq } from "drizzle-orm";
import type { Database, Db } from "../db/database.ts";
import { GatewayError } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { platform } from "../platform.ts";
import { lockAccount } from "./accounts.ts";
import { beginScopes } from "./attribution/settings.ts";
import { type AuditActor, COMMAND_LINE, recordChange } from "./audit-trail.ts";
import { requirePresentRight } from "./people/present-rights.ts";
import { DEFAULT_PROJECT_NAME, isProject, type Project, readProject } from "./projects.ts";
import {
  describeSpendingLimit,
  limitAmong,
  putSpendingLimit,
  requireTimeZone,
  type SpendingLimit,
  whileLeased,
} from "./spending-limits.ts";

export interface ProjectParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "setSpendLimit" | "deleteSpendLimit" | "spendLimits">;
  readonly now?: () => number;
  /** Who changes something, for the audit trail. Default: the command line. */
  readonly actor?: AuditActor;
}

export interface NewProject {
  readonly accountId: string;
  readonly name: string;
  /** What all keys of the project may spend together. */
  readonly spendingLimit?: SpendingLimit | undefined;
  /** What each end user of the project may spend. */
  readonly endUserLimit?: SpendingLimit | undefined;
}

/** The most projects of an account, archived ones included. */
const PROJECTS_MAX = 1_000;
/**
 * Creates a project. `created` runs in the transaction that stores it. Rejects with `conflict` for a taken name, and
 * when the account has 1,000 projects.
 */
export async function createProject(
  { database, ledger, now = platform.now, actor = COMMAND_LINE }: ProjectParts,
  { accountId, name, spendingLimit, endUserLimit }: NewProject,
  created?: (tx: Db, project: Project) => Promise<void>,
): Promise<Project> {
  requireTimeZone(spendingLimit);
  requireTimeZone(endUserLimit, "end_user_limit");
  const createdAtMs = now();
  const id = platform.uuidV7(createdAtMs);
  const limits = { spendingLimit, endUserLimit };
  // Limits come first, so that the project has no key without them.
  await putLimits(ledger, { id, accountId }, limits);
  return database.transact(async (tx) => {
    await requireOwnerRights(database, tx, actor, accountId);
    const { projects } = database.tables;
    const isOwn = eq(projects.accountId, accountId);
    const [row] = await tx.select({ count: count() }).from(projects).where(isOwn);
    if (name === DEFAULT_PROJECT_NAME || (row?.count ?? 0) >= PROJECTS_MAX)
      throw new GatewayError("conflict");
    const values = { id, accountId, name, createdAtMs };
    const [inserted] = await tx.insert(projects).values(values).onConflictDoNothing().returning();
    if (!inserted) throw new GatewayError("conflict");
    const project = readProject(inserted);
    const after = { ...describeProject(project), ...describeLimits(limits) };
    const change = { accountId, action: "project.created", target: id, after };
    await recordChange(database, tx, actor, change, createdAtMs);
    await created?.(tx, project);
    return project;
  });
}

/** The members to change: an absent member stays, null removes a limit. */
export interface ProjectChanges {
  readonly name?: string | undefined;
  readonly isArchived?: boolean | undefined;
  readonly spendingLimit?: SpendingLimit | null | undefined;
  readonly endUserLimit?: SpendingLimit | null | undefined;
}

type ProjectVersion = Pick<Project, "id" | "accountId" | "version">;

/**
 * Changes a project, also the default one, which is never archived. Rejects with `conflict` when it was changed since
 * that version, another edit of its limits runs, or the name is taken; with `unknown_item` for one of another account.
 */
export async function updateProject(
  parts: ProjectParts,
  read: ProjectVersion,
  changes: ProjectChanges,
): Promise<Project> {
  const { spendingLimit, endUserLimit } = changes;
  requireTimeZone(spendingLimit);
  requireTimeZone(endUserLimit, "end_user_limit");
  if (spendingLimit === undefined && endUserLimit === undefined) return changeRow(parts, read, changes, {});
  return whileLeased(parts, `project-limit:${read.id}`, async () => {
    const before = describeLimits(await readLimits(parts.ledger, read, changes));
    // The version decides before the ledger is called: the limit of an editor who lost never reaches it.
    const project = await changeRow(parts, read, changes, before);
    await putLimits(parts.ledger, read, changes);
    return project;
  });
}

/** Changes the row with its audit entry, which `limitsBefore` begins. */
async function changeRow(
  { database, now = platform.now, actor = COMMAND_LINE }: ProjectParts,
  { id, accountId, version }: ProjectVersion,
  changes: ProjectChanges,
  limitsBefore: object,
): Promise<Project> {
  const { projects } = database.tables;
  const { name, isArchived } = changes;
  const nowMs = now();
  return database.transact(async (tx) => {
    await requireOwnerRights(database, tx, actor, accountId);
    if (id === accountId) await storeDefault(database, tx, accountId, nowMs);
    const [row] = await tx.select().from(projects).where(isProject(database, { id, accountId }));
    if (!row) throw new GatewayError("unknown_item");
    if (id === accountId ? isArchived : name === DEFAULT_PROJECT_NAME) throw new GatewayError("conflict");
    await requireFreeName(database, tx, { id, accountId, name });
    const archivedAtMs =
      isArchived === undefined ? undefined : isArchived ? (row.archivedAtMs ?? nowMs) : null;
    const [updated] = await tx
      .update(projects)
      .set({ name, archivedAtMs, version: version + 1 })
      .where(and(eq(projects.id, id), eq(projects.version, version)))
      .returning();
    if (!updated) throw new GatewayError("conflict");
    const [before, after] = [readProject(row), readProject(updated)];
    const entry = {
      before: { ...changedNames(before, after), ...limitsBefore },
      after: { ...changedNames(after, before), ...describeLimits(changes) },
    };
    const action = actionOf(before, after);
    await recordChange(database, tx, actor, { accountId, action, target: id, ...entry }, nowMs);
    return after;
  });
}

function actionOf(before: Project, after: Project): string {
  if ((before.archivedAtMs === undefined) === (after.archivedAtMs === undefined)) return "project.updated";
  return after.archivedAtMs === undefined ? "project.restored" : "project.archived";
}

function changedNames(project: Project, other: Project): object {
  return project.name === other.name ? {} : { name: project.name };
}

/** The default project gets its row with its first change. */
async function storeDefault(
  { tables: { projects } }: Database,
  tx: Db,
  accountId: string,
  createdAtMs: number,
): Promise<void> {
  const values = { id: accountId, accountId, name: DEFAULT_PROJECT_NAME, createdAtMs };
  await tx.insert(projects).values(values).onConflictDoNothing();
}

async function requireFreeName(
  { tables: { projects } }: Database,
  tx: Db,
  {
    id,
    accountId,
    name,
  }: { readonly id: string; readonly accountId: string; readonly name: string | undefined },
): Promise<void> {
  if (name === undefined) return;
  const isNamed = and(eq(projects.accountId, accountId), eq(projects.name, name));
  const [namesake] = await tx.select({ id: projects.id }).from(projects).where(isNamed);
  if (namesake && namesake.id !== id) throw new GatewayError("conflict");
}

type ProjectLimits = Pick<ProjectChanges, "spendingLimit" | "endUserLimit">;

/** Reads those limits of a project that are to be changed. */
async function readLimits(
  ledger: Pick<Ledger, "spendLimits">,
  { id: projectId, accountId }: ProjectVersion,
  { spendingLimit, endUserLimit }: ProjectChanges,
): Promise<ProjectLimits> {
  const limits = await ledger.spendLimits(accountId);
  const find = (kind: "project" | "each_end_user") => limitAmong(limits, { kind, projectId });
  return {
    spendingLimit: spendingLimit === undefined ? undefined : find("project"),
    endUserLimit: endUserLimit === undefined ? undefined : find("each_end_user"),
  };
}

async function putLimits(
  ledger: Pick<Ledger, "setSpendLimit" | "deleteSpendLimit">,
  { id: projectId, accountId }: Pick<Project, "id" | "accountId">,
  { spendingLimit, endUserLimit }: ProjectLimits,
): Promise<void> {
  if (spendingLimit !== undefined) {
    await putSpendingLimit(ledger, accountId, { kind: "project", projectId }, spendingLimit);
  }
  if (endUserLimit !== undefined) {
    await putSpendingLimit(ledger, accountId, { kind: "each_end_user", projectId }, endUserLimit);
  }
}

function describeLimits({ spendingLimit, endUserLimit }: ProjectLimits): object {
  return {
    ...describeSpendingLimit(spendingLimit),
    ...describeSpendingLimit(endUserLimit, "end_user_limit"),
  };
}

function describeProject({ name }: Project): object {
  return { name };
}

/** Owners alone change projects and limits of members. From the first change on, holds count for both. */
export async function requireOwnerRights(
  database: Database,
  tx: Db,
  actor: AuditActor,
  accountId: string,
): Promise<void> {
  if (!(await lockAccount(database, tx, accountId))) throw new GatewayError("unknown_item");
  await requirePresentRight(database, tx, actor, { accountId, roles: ["owner"] });
  await beginScopes(database, tx, accountId);
}
