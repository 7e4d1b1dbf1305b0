import { and, asc, eq, isNull, or, sql } from "drizzle-orm";
import type { Database, Db } from "../../db/database.ts";
import { HOUR_MS, printTime } from "../../domain/id-time.ts";
import type { RecordingRules } from "../../domain/recording-rules.ts";
import type { Tier } from "../../domain/tiers.ts";
import { GatewayError } from "../../errors.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Limits } from "../../limiter/limiter.ts";
import { platform } from "../../platform.ts";
import { type AuditActor, COMMAND_LINE, recordChange } from "../audit-trail.ts";
import { requirePresentRight } from "../people/present-rights.ts";
import { lockOpenProject } from "../projects.ts";
import { describeSpendingLimit, putSpendingLimit, type SpendingLimit } from "../spending-limits.ts";
import { type ApiKey, createSecret, digestOf, hintOf } from "./key.ts";
import { readKey } from "./key-row.ts";
import { lockTree, revokeBelow } from "./key-tree.ts";

export interface IssueParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "setSpendLimit" | "deleteSpendLimit">;
  readonly now?: () => number;
  /** Who issues the key, for the audit trail. Default: the command line. */
  readonly actor?: AuditActor;
  readonly issued?: OnIssued;
}

/** Runs in the transaction that stores a new secret. Must await queries of `tx` alone. */
export type OnIssued = (tx: Db, issued: IssuedKey) => Promise<void>;

export interface NewKey {
  /** A UUID that is issued at most once. Default: a new UUIDv7. */
  readonly id?: string | undefined;
  /** Id of an account that exists. */
  readonly accountId: string;
  readonly name: string;
  /** Limits that override the configured defaults. */
  readonly limits?: Limits | undefined;
  /** Ids of the models that the key may use. Default: every model. */
  readonly models?: readonly string[] | undefined;
  /** The service tiers that it may ask for. Default: every tier. */
  readonly tiers?: readonly Tier[] | undefined;
  /** Whether it may use no tool at the provider that has a fee. Default: false. */
  readonly forbidsPaidTools?: boolean | undefined;
  readonly allowsClamp?: boolean | undefined;
  /** Whether the key may make keys below it. Default: false. */
  readonly allowsChildren?: boolean | undefined;
  /** Id of an open project of the account. Default: the default project. */
  readonly projectId?: string | undefined;
  readonly expiresAtMs?: number | undefined;
  /** Maximum spending of the key per period. Default: bounded by the wallet alone. */
  readonly spendingLimit?: SpendingLimit | undefined;
}

export interface IssuedKey {
  readonly key: ApiKey;
  /** "sk-tg-" and 43 characters. Returned only here: the secret cannot be derived from what is stored. */
  readonly secret: string;
}

/**
 * Issues a key with its limits. Rejects with `conflict` when the id is taken, and with LedgerError when the
 * account has no wallet.
 */
export async function issueKey(
  parts: IssueParts,
  request: NewKey,
  secret = createSecret(),
): Promise<IssuedKey> {
  const stored = { digest: digestOf(secret), hint: hintOf(secret) };
  const onStored = async (tx: Db, key: ApiKey) => parts.issued?.(tx, { key, secret });
  const key = await storeKey(parts, request, { ...stored, action: "key.created", onStored });
  if (!key) throw new GatewayError("conflict");
  return { key, secret };
}

/** What another gateway stores of a key: the SHA-256 of its secret in hex, and a text to show. */
export interface ForeignKey extends NewKey {
  readonly digest: string;
  readonly hint: string;
}

/**
 * Stores a key of another gateway, whose secret callers keep. Returns `undefined` when its digest is stored
 * already. Rejects with LedgerError when the account has no wallet.
 */
export async function importKey(
  parts: Omit<IssueParts, "issued">,
  { digest, hint, ...request }: ForeignKey,
): Promise<ApiKey | undefined> {
  const { db, tables } = parts.database;
  const isStored = or(eq(tables.apiKeys.digest, digest), eq(tables.apiKeys.previousDigest, digest));
  if ((await db.select().from(tables.apiKeys).where(isStored)).length > 0) return undefined;
  return storeKey(parts, request, { digest, hint, action: "key.imported" });
}

interface StoredSecret {
  readonly digest: string;
  readonly hint: string;
  readonly action: "key.created" | "key.imported";
  readonly onStored?: (tx: Db, key: ApiKey) => Promise<void>;
}

/** Stores a key with its limits and its audit entry. Returns `undefined` when id or digest are taken. */
async function storeKey(
  { database, ledger, now = platform.now, actor = COMMAND_LINE }: IssueParts,
  request: NewKey,
  { digest, hint, action, onStored }: StoredSecret,
): Promise<ApiKey | undefined> {
  const createdAtMs = now();
  const { id = platform.uuidV7(createdAtMs) } = request;
  const { accountId, name, limits, models, tiers, allowsClamp, allowsChildren, expiresAtMs, spendingLimit } =
    request;
  const { forbidsPaidTools } = request;
  const projectId = request.projectId === accountId ? undefined : request.projectId;
  // The spending limit comes first, so that the key is never in force without it.
  if (spendingLimit) {
    const isNew = request.id === undefined;
    await putSpendingLimit(ledger, accountId, { kind: "key", keyId: id }, spendingLimit, isNew);
  }
  const createdBy = actor.kind === "person" || actor.kind === "management_key" ? actor.id : undefined;
  const rights = { models, tiers, forbidsPaidTools, allowsClamp, allowsChildren, expiresAtMs };
  const attributes = { accountId, projectId, name, createdBy, ...rights };
  const row = { id, createdAtMs, ...attributes, ...limits, digest, hint };
  return database.transact(async (tx) => {
    await requirePresentRight(database, tx, actor, { accountId, roles: ["owner", "developer"] });
    if (projectId !== undefined) await lockOpenProject(database, tx, { id: projectId, accountId });
    const [inserted] = await tx.insert(database.tables.apiKeys).values(row).onConflictDoNothing().returning();
    if (!inserted) return undefined;
    const key = readKey(inserted);
    const after = { ...describeKey(key), ...describeSpendingLimit(spendingLimit) };
    await recordChange(database, tx, actor, { accountId, action, target: id, after }, createdAtMs);
    await onStored?.(tx, key);
    return key;
  });
}

