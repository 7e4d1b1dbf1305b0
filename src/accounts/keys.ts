import type { Database } from "../db/database.ts";
import type { Nanos } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import type { Ledger, LimitPeriod } from "../ledger/ledger.ts";
import type { Limits } from "../limiter/limiter.ts";
import type { ApiKey } from "./key.ts";
import { readKey } from "./read-key.ts";
import { createSecret, digestOf, hintOf } from "./secret.ts";

export interface IssueParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "setSpendLimit">;
  readonly now?: () => number;
}

export interface NewKey {
  /** A UUID; without it, a new one. The same id is issued once. */
  readonly id?: string | undefined;
  /** An account that exists. */
  readonly accountId: string;
  readonly name: string;
  /** Bounds that differ from the configured ones. */
  readonly limits?: Limits | undefined;
  /** Model ids the key may use; without them, every model. */
  readonly models?: readonly string[] | undefined;
  readonly allowsClamp?: boolean | undefined;
  readonly expiresAtMs?: number | undefined;
  /** The most that the key may spend per period; without it, what the wallet holds. */
  readonly spendingLimit?: { readonly amount: Nanos; readonly period: LimitPeriod } | undefined;
}

export interface IssuedKey {
  readonly key: ApiKey;
  /** "sk-tg-" and 43 characters. Only here: nothing that is stored leads back to it. */
  readonly secret: string;
}

/**
 * Issues a key with its limits. Rejects with `conflict` when the id is taken, with LedgerError when the
 * account has no wallet.
 */
export async function issueKey(
  { database, ledger, now = Date.now }: IssueParts,
  request: NewKey,
): Promise<IssuedKey> {
  const createdAtMs = now();
  const { id = Bun.randomUUIDv7("hex", createdAtMs) } = request;
  const secret = createSecret();
  // The limit comes first, so that the key is never in force without it.
  if (request.spendingLimit) {
    const walletId = request.accountId;
    await ledger.setSpendLimit({ ...request.spendingLimit, walletId, limitId: id, keyId: id });
  }
  const { accountId, name, limits, models, allowsClamp, expiresAtMs } = request;
  const facts = { accountId, name, models, allowsClamp, expiresAtMs };
  const digest = { digest: digestOf(secret), hint: hintOf(secret) };
  const { db, tables } = database;
  const [row] = await db
    .insert(tables.apiKeys)
    .values({ id, createdAtMs, ...facts, ...limits, ...digest })
    .onConflictDoNothing()
    .returning();
  if (!row) throw new GatewayError("conflict");
  return { key: readKey(row), secret };
}
