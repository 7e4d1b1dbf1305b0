import { and, eq, inArray, isNull, or, type SQL, sql } from "drizzle-orm";
import type { Database, Db } from "../../db/database.ts";
import { GatewayError } from "../../errors.ts";
import { type AuditActor, type Role, recordChange } from "../audit-trail.ts";
import { moveBelow, revokeBelow } from "../keys/key-tree.ts";

/** A transaction that takes rights from a person, and who takes them. */
export interface Withdrawal {
  readonly database: Database;
  readonly tx: Db;
  readonly actor: AuditActor;
  readonly nowMs: number;
  /** Id of the person whose keys are handed over to it. Without one, they are revoked. */
  readonly keysTo: string | undefined;
}

interface FormerMember {
  readonly accountId: string;
  readonly personId: string;
  /** The role that the person keeps; `undefined` for a person who is no member any more. */
  readonly role: Role | undefined;
}

/**
 * Ends what a former owner or developer made in an account and still knows: management keys and what they made,
 * shared links, open invitations, and for a viewer or stranger API keys. Keys and links are handed over to an owner
 * where one is named. Rejects with `wrong_shape` for another heir. Writes an audit entry for each.
 */
export async function endRightsOfMember(parts: Withdrawal, former: FormerMember): Promise<void> {
  const { accountId, personId, role } = former;
  if (role === "owner") return;
  const heir = await findHeir(parts, former);
  const { managementKeys } = parts.database.tables;
  const programs = await findMadeKeys(parts, personId, eq(managementKeys.accountId, accountId));
  const authors = [personId, ...programs.map(({ id }) => id)];
  await endManagementKeys(parts, programs, heir?.id);
  await endLinksAndInvitations(parts, { accountId, authors, heir });
  if (role === "developer") return;
  await endApiKeys(parts, { accountId, authors, heir });
}

/**
 * Ends the platform's keys of a former operator, and every management key that was made with one of them. API keys
 * that they made belong to accounts, and stay. Returns how many ended. Rejects with `wrong_shape` when the keys
 * would be handed over to no operator.
 */
export async function endRightsOfOperator(parts: Withdrawal, personId: string): Promise<number> {
  const { database, tx, keysTo } = parts;
  const { managementKeys, people } = database.tables;
  if (keysTo !== undefined) {
    const isOperator = and(eq(people.id, keysTo), eq(people.isOperator, true));
    const [heir] = await tx.select({ id: people.id }).from(people).where(isOperator);
    if (!heir || keysTo === personId) throw new GatewayError("wrong_shape", { path: "keys_to" });
  }
  const made = await findMadeKeys(parts, personId, isNull(managementKeys.accountId));
  return endManagementKeys(parts, made, keysTo);
}

interface Heir {
  readonly id: string;
  readonly email: string;
}

/** Finds the owner who takes keys over. Developers may not have management keys. */
async function findHeir(
  { database, tx, keysTo }: Withdrawal,
  { accountId, personId }: FormerMember,
): Promise<Heir | undefined> {
  if (keysTo === undefined) return undefined;
  const { members, people } = database.tables;
  const [heir] = await tx
    .select({ id: people.id, email: people.email })
    .from(members)
    .innerJoin(people, eq(people.id, members.personId))
    .where(and(eq(members.accountId, accountId), eq(people.id, keysTo), eq(members.role, "owner")));
  if (!heir || heir.id === personId) throw new GatewayError("wrong_shape", { path: "keys_to" });
  return heir;
}

type ManagementRow = Database["tables"]["managementKeys"]["$inferSelect"];

/**
 * Finds the management keys that a person made where `isWithin` holds, and those that were made with them, also
 * with a revoked one.
 */
async function findMadeKeys(
  { database, tx }: Withdrawal,
  personId: string,
  isWithin: SQL | undefined,
): Promise<readonly ManagementRow[]> {
  const { managementKeys } = database.tables;
  const found = new Map<string, ManagementRow>();
  // Locks each level before the next is read: a request that makes a key with one of them has ended then.
  const lock = (isMade: SQL | undefined) =>
    tx
      .update(managementKeys)
      .set({ createdBy: sql`${managementKeys.createdBy}` })
      .where(isMade)
      .returning();
  let made = await lock(and(eq(managementKeys.createdBy, personId), isWithin));
  while (made.length > 0) {
    for (const row of made) found.set(row.id, row);
    const ids = made.map(({ id }) => id);
    const next = await lock(inArray(managementKeys.createdBy, ids));
    made = next.filter(({ id }) => !found.has(id));
  }
  return [...found.values()];
}

/** Revokes management keys that are in force, or hands them over. Returns how many there were. */
async function endManagementKeys(
  parts: Withdrawal,
  keys: readonly ManagementRow[],
  heirId: string | undefined,
): Promise<number> {
  const { managementKeys } = parts.database.tables;
  const active = keys.filter(({ revokedAtMs }) => revokedAtMs === null);
  for (const { id, accountId, name, hint, createdBy } of active) {
    const set = heirId === undefined ? { revokedAtMs: parts.nowMs } : { createdBy: heirId };
    await parts.tx.update(managementKeys).set(set).where(eq(managementKeys.id, id));
    const place = { accountId: accountId ?? undefined, target: id, noun: "management_key" };
    await recordEnd(parts, place, { name, hint, createdBy, heirId });
  }
  return active.length;
}

