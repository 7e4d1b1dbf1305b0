import { and, eq, isNull } from "drizzle-orm";
import type { Database, Db, Tables } from "../../db/database.ts";
import { endLease, tryLease } from "../../db/leases.ts";
import { isTimeZone } from "../../domain/period.ts";
import { GatewayError } from "../../errors.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Limits } from "../../limiter/limiter.ts";
import { platform } from "../../platform.ts";
import { type AuditActor, COMMAND_LINE, recordChange } from "../audit-trail.ts";
import { isOnlyActing, requirePresentRight } from "../people/present-rights.ts";
import { type ApiKey, createSecret, digestOf, hintOf } from "./key.ts";
import {
  describeKey,
  describeSpendingLimit,
  type IssuedKey,
  type OnIssued,
  readKey,
  type SpendingLimit,
} from "./keys.ts";

/** How long a secret stays valid after its rotation. */
export const ROTATION_MS = 24 * 3_600_000;

/** Longer than any call of the ledger takes. */
const LEASE_MS = 30_000;

export interface KeyChangeParts {
  readonly database: Database;
  readonly now?: () => number;
  /** Who changes the key, for the audit trail. Default: the command line. */
  readonly actor?: AuditActor;
}

/** A key as its editor has read it. */
type KeyVersion = Pick<ApiKey, "id" | "accountId" | "version">;

