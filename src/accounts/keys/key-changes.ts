import { and, eq, isNull } from "drizzle-orm";
import type { Database, Db } from "../../db/database.ts";
import type { Tier } from "../../domain/tiers.ts";
import { GatewayError } from "../../errors.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Limits } from "../../limiter/limiter.ts";
import { platform } from "../../platform.ts";
import { type AuditActor, COMMAND_LINE, recordChange } from "../audit-trail.ts";
import { isOnlyActing, requirePresentRight } from "../people/present-rights.ts";
import { lockOpenProject } from "../projects.ts";
import {
  allowsMore,
  describeSpendingLimit,
  limitAmong,
  putSpendingLimit,
  requireTimeZone,
  type SpendingLimit,
  whileLeased,
} from "../spending-limits.ts";
import { type ApiKey, createSecret, digestOf, hintOf } from "./key.ts";
import { type KeyRow, readKey } from "./key-row.ts";
import { endBelow, endMade, lockTree, moveBelow, revokeMade } from "./key-tree.ts";
import { isWider } from "./key-width.ts";
import { describeKey, type IssuedKey, type OnIssued } from "./keys.ts";

/** How long a secret stays valid after its rotation. */
export const ROTATION_MS = 24 * 3_600_000;

export interface KeyChangeParts {
  readonly database: Database;
  readonly now?: () => number;
  /** Who changes the key, for the audit trail. Default: the command line. */
  readonly actor?: AuditActor;
}

/** A key as its editor has read it. */
export type KeyVersion = Pick<ApiKey, "id" | "accountId" | "version">;

/** The members to change: an absent member stays, null removes it. */
export interface KeyChanges {
  readonly name?: string | undefined;
  readonly models?: readonly string[] | null | undefined;
  readonly tiers?: readonly Tier[] | null | undefined;
  readonly expiresAtMs?: number | null | undefined;
  readonly forbidsPaidTools?: boolean | undefined;
  readonly allowsClamp?: boolean | undefined;
  readonly allowsChildren?: boolean | undefined;
  /** Null moves the key to the default project. */
  readonly projectId?: string | null | undefined;
  readonly requestsPerMinute?: number | null | undefined;
  readonly tokensPerMinute?: number | null | undefined;
  readonly concurrentRequests?: number | null | undefined;
  readonly spendingLimit?: SpendingLimit | null | undefined;
}

export interface UpdateParts extends KeyChangeParts {
  readonly ledger: Pick<Ledger, "setSpendLimit" | "deleteSpendLimit" | "spendLimits">;
  /** The limits of keys without own ones. Default: none. */
  readonly keyLimits?: Limits;
}

/**
 * Changes a key. Rejects with `conflict` when it was changed since that version, is revoked, or another edit of
 * its spending limit is running; with `wrong_shape` for an unknown time zone; with `not_permitted` when an operator
 * who only acts inside the account would let the key do or spend more.
 */
export async function updateKey(
  { ledger, keyLimits = {}, ...parts }: UpdateParts,
  read: KeyVersion,
  { spendingLimit, ...rest }: KeyChanges,
): Promise<ApiKey> {
  const columns = rest.projectId === read.accountId ? { ...rest, projectId: null } : rest;
  const widens = (row: ApiKey, key: ApiKey) => isWider(row, key, keyLimits);
  const change: RowChange = {
    action: "key.updated",
    columns(row) {
      if (row.parentId !== null) requireChildChange(row, columns);
      return columns;
    },
    widens,
    changed: (tx, key, row) => passOn(parts.database, tx, { key, row }),
  };
  requireTimeZone(spendingLimit);
  if (spendingLimit === undefined) return changeRow(parts, read, change);
  const target = { kind: "key", keyId: read.id } as const;
  return whileLeased(parts, `key-limit:${read.id}`, async () => {
    const earlier = limitAmong(await ledger.spendLimits(read.accountId, read.id), target);
    const before = describeSpendingLimit(earlier);
    const after = describeSpendingLimit(spendingLimit ?? undefined);
    // The version decides before the ledger is called: the limit of the editor who lost never reaches it. A
    // kill between both leaves the limit as it was, with an audit entry; no limit changes without an entry.
    const spendsMore = allowsMore(earlier, spendingLimit ?? undefined);
    const widening = spendsMore ? () => true : widens;
    const key = await changeRow(parts, read, { ...change, before, after, widens: widening });
    await putSpendingLimit(ledger, read.accountId, target, spendingLimit);
    return key;
  });
}

/** A key below another keeps project and rates of its root, and its end comes only nearer. */
function requireChildChange(row: KeyRow, changes: KeyChanges): void {
  const { projectId = row.projectId, expiresAtMs = row.expiresAtMs } = changes;
  const wrong = [
    projectId !== row.projectId && "project_id",
    (changes.requestsPerMinute ?? null) !== null && "requests_per_minute",
    (changes.tokensPerMinute ?? null) !== null && "tokens_per_minute",
    (changes.concurrentRequests ?? null) !== null && "concurrent_requests",
    (expiresAtMs ?? Infinity) > (row.expiresAtMs ?? Infinity) && "expires_at",
  ];
  const path = wrong.find((each) => each !== false);
  if (path) throw new GatewayError("wrong_shape", { path });
}

