import { and, count, desc, eq, gt, isNull } from "drizzle-orm";
import type { Database, DatabaseParts, Db } from "../db/database.ts";
import { DAY_MS, printTime } from "../domain/id-time.ts";
import { GatewayError } from "../errors.ts";
import { platform } from "../platform.ts";
import { type AuditActor, recordChange } from "./audit-trail.ts";
import { findNames } from "./find-items.ts";
import { createToken, digestOf } from "./keys/key.ts";
import { requirePresentRight } from "./people/present-rights.ts";

/** A read-only link to the usage of one key, of one project, or of a whole account. */
export interface SharedLink {
  readonly id: string;
  readonly accountId: string;
  readonly key: Shown | undefined;
  readonly project: Shown | undefined;
  /** Whether the names of account, key and project are shown. */
  readonly showsNames: boolean;
  /** The name of the author, as in the audit trail. */
  readonly createdBy: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly revokedAtMs: number | undefined;
}

interface Shown {
  readonly id: string;
  readonly name: string | undefined;
}

/** Of a key or a project; of neither, the link shows the whole account. */
export interface NewLink {
  readonly keyId?: string | undefined;
  readonly projectId?: string | undefined;
  readonly showsNames: boolean;
  readonly expiresAtMs: number;
}

const LIFE_MS_MAX = 366 * DAY_MS;
const ACTIVE_MAX = 100;
const TOKEN = /^shl-[\w-]{43}$/;
/**
 * Stored links to projects have this and the project's id in the place of a key's id: programs of earlier versions take
 * it for a key that nothing has, and so show nothing.
 */
const PROJECT_PREFIX = "project:";

/**
 * Creates a link and returns its token, of which only the digest is stored. Throws `wrong_shape` for a time that
 * is past or over a year away, for a key beside a project and for one more than 100 active links, `unknown_item` for
 * another account's key or project.
 */
export async function createLink(
  { database, now }: DatabaseParts,
  actor: AuditActor,
  accountId: string,
  { keyId, projectId, showsNames, expiresAtMs }: NewLink,
): Promise<{ readonly link: SharedLink; readonly token: string }> {
  const { sharedLinks } = database.tables;
  const createdAtMs = now();
  const isLater = expiresAtMs > createdAtMs && expiresAtMs <= createdAtMs + LIFE_MS_MAX;
  if (!isLater) throw new GatewayError("wrong_shape", { path: "expires_at" });
  if (keyId !== undefined && projectId !== undefined)
    throw new GatewayError("wrong_shape", { path: "project" });
  const token = `shl-${createToken()}`;
  const id = platform.uuidV7(createdAtMs);
  await database.transact(async (tx) => {
    await requirePresentRight(database, tx, actor, { accountId, roles: ["owner"] });
    await checkKey(database, tx, { accountId, keyId });
    await checkProject(database, tx, { accountId, projectId });
    await checkCount(database, tx, accountId, createdAtMs);
    const storedKeyId = keyId ?? (projectId === undefined ? null : PROJECT_PREFIX + projectId);
    const row = { id, digest: digestOf(token), accountId, keyId: storedKeyId, showsNames };
    await tx.insert(sharedLinks).values({ ...row, createdBy: actor.name, createdAtMs, expiresAtMs });
    const after = { keyId: keyId ?? null, projectId, showsNames, expiresAt: printTime(expiresAtMs) };
    const change = { accountId, action: "shared_link.created", target: id, after };
    await recordChange(database, tx, actor, change, createdAtMs);
  });
  const link = await findLink(database, eq(sharedLinks.id, id));
  if (!link) throw new GatewayError("unknown_item");
  return { link, token };
}

async function checkKey(
  { tables: { apiKeys } }: Database,
  tx: Db,
  { accountId, keyId }: { readonly accountId: string; readonly keyId: string | undefined },
): Promise<void> {
  if (keyId === undefined) return;
  const isOwn = and(eq(apiKeys.id, keyId), eq(apiKeys.accountId, accountId));
  const [key] = await tx.select({ id: apiKeys.id }).from(apiKeys).where(isOwn);
  if (!key) throw new GatewayError("unknown_item");
}

async function checkProject(
  { tables: { projects } }: Database,
  tx: Db,
  { accountId, projectId }: { readonly accountId: string; readonly projectId: string | undefined },
): Promise<void> {
  // The default project has no row before its first change.
  if (projectId === undefined || projectId === accountId) return;
  const isOwn = and(eq(projects.id, projectId), eq(projects.accountId, accountId));
  const [project] = await tx.select({ id: projects.id }).from(projects).where(isOwn);
  if (!project) throw new GatewayError("unknown_item");
}

