import { and, count, desc, eq, gt, isNull } from "drizzle-orm";
import type { Database, Db } from "../db/database.ts";
import { DAY_MS } from "../domain/id-time.ts";
import { GatewayError } from "../errors.ts";
import { platform } from "../platform.ts";
import { printTime } from "../time.ts";
import { type AuditActor, recordChange } from "./audit-trail.ts";
import { createToken, digestOf } from "./keys/key.ts";
import { requirePresentRight } from "./people/present-rights.ts";

/** A read-only link to the usage of one key, or of a whole account. */
export interface SharedLink {
  readonly id: string;
  readonly accountId: string;
  readonly key: { readonly id: string; readonly name: string | undefined } | undefined;
  /** Whether the names of account and key are shown. */
  readonly showsNames: boolean;
  /** The name of the author, as in the audit trail. */
  readonly createdBy: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly revokedAtMs: number | undefined;
}

export interface NewLink {
  readonly keyId: string | undefined;
  readonly showsNames: boolean;
  readonly expiresAtMs: number;
}

interface LinkParts {
  readonly database: Database;
  readonly now: () => number;
}

const LIFE_MS_MAX = 366 * DAY_MS;
const ACTIVE_MAX = 100;
const TOKEN = /^shl-[\w-]{43}$/;

/**
 * Creates a link and returns its token, of which only the digest is stored. Throws `wrong_shape` for a time that
 * is past or over a year away and for one more than 100 active links, `unknown_item` for another account's key.
 */
export async function createLink(
  { database, now }: LinkParts,
  actor: AuditActor,
  accountId: string,
  { keyId, showsNames, expiresAtMs }: NewLink,
): Promise<{ readonly link: SharedLink; readonly token: string }> {
  const { sharedLinks } = database.tables;
  const createdAtMs = now();
  const isLater = expiresAtMs > createdAtMs && expiresAtMs <= createdAtMs + LIFE_MS_MAX;
  if (!isLater) throw new GatewayError("wrong_shape", { path: "expires_at" });
  const token = `shl-${createToken()}`;
  const id = platform.uuidV7(createdAtMs);
  await database.transact(async (tx) => {
    await requirePresentRight(database, tx, actor, { accountId, roles: ["owner"] });
    await checkKey(database, tx, { accountId, keyId });
    await checkCount(database, tx, accountId, createdAtMs);
    const row = { id, digest: digestOf(token), accountId, keyId: keyId ?? null, showsNames };
    await tx.insert(sharedLinks).values({ ...row, createdBy: actor.name, createdAtMs, expiresAtMs });
    const after = { keyId: keyId ?? null, showsNames, expiresAt: printTime(expiresAtMs) };
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
  { database, now }: LinkParts,
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
  return rows.map(readLink);
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
  const [row] = await selectLinks(database).where(condition);
  return row && readLink(row);
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

function readLink({ link, keyName }: LinkRow): SharedLink {
  const { digest: _, keyId, revokedAtMs, ...row } = link;
  const key = keyId === null ? undefined : { id: keyId, name: keyName ?? undefined };
  return { ...row, key, revokedAtMs: revokedAtMs ?? undefined };
}