/** Passes a new project and an earlier end on to the keys below. What else binds them is read with each request. */
async function passOn(
  database: Database,
  tx: Db,
  { key, row }: { readonly key: ApiKey; readonly row: KeyRow },
): Promise<void> {
  const tree = { database, tx, keyId: key.id };
  const projectId = key.projectId ?? null;
  if (projectId !== row.projectId) {
    if (projectId !== null) await lockOpenProject(database, tx, { id: projectId, accountId: key.accountId });
    await moveBelow(tree, { projectId });
  }
  if (key.expiresAtMs !== undefined && key.expiresAtMs !== row.expiresAtMs) {
    await endBelow(tree, key.expiresAtMs);
  }
}

/**
 * Gives a key a new secret. The old one ends after 24 hours, and one that an earlier rotation replaced ends
 * now; keys that a secret made end with it. Rejects with `conflict` like {@link updateKey}.
 */
export async function rotateKey(
  { issued, ...parts }: KeyChangeParts & { readonly issued?: OnIssued },
  read: KeyVersion,
): Promise<IssuedKey> {
  const { now = platform.now } = parts;
  const secret = createSecret();
  const key = await changeRow(parts, read, {
    action: "key.rotated",
    columns: (row) => ({
      digest: digestOf(secret),
      hint: hintOf(secret),
      previousDigest: row.digest,
      previousHint: row.hint,
      previousEndsAtMs: now() + ROTATION_MS,
    }),
    async changed(tx, key, { digest, previousDigest }) {
      const tree = { database: parts.database, tx, keyId: key.id };
      if (previousDigest !== null) await revokeMade(tree, previousDigest, now());
      await endMade(tree, digest, now() + ROTATION_MS);
      await issued?.(tx, { key, secret });
    },
  });
  return { key, secret };
}

/**
 * Ends the secret that the latest rotation replaced. It is refused within one second; its running requests
 * go on. Keys that it made are revoked. Rejects with `conflict` like {@link updateKey}.
 */
export async function endPreviousSecret(parts: KeyChangeParts, read: KeyVersion): Promise<ApiKey> {
  const { now = platform.now } = parts;
  return changeRow(parts, read, {
    action: "key.previous_ended",
    columns: () => ({ previousDigest: null, previousHint: null, previousEndsAtMs: null }),
    async changed(tx, key, { previousDigest }) {
      if (previousDigest === null) return;
      await revokeMade({ database: parts.database, tx, keyId: key.id }, previousDigest, now());
    },
  });
}

export interface RowChange {
  readonly action: string;
  columns(row: KeyRow): Partial<KeyRow> | KeyChanges;
  /** Members of the audit entry beside those of the columns. */
  readonly before?: object;
  readonly after?: object;
  /** Whether the key may do more than before, which an operator who only acts inside its account cannot give. */
  widens?(before: ApiKey, after: ApiKey): boolean;
  /** Runs last in the transaction, with the row before the change. The key's tree is locked. */
  changed?(tx: Db, key: ApiKey, row: KeyRow): Promise<void>;
}

/** What an author may only do whose right is checked again in the transaction. */
const RIGHT_ANEW = ["key.rotated", "key.recording_set"];

/** Changes the row of a key, with its audit entry. Rejects with `unknown_item` and `conflict`. */
export async function changeRow(
  { database, now = platform.now, actor = COMMAND_LINE }: KeyChangeParts,
  { id, accountId, version }: KeyVersion,
  { action, columns, widens, changed, ...more }: RowChange,
): Promise<ApiKey> {
  const { apiKeys } = database.tables;
  return database.transact(async (tx) => {
    if (RIGHT_ANEW.includes(action)) {
      await requirePresentRight(database, tx, actor, { accountId, roles: ["owner", "developer"] });
    }
    const row = await readRow(database, tx, id);
    if (!row || row.accountId !== accountId) throw new GatewayError("unknown_item");
    await lockTree(database, tx, readKey(row));
    const isRead = and(eq(apiKeys.id, id), eq(apiKeys.version, version), isNull(apiKeys.revokedAtMs));
    const set = { ...columns(row), version: version + 1 };
    const [updated] = await tx.update(apiKeys).set(set).where(isRead).returning();
    if (!updated) throw new GatewayError("conflict");
    const key = readKey(updated);
    if (widens?.(readKey(row), key) && (await isOnlyActing(database, tx, actor, accountId))) throw onlyActs();
    const { before, after } = differenceOf(describeKey(readKey(row)), describeKey(key));
    const entry = { before: { ...before, ...more.before }, after: { ...after, ...more.after } };
    await recordChange(database, tx, actor, { accountId, action, target: id, ...entry }, now());
    await changed?.(tx, key, row);
    return key;
  });
}

function onlyActs(): GatewayError {
  return new GatewayError("not_permitted", {
    message: "You only act inside this account: a key's bounds may become narrower, not wider.",
  });
}

async function readRow({ tables }: Database, tx: Db, id: string): Promise<KeyRow | undefined> {
  const [row] = await tx.select().from(tables.apiKeys).where(eq(tables.apiKeys.id, id));
  return row;
}

type Described = Readonly<Record<string, unknown>>;

/** Returns the members in which two descriptions differ. */
function differenceOf(before: Described, after: Described): { before: Described; after: Described } {
  const names = Object.keys(before).filter((name) => !Bun.deepEquals(before[name], after[name]));
  const pick = (from: Described) => Object.fromEntries(names.map((name) => [name, from[name]]));
  return { before: pick(before), after: pick(after) };
}
