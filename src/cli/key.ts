import type { ApiKey } from "../accounts/keys/key.ts";
import { findKeys, issueKey, listKeys, revokeKey } from "../accounts/keys/keys.ts";
import { createCatalog } from "../catalog/catalog.ts";
import { loadConfig } from "../config/config.ts";
import { DAY_MS } from "../domain/id-time.ts";
import type { Nanos } from "../domain/money.ts";
import type { LimitPeriod } from "../domain/period.ts";
import type { Tier } from "../domain/tiers.ts";
import { GatewayError } from "../errors.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { SpendLimitUsage } from "../ledger/records.ts";
import { CommandError, type CommandResult } from "./command.ts";
import { printKey, printTable } from "./printing.ts";
import { requireProject } from "./project.ts";
import { requireAccount, type Storage } from "./storage.ts";

export interface KeyCreateOptions {
  readonly account: string;
  readonly name: string;
  readonly spendingLimit?: Nanos;
  readonly reset?: LimitPeriod;
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  readonly concurrentRequests?: number;
  readonly models?: readonly string[];
  readonly tiers?: readonly Tier[];
  readonly paidTools?: boolean;
  readonly allowClamp?: boolean;
  readonly allowChildren?: boolean;
  /** Id or name of a project of the account. */
  readonly project?: string;
  readonly expiresInDays?: number;
}

export interface KeyParts extends Storage {
  readonly now?: () => number;
}

export async function runKeyCreate(storage: KeyParts, options: KeyCreateOptions): Promise<CommandResult> {
  const { now = Date.now } = storage;
  const account = await requireAccount(storage.database, options.account);
  if (options.reset && options.spendingLimit === undefined) {
    throw new CommandError("--reset is the period of a spending limit: give --spending-limit too.", 2);
  }
  checkModels(options.models ?? []);
  const { name, requestsPerMinute, tokensPerMinute, concurrentRequests, models, allowClamp } = options;
  const project =
    options.project === undefined ? undefined : await requireProject(storage, account, options.project);
  const issuing = issueKey(storage, {
    accountId: account.id,
    projectId: project?.id === account.id ? undefined : project?.id,
    name,
    limits: { requestsPerMinute, tokensPerMinute, concurrentRequests },
    models,
    tiers: options.tiers,
    forbidsPaidTools: options.paidTools === false,
    allowsClamp: allowClamp,
    allowsChildren: options.allowChildren,
    expiresAtMs: options.expiresInDays && now() + options.expiresInDays * DAY_MS,
    spendingLimit: readSpendingLimit(options),
  });
  const { key, secret } = await issuing.catch((fault: unknown) => {
    if (!(fault instanceof GatewayError) || fault.kind !== "conflict") throw fault;
    throw new CommandError(`Project ${project?.name} is archived: it takes no new keys.`);
  });
  const spendLimit = await findSpendLimit(storage.ledger, key);
  return {
    json: { ...printKey(key, spendLimit), key: secret },
    text: `Created key ${key.name} (${key.id}) of account ${account.name}. It is shown only now:\n${secret}`,
  };
}

function readSpendingLimit({ spendingLimit, reset = "total" }: KeyCreateOptions) {
  return spendingLimit === undefined ? undefined : { amount: spendingLimit, period: reset };
}

/** Reads the configuration only when models are named: other keys need no upstream credentials to be set. */
export function checkModels(models: readonly string[]): void {
  if (models.length === 0) return;
  const catalog = createCatalog(loadConfig().models);
  const unknown = models.filter((model) => !catalog.find(model));
  if (unknown.length > 0) throw new CommandError(`The catalog has no model ${unknown.join(", ")}.`);
}

export interface KeyListOptions {
  readonly account?: string;
  /** Id, hint or secret of the key that made the keys. */
  readonly parent?: string;
}

export async function runKeyList(storage: Storage, options: KeyListOptions): Promise<CommandResult> {
  const { database, ledger } = storage;
  const parent = options.parent === undefined ? undefined : await requireKey(storage, options.parent);
  const account = options.account === undefined ? undefined : await requireAccount(database, options.account);
  const keys = await Promise.all(
    (await listKeys(database, account?.id, parent?.id)).map(async (key) =>
      printKey(key, await findSpendLimit(ledger, key)),
    ),
  );
  const rows = keys.map((key) => [
    key.id,
    key.hint,
    key.name,
    key.account_id,
    describeState(key),
    describeLimit(key),
  ]);
  return {
    json: { keys },
    text: printTable(["ID", "HINT", "NAME", "ACCOUNT", "STATE", "SPENDING LIMIT"], rows),
  };
}

/** Finds the spending limit of the key itself, among those of its wallet. */
export async function findSpendLimit(
  ledger: Pick<Ledger, "spendLimits">,
  { id, accountId }: ApiKey,
): Promise<SpendLimitUsage | undefined> {
  const limits = await ledger.spendLimits(accountId, id);
  return limits.find(({ limitId }) => limitId === id);
}

type PrintedKey = ReturnType<typeof printKey>;

function describeState({ revoked_at: revokedAt, expires_at: expiresAt }: PrintedKey): string {
  if (revokedAt) return `revoked ${revokedAt}`;
  if (!expiresAt) return "in force";
  return `${Date.parse(expiresAt) <= Date.now() ? "expired" : "expires"} ${expiresAt}`;
}

function describeLimit({ spending_limit: limit }: PrintedKey): string {
  return limit ? `${limit.used_usd} of ${limit.amount_usd} USD (${limit.reset})` : "none";
}

/** Finds the key of a command, by its id, hint or secret. Throws unless exactly one key matches. */
export async function requireKey({ database }: Storage, idOrHint: string): Promise<ApiKey> {
  const [key, ...others] = await findKeys(database, idOrHint);
  if (!key) throw new CommandError("There is no such key.");
  if (others.length > 0) {
    const ids = [key, ...others].map(({ id }) => id).join(", ");
    throw new CommandError(`The hint stands for several keys, name one by its id: ${ids}.`);
  }
  return key;
}

export async function runKeyRevoke(storage: Storage, idOrHint: string): Promise<CommandResult> {
  const { database } = storage;
  const key = await requireKey(storage, idOrHint);
  const isNew = await revokeKey({ database }, key.id);
  return {
    json: { id: key.id, hint: key.hint, revoked: true, replayed: !isNew },
    text: isNew
      ? `Revoked key ${key.name} (${key.id}): every process rejects it within a second.`
      : `Key ${key.name} (${key.id}) was revoked before.`,
  };
}