/** Revokes API keys in force that the authors made or rotated, or hands them over. */
async function endApiKeys(parts: Withdrawal, { accountId, authors, heir }: MadeIn): Promise<void> {
  const { apiKeys } = parts.database.tables;
  const isActive = and(eq(apiKeys.accountId, accountId), isNull(apiKeys.revokedAtMs));
  const rotated = await findRotations(parts, { accountId, authors });
  const rotatedIds = [...rotated].map((each) => each.split(" ", 1)[0] ?? "");
  // A key below another goes with it, unless a person was shown its secret.
  const isAsked = or(isNull(apiKeys.parentId), inArray(apiKeys.id, rotatedIds));
  const keys = await parts.tx.select().from(apiKeys).where(and(isActive, isAsked));
  // Each tree is locked by its root first.
  for (const key of keys.toSorted(compareDepth)) {
    const { id, name, hint, previousHint, createdBy } = key;
    const isKnown = [hint, previousHint].some((each) => rotated.has(`${id} ${each}`));
    if (!isKnown && !authors.includes(createdBy ?? "")) continue;
    const end = heir ? { createdBy: heir.id } : { revokedAtMs: parts.nowMs };
    const set = { ...end, version: sql`${apiKeys.version} + 1` };
    const isStill = and(eq(apiKeys.id, id), isNull(apiKeys.revokedAtMs));
    const changed = await parts.tx.update(apiKeys).set(set).where(isStill).returning({ id: apiKeys.id });
    if (changed.length === 0) continue;
    const tree = { database: parts.database, tx: parts.tx, keyId: id };
    if (heir) await moveBelow(tree, { createdBy: heir.id });
    else await revokeBelow(tree, parts.nowMs);
    await recordEnd(
      parts,
      { accountId, target: id, noun: "key" },
      { name, hint, createdBy, heirId: heir?.id },
    );
  }
}

type Depth = Pick<Database["tables"]["apiKeys"]["$inferSelect"], "parentId">;

function compareDepth(one: Depth, other: Depth): number {
  return Number(one.parentId !== null) - Number(other.parentId !== null);
}

/** Returns the keys that the authors rotated, each with the hint of the secret that they were shown. */
async function findRotations(
  { database, tx }: Withdrawal,
  { accountId, authors }: Pick<MadeIn, "accountId" | "authors">,
): Promise<ReadonlySet<string>> {
  const { auditEntries } = database.tables;
  const isOfAccount = and(eq(auditEntries.accountId, accountId), eq(auditEntries.action, "key.rotated"));
  const entries = await tx
    .select({ target: auditEntries.target, after: auditEntries.after })
    .from(auditEntries)
    .where(and(isOfAccount, inArray(auditEntries.actorId, [...authors])));
  return new Set(entries.map(({ target, after }) => `${target} ${JSON.parse(after ?? "{}").hint}`));
}

interface MadeIn {
  readonly accountId: string;
  readonly authors: readonly string[];
  readonly heir: Heir | undefined;
}

/** Links and invitations name their authors as the audit trail does. Invitations can only end. */
async function endLinksAndInvitations(
  parts: Withdrawal,
  { accountId, authors, heir }: MadeIn,
): Promise<void> {
  const { tx, nowMs, database } = parts;
  const { sharedLinks, invitations } = database.tables;
  const names = await namesOf(parts, authors);
  const isLink = and(eq(sharedLinks.accountId, accountId), inArray(sharedLinks.createdBy, names));
  const links = await tx
    .update(sharedLinks)
    .set(heir ? { createdBy: heir.email } : { revokedAtMs: nowMs })
    .where(and(isLink, isNull(sharedLinks.revokedAtMs)))
    .returning({ id: sharedLinks.id });
  for (const { id } of links) {
    await recordEnd(parts, { accountId, target: id, noun: "shared_link" }, { heirId: heir?.id });
  }
  const isSent = and(eq(invitations.accountId, accountId), inArray(invitations.invitedBy, names));
  const sent = await tx
    .update(invitations)
    .set({ revokedAtMs: nowMs })
    .where(and(isSent, isNull(invitations.acceptedAtMs), isNull(invitations.revokedAtMs)))
    .returning({ id: invitations.id, email: invitations.email, role: invitations.role });
  for (const { id, ...before } of sent) {
    await recordEnd(parts, { accountId, target: id, noun: "invitation" }, before);
  }
}

async function namesOf({ database, tx }: Withdrawal, authors: readonly string[]): Promise<string[]> {
  const { managementKeys, people } = database.tables;
  const ids = [...authors];
  const emails = await tx.select({ name: people.email }).from(people).where(inArray(people.id, ids));
  const isAuthor = inArray(managementKeys.id, ids);
  const hints = await tx.select({ name: managementKeys.hint }).from(managementKeys).where(isAuthor);
  return [...emails, ...hints].map(({ name }) => name);
}

interface Place {
  readonly accountId: string | undefined;
  readonly target: string;
  readonly noun: string;
}

interface Ended {
  readonly heirId?: string | undefined;
  readonly createdBy?: string | null;
  readonly [member: string]: unknown;
}

async function recordEnd(
  { database, tx, actor, nowMs }: Withdrawal,
  { accountId, target, noun }: Place,
  { heirId, createdBy, ...before }: Ended,
): Promise<void> {
  const change =
    heirId === undefined
      ? { action: `${noun}.revoked`, before }
      : {
          action: `${noun}.handed_over`,
          before: { ...before, created_by: createdBy },
          after: { created_by: heirId },
        };
  await recordChange(database, tx, actor, { accountId, target, ...change }, nowMs);
}