/** The members to change: an absent member stays, null removes it. */
export interface KeyChanges {
  readonly name?: string | undefined;
  readonly models?: readonly string[] | null | undefined;
  readonly expiresAtMs?: number | null | undefined;
  readonly allowsClamp?: boolean | undefined;
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

type KeyRow = Tables["apiKeys"]["$inferSelect"];

/**
 * Changes a key. Rejects with `conflict` when it was changed since that version, is revoked, or another edit of
 * its spending limit is running; with `wrong_shape` for an unknown time zone; with `not_permitted` when an operator
 * who only acts inside the account would let the key do or spend more.
 */
export async function updateKey(
  { ledger, keyLimits = {}, ...parts }: UpdateParts,
  read: KeyVersion,
  { spendingLimit, ...columns }: KeyChanges,
): Promise<ApiKey> {
  const widens = (row: ApiKey, key: ApiKey) => isWider(row, key, keyLimits);
  const change = { action: "key.updated", columns: () => columns, widens };
  if (spendingLimit === undefined) return changeRow(parts, read, change);
  const { timeZone = "UTC" } = spendingLimit ?? {};
  if (!isTimeZone(timeZone)) throw new GatewayError("wrong_shape", { path: "spending_limit.time_zone" });
  return whileLeased(parts, read.id, async () => {
    const earlier = await findSpendingLimit(ledger, read);
    const before = describeSpendingLimit(earlier);
    const after = describeSpendingLimit(spendingLimit ?? undefined);
    // The version decides before the ledger is called: the limit of the editor who lost never reaches it. A
    // kill between both leaves the limit as it was, with an audit entry; no limit changes without an entry.
    const spendsMore = allowsMore(earlier, spendingLimit ?? undefined);
    const widening = spendsMore ? () => true : widens;
    const key = await changeRow(parts, read, { ...change, before, after, widens: widening });
    const limit = { walletId: read.accountId, limitId: read.id };
    if (spendingLimit) await ledger.setSpendLimit({ ...spendingLimit, ...limit, keyId: read.id });
    else await ledger.deleteSpendLimit(limit);
    return key;
  });
}

/**
 * Edits of one spending limit follow each other in all processes, so that the ledger gets them in the order
 * of their versions. Rejects with `conflict` while another one runs; a killed one blocks for 30 s.
 */
async function whileLeased<Result>(
  { database, now = platform.now }: KeyChangeParts,
  keyId: string,
  edit: () => Promise<Result>,
): Promise<Result> {
  const lease = { job: `key-limit:${keyId}`, holder: platform.uuid(), ms: LEASE_MS };
  if (!(await tryLease(database, lease, now))) throw new GatewayError("conflict");
  try {
    return await edit();
  } finally {
    // A lease that cannot be given back ends by itself.
    await endLease(database, lease).catch(() => undefined);
  }
}

/** Whether a key may do anything that it might not before. */
function isWider(before: ApiKey, after: ApiKey, defaults: Limits): boolean {
  const { models: allowed } = before;
  const hasMoreModels = allowed !== undefined && !after.models?.every((model) => allowed.includes(model));
  const lastsLonger = (after.expiresAtMs ?? Infinity) > (before.expiresAtMs ?? Infinity);
  const hasMoreOf = (name: keyof Limits) =>
    (after.limits[name] ?? defaults[name] ?? Infinity) > (before.limits[name] ?? defaults[name] ?? Infinity);
  const hasMore = LIMITS.some(hasMoreOf);
  return hasMoreModels || lastsLonger || hasMore || (after.allowsClamp && !before.allowsClamp);
}

const LIMITS = ["requestsPerMinute", "tokensPerMinute", "concurrentRequests"] as const;

/** Whether a spending limit lets a key spend more, or at another time, than the one before it. */
function allowsMore(before: SpendingLimit | undefined, after: SpendingLimit | undefined): boolean {
  if (!before) return false;
  const { period, timeZone = "UTC" } = before;
  const isSamePeriod = after?.period === period && (after.timeZone ?? "UTC") === timeZone;
  return !after || !isSamePeriod || after.amount > before.amount;
}

/** Finds the spending limit of the key itself, among those that bind it. */
async function findSpendingLimit(
  ledger: Pick<Ledger, "spendLimits">,
  { id, accountId }: KeyVersion,
): Promise<SpendingLimit | undefined> {
  const limits = await ledger.spendLimits(accountId, id);
  return limits.find(({ limitId }) => limitId === id);
}

/**
 * Gives a key a new secret. The old one ends after 24 hours, and one that an earlier rotation replaced ends
 * now. Rejects with `conflict` like {@link updateKey}.
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
    changed: async (tx, key) => issued?.(tx, { key, secret }),
  });
  return { key, secret };
}

/**
 * Ends the secret that the latest rotation replaced. It is refused within one second; its running requests
 * go on. Rejects with `conflict` like {@link updateKey}.
 */
export async function endPreviousSecret(parts: KeyChangeParts, read: KeyVersion): Promise<ApiKey> {
  return changeRow(parts, read, {
    action: "key.previous_ended",
    columns: () => ({ previousDigest: null, previousHint: null, previousEndsAtMs: null }),
  });
}

interface RowChange {
  readonly action: string;
  columns(row: KeyRow): Partial<KeyRow> | KeyChanges;
  /** Members of the audit entry beside those of the columns. */
  readonly before?: object;
  readonly after?: object;
  /** Whether the key may do more than before, which an operator who only acts inside its account cannot give. */
  widens?(before: ApiKey, after: ApiKey): boolean;
  /** Runs last in the transaction. */
  changed?(tx: Db, key: ApiKey): Promise<void>;
}

/** Changes the row of a key, with its audit entry. Rejects with `unknown_item` and `conflict`. */
async function changeRow(
  { database, now = platform.now, actor = COMMAND_LINE }: KeyChangeParts,
  { id, accountId, version }: KeyVersion,
  { action, columns, widens, changed, ...more }: RowChange,
): Promise<ApiKey> {
  const { apiKeys } = database.tables;
  return database.transact(async (tx) => {
    if (action === "key.rotated") {
      await requirePresentRight(database, tx, actor, { accountId, roles: ["owner", "developer"] });
    }
    const row = await readRow(database, tx, id);
    if (!row || row.accountId !== accountId) throw new GatewayError("unknown_item");
    const isRead = and(eq(apiKeys.id, id), eq(apiKeys.version, version), isNull(apiKeys.revokedAtMs));
    const set = { ...columns(row), version: version + 1 };
    const [updated] = await tx.update(apiKeys).set(set).where(isRead).returning();
    if (!updated) throw new GatewayError("conflict");
    const key = readKey(updated);
    if (widens?.(readKey(row), key) && (await isOnlyActing(database, tx, actor, accountId))) throw onlyActs();
    const { before, after } = differenceOf(describeKey(readKey(row)), describeKey(key));
    const entry = { before: { ...before, ...more.before }, after: { ...after, ...more.after } };
    await recordChange(database, tx, actor, { accountId, action, target: id, ...entry }, now());
    await changed?.(tx, key);
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