async function checkCount({ tables }: Database, tx: Db, accountId: string, nowMs: number): Promise<void> {
  const { sharedLinks: links } = tables;
  const isActive = and(isNull(links.revokedAtMs), gt(links.expiresAtMs, nowMs));
  const [row] = await tx
    .select({ n: count() })
    .from(links)
    .where(and(eq(links.accountId, accountId), isActive));
  if ((row?.n ?? 0) < ACTIVE_MAX) return;
  throw new GatewayError("wrong_shape", { message: `An account has at most ${ACTIVE_MAX} active links.` });
}

/** Revokes a link, at once. A revoked link stays as it is. Throws `unknown_item` for another account's. */
export async function revokeLink(
  { database, now }: DatabaseParts,
  actor: AuditActor,
  { accountId, id }: Pick<SharedLink, "accountId" | "id">,
): Promise<void> {
  const { sharedLinks: links } = database.tables;
  const revokedAtMs = now();
  await database.transact(async (tx) => {
    const isOwn = and(eq(links.id, id), eq(links.accountId, accountId));
    const [known] = await tx.select({ id: links.id }).from(links).where(isOwn);
    if (!known) throw new GatewayError("unknown_item");
    const isActive = and(isOwn, isNull(links.revokedAtMs));
    const revoked = await tx.update(links).set({ revokedAtMs }).where(isActive).returning({ id: links.id });
    if (revoked.length === 0) return;
    await recordChange(
      database,
      tx,
      actor,
      { accountId, action: "shared_link.revoked", target: id },
      revokedAtMs,
    );
  });
}

/** Lists the links of an account, newest first: the latest 200, revoked and expired ones included. */
export async function listLinks(database: Database, accountId: string): Promise<readonly SharedLink[]> {
  const { sharedLinks: links } = database.tables;
  const rows = await selectLinks(database)
    .where(eq(links.accountId, accountId))
    .orderBy(desc(links.id))
    .limit(200);
  return readLinks(database, accountId, rows);
}

/** Finds the link of a token; `undefined` for an unknown, expired or revoked one alike. */
export async function openLink(
  database: Database,
  token: string,
  nowMs: number,
): Promise<SharedLink | undefined> {
  if (!TOKEN.test(token)) return undefined;
  const link = await findLink(database, eq(database.tables.sharedLinks.digest, digestOf(token)));
  return link && link.revokedAtMs === undefined && nowMs < link.expiresAtMs ? link : undefined;
}

async function findLink(
  database: Database,
  condition: ReturnType<typeof eq>,
): Promise<SharedLink | undefined> {
  const rows = await selectLinks(database).where(condition);
  const [row] = rows;
  return row && (await readLinks(database, row.link.accountId, rows))[0];
}

function selectLinks({ db, tables: { sharedLinks, apiKeys } }: Database) {
  return db
    .select({ link: sharedLinks, keyName: apiKeys.name })
    .from(sharedLinks)
    .leftJoin(apiKeys, eq(apiKeys.id, sharedLinks.keyId));
}

interface LinkRow {
  readonly link: Database["tables"]["sharedLinks"]["$inferSelect"];
  readonly keyName: string | null;
}

async function readLinks(
  database: Database,
  accountId: string,
  rows: readonly LinkRow[],
): Promise<readonly SharedLink[]> {
  const projects = rows.flatMap(({ link }) => projectIdOf(link) ?? []);
  const scopes = [...new Set(projects)].map((id) => ({ kind: "project" as const, id }));
  const names = await findNames(database, accountId, scopes);
  return rows.map((row) => readLink(row, names));
}

function projectIdOf({ keyId }: LinkRow["link"]): string | undefined {
  return keyId?.startsWith(PROJECT_PREFIX) ? keyId.slice(PROJECT_PREFIX.length) : undefined;
}

function readLink({ link, keyName }: LinkRow, projectNames: ReadonlyMap<string, string>): SharedLink {
  const { digest: _, keyId, revokedAtMs, ...row } = link;
  const projectId = projectIdOf(link);
  const project = projectId === undefined ? undefined : { id: projectId, name: projectNames.get(projectId) };
  const key = keyId === null || project ? undefined : { id: keyId, name: keyName ?? undefined };
  return { ...row, key, project, revokedAtMs: revokedAtMs ?? undefined };
}
