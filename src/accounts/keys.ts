import { and, asc, eq, inArray, isNull, or } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import type { apiKeys } from "../db/sqlite/schema.ts";
import type { Nanos } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { LimitPeriod } from "../ledger/records.ts";
import type { Limits } from "../limiter/limiter.ts";
import { type ApiKey, createSecret, digestOf, hintOf } from "./key.ts";

export interface IssueParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "setSpendLimit">;
  readonly now?: () => number;
}

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
  readonly allowsClamp?: boolean | undefined;
  readonly expiresAtMs?: number | undefined;
  /** Maximum spending of the key per period. Default: bounded by the wallet alone. */
  readonly spendingLimit?: { readonly amount: Nanos; readonly period: LimitPeriod } | undefined;
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
  { database, ledger, now = Date.now }: IssueParts,
  request: NewKey,
): Promise<IssuedKey> {
  const createdAtMs = now();
  const { id = Bun.randomUUIDv7("hex", createdAtMs) } = request;
  const secret = createSecret();
  // The spending limit comes first, so that the key is never in force without it.
  if (request.spendingLimit) {
    const walletId = request.accountId;
    await ledger.setSpendLimit({ ...request.spendingLimit, walletId, limitId: id, keyId: id });
  }
  const { accountId, name, limits, models, allowsClamp, expiresAtMs } = request;
  const attributes = { accountId, name, models, allowsClamp, expiresAtMs };
  const digest = { digest: digestOf(secret), hint: hintOf(secret) };
  const { db, tables } = database;
  const [row] = await db
    .insert(tables.apiKeys)
    .values({ id, createdAtMs, ...attributes, ...limits, ...digest })
    .onConflictDoNothing()
    .returning();
  if (!row) throw new GatewayError("conflict");
  return { key: readKey(row), secret };
}

/** Finds every key with this id, hint or secret. Only a hint can match several keys. */
export async function findKeys(
  { db, tables: { apiKeys } }: Database,
  text: string,
): Promise<readonly ApiKey[]> {
  const isMatch = or(eq(apiKeys.id, text), eq(apiKeys.hint, text), eq(apiKeys.digest, digestOf(text)));
  const rows = await db.select().from(apiKeys).where(isMatch);
  return rows.map(readKey);
}

/** Lists the keys of one account, or of all accounts, oldest first. Includes revoked keys. */
export async function listKeys(
  { db, tables: { apiKeys } }: Database,
  accountId?: string,
): Promise<readonly ApiKey[]> {
  const isWanted = accountId === undefined ? undefined : eq(apiKeys.accountId, accountId);
  const order = [asc(apiKeys.createdAtMs), asc(apiKeys.id)];
  const rows = await db
    .select()
    .from(apiKeys)
    .where(isWanted)
    .orderBy(...order);
  return rows.map(readKey);
}

export interface RevokeParts {
  readonly database: Database;
  readonly now?: () => number;
}

/**
 * Revokes a key permanently. Every process rejects the key within one second and ends its running requests
 * within two more. Returns `false` when the key is unknown or was revoked before.
 */
export async function revokeKey({ database, now = Date.now }: RevokeParts, keyId: string): Promise<boolean> {
  const { db, tables } = database;
  const { apiKeys } = tables;
  const revoked = await db
    .update(apiKeys)
    .set({ revokedAtMs: now() })
    .where(and(eq(apiKeys.id, keyId), isNull(apiKeys.revokedAtMs)))
    .returning({ id: apiKeys.id });
  return revoked.length > 0;
}

/**
 * Returns which of these keys were revoked or deleted, or belong to a suspended account. Takes at most 1,000
 * ids and runs one query. Expired keys are not returned: a request that began before the expiry may finish.
 */
export async function findEndedKeys(
  { db, tables: { accounts, apiKeys } }: Database,
  keyIds: readonly string[],
): Promise<ReadonlyMap<string, "revoked" | "suspended">> {
  const rows = await db
    .select({ id: apiKeys.id, state: accounts.state })
    .from(apiKeys)
    .innerJoin(accounts, eq(accounts.id, apiKeys.accountId))
    .where(and(inArray(apiKeys.id, [...keyIds]), isNull(apiKeys.revokedAtMs)));
  const states = new Map(rows.map(({ id, state }) => [id, state]));
  const ended = new Map<string, "revoked" | "suspended">();
  for (const id of keyIds) {
    const state = states.get(id);
    if (state === undefined) ended.set(id, "revoked");
    else if (state === "suspended") ended.set(id, "suspended");
  }
  return ended;
}

type KeyRow = typeof apiKeys.$inferSelect;

/** Converts a row to a key, without its digest. The key is frozen, because callers share it. */
export function readKey(row: KeyRow): ApiKey {
  return Object.freeze({
    id: row.id,
    accountId: row.accountId,
    name: row.name,
    hint: row.hint,
    limits: Object.freeze(readLimits(row)),
    models: row.models ? Object.freeze(row.models) : undefined,
    allowsClamp: row.allowsClamp,
    createdAtMs: row.createdAtMs,
    expiresAtMs: row.expiresAtMs ?? undefined,
    revokedAtMs: row.revokedAtMs ?? undefined,
  });
}

/** Omits limits that the key does not set, so that spreading the result over the defaults keeps those. */
function readLimits({ requestsPerMinute, tokensPerMinute, concurrentRequests }: KeyRow): Limits {
  return {
    ...(requestsPerMinute === null ? {} : { requestsPerMinute }),
    ...(tokensPerMinute === null ? {} : { tokensPerMinute }),
    ...(concurrentRequests === null ? {} : { concurrentRequests }),
  };
}