/** What the audit trail shows of a key, in the words of the API. */
export function describeKey(key: ApiKey) {
  const { name, hint, models, allowsClamp, expiresAtMs, limits, previous } = key;
  return {
    name,
    hint,
    models,
    tiers: key.tiers,
    allows_paid_tools: key.forbidsPaidTools ? false : undefined,
    allows_clamp: allowsClamp,
    allows_children: key.allowsChildren || undefined,
    project_id: key.projectId,
    parent_id: key.parentIds[0],
    expires_at: printTime(expiresAtMs) ?? undefined,
    requests_per_minute: limits.requestsPerMinute,
    tokens_per_minute: limits.tokensPerMinute,
    concurrent_requests: limits.concurrentRequests,
    previous_ends_at: printTime(previous?.endsAtMs) ?? undefined,
    ...describeRecording(key.recording),
  };
}

/** What the audit trail shows of a recording: no salt. */
function describeRecording(rules: RecordingRules | undefined) {
  if (!rules) return {};
  const { untilMs, keptMs, keepsMedia, patterns, expressions } = rules;
  return {
    records_until: printTime(untilMs),
    recordings_kept_hours: keptMs / HOUR_MS,
    records_media: keepsMedia,
    redacted_patterns: patterns,
    redacted_expressions: expressions,
  };
}

/**
 * Finds every key with this id, hint or secret; also by the secret before its latest rotation. Only a hint can
 * match several keys.
 */
export async function findKeys(
  { db, tables: { apiKeys } }: Database,
  text: string,
): Promise<readonly ApiKey[]> {
  const digest = digestOf(text);
  const isMatch = or(
    eq(apiKeys.id, text),
    eq(apiKeys.hint, text),
    eq(apiKeys.digest, digest),
    eq(apiKeys.previousHint, text),
    eq(apiKeys.previousDigest, digest),
  );
  const rows = await db.select().from(apiKeys).where(isMatch);
  return rows.map(readKey);
}

/**
 * Lists the keys of one account, or of all accounts, oldest first; those that a key made, or without one those that no
 * key made. Includes revoked keys.
 */
export async function listKeys(
  { db, tables: { apiKeys } }: Database,
  accountId?: string,
  parentId?: string,
): Promise<readonly ApiKey[]> {
  const isOwn = accountId === undefined ? undefined : eq(apiKeys.accountId, accountId);
  const isBelow = parentId === undefined ? isNull(apiKeys.parentId) : eq(apiKeys.parentId, parentId);
  const isWanted = and(isOwn, isBelow);
  const order = [asc(apiKeys.createdAtMs), asc(apiKeys.id)];
  const rows = await db
    .select()
    .from(apiKeys)
    .where(isWanted)
    .orderBy(...order);
  return rows.map(readKey);
}

/** Finds a key of an account by its id. */
export async function findKey(
  { db, tables: { apiKeys } }: Database,
  { accountId, keyId }: { readonly accountId: string; readonly keyId: string },
): Promise<ApiKey | undefined> {
  const isMatch = and(eq(apiKeys.id, keyId), eq(apiKeys.accountId, accountId));
  const [row] = await db.select().from(apiKeys).where(isMatch);
  return row && readKey(row);
}

/**
 * Revokes a key with both of its secrets, and all keys below it, permanently. Every process rejects it within one second and ends
 * its running requests within two more. Returns `false` when the key is unknown or was revoked before.
 */
export async function revokeKey(
  { database, now = platform.now, actor = COMMAND_LINE }: Omit<IssueParts, "ledger" | "issued">,
  keyId: string,
): Promise<boolean> {
  const { apiKeys } = database.tables;
  const revokedAtMs = now();
  return database.transact(async (tx) => {
    const [row] = await tx.select().from(apiKeys).where(eq(apiKeys.id, keyId));
    if (row) await lockTree(database, tx, readKey(row));
    const [revoked] = await tx
      .update(apiKeys)
      .set({ revokedAtMs, version: sql`${apiKeys.version} + 1` })
      .where(and(eq(apiKeys.id, keyId), isNull(apiKeys.revokedAtMs)))
      .returning({ accountId: apiKeys.accountId, hint: apiKeys.hint });
    if (!revoked) return false;
    const { accountId, hint } = revoked;
    const below = await revokeBelow({ database, tx, keyId }, revokedAtMs);
    const after = below > 0 ? { keys_below_revoked: below } : undefined;
    const change = { accountId, action: "key.revoked", target: keyId, before: { hint }, after };
    await recordChange(database, tx, actor, change, revokedAtMs);
    return true;
  });
}
