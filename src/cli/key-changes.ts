import type { ApiKey } from "../accounts/keys/key.ts";
import { rotateKey, updateKey } from "../accounts/keys/key-changes.ts";
import type { SpendingLimit } from "../accounts/spending-limits.ts";
import { DAY_MS, printTime } from "../domain/id-time.ts";
import type { Nanos } from "../domain/money.ts";
import type { LimitPeriod } from "../domain/period.ts";
import type { Tier } from "../domain/tiers.ts";
import { GatewayError } from "../errors.ts";
import { CommandError, type CommandResult } from "./command.ts";
import { checkModels, findSpendLimit, type KeyParts, requireKey } from "./key.ts";
import { printKey } from "./printing.ts";
import { requireProject } from "./project.ts";
import { requireAccount, type Storage } from "./storage.ts";

/** The members of a key to change: an absent one stays, false removes it. */
export interface KeyUpdateOptions {
  readonly name?: string;
  readonly spendingLimit?: Nanos | false;
  readonly reset?: LimitPeriod;
  readonly requestsPerMinute?: number | false;
  readonly tokensPerMinute?: number | false;
  readonly concurrentRequests?: number | false;
  readonly models?: readonly string[] | false;
  readonly tiers?: readonly Tier[] | false;
  readonly paidTools?: boolean;
  readonly allowClamp?: boolean;
  readonly allowChildren?: boolean;
  readonly project?: string;
  readonly expiresInDays?: number | false;
}

export async function runKeyUpdate(
  storage: KeyParts,
  idOrHint: string,
  options: KeyUpdateOptions,
): Promise<CommandResult> {
  const { now = Date.now } = storage;
  // A change of nothing would make every editor's version old.
  if (!namesChange(options)) throw new CommandError("Name at least one change, such as --name.", 2);
  const { name, requestsPerMinute, tokensPerMinute, concurrentRequests, models, expiresInDays } = options;
  checkModels(models || []);
  const key = await requireKey(storage, idOrHint);
  const spendingLimit = await changeSpendingLimit(storage, key, options);
  const projectId = await findProjectId(storage, key, options.project);
  const changed = await orConflict(
    updateKey(storage, key, {
      name,
      requestsPerMinute: orNull(requestsPerMinute),
      tokensPerMinute: orNull(tokensPerMinute),
      concurrentRequests: orNull(concurrentRequests),
      models: orNull(models),
      tiers: orNull(options.tiers),
      forbidsPaidTools: options.paidTools === undefined ? undefined : !options.paidTools,
      allowsClamp: options.allowClamp,
      allowsChildren: options.allowChildren,
      projectId,
      expiresAtMs: expiresInDays ? now() + expiresInDays * DAY_MS : orNull(expiresInDays),
      spendingLimit,
    }),
  );
  return {
    json: printKey(changed, await findSpendLimit(storage.ledger, changed)),
    text: `Changed key ${changed.name} (${changed.id}): in force in every process within a second.`,
  };
}

/** Finds the project to move a key to. */
async function findProjectId(
  storage: Storage,
  { accountId }: ApiKey,
  named: string | undefined,
): Promise<string | undefined> {
  if (named === undefined) return undefined;
  const account = await requireAccount(storage.database, accountId);
  return (await requireProject(storage, account, named)).id;
}

export async function runKeyRotate(storage: KeyParts, idOrHint: string): Promise<CommandResult> {
  const read = await requireKey(storage, idOrHint);
  const { key, secret } = await orConflict(rotateKey(storage, read));
  const ends = printTime(key.previous?.endsAtMs);
  return {
    json: { ...printKey(key, await findSpendLimit(storage.ledger, key)), key: secret },
    text: `Rotated key ${key.name} (${key.id}). The old secret ends at ${ends}. The new one is shown only now:\n${secret}`,
  };
}

/** Commander adds `--json` to the options. */
function namesChange({ json: _json, ...changes }: KeyUpdateOptions & { readonly json?: boolean }): boolean {
  return Object.values(changes).some((change) => change !== undefined);
}

/** A new amount keeps period and zone of the present limit, unless `--reset` names another period. */
async function changeSpendingLimit(
  { ledger }: Storage,
  key: ApiKey,
  { spendingLimit: amount, reset }: KeyUpdateOptions,
): Promise<SpendingLimit | null | undefined> {
  if (reset && typeof amount !== "bigint") {
    throw new CommandError("--reset is the period of a spending limit: give --spending-limit too.", 2);
  }
  if (typeof amount !== "bigint") return orNull(amount);
  const present = await findSpendLimit(ledger, key);
  return { amount, period: reset ?? present?.period ?? "total", timeZone: present?.timeZone };
}

/** Converts an option that removes a member. */
function orNull<Value>(option: Value | false): Value | null {
  return option === false ? null : option;
}

async function orConflict<Result>(changing: Promise<Result>): Promise<Result> {
  return changing.catch((fault: unknown) => {
    if (!(fault instanceof GatewayError)) throw fault;
    if (fault.kind === "wrong_shape") {
      throw new CommandError(
        "A key that a key made keeps project and rates of its root, and lasts no longer.",
      );
    }
    if (fault.kind !== "conflict") throw fault;
    throw new CommandError(
      "The key was revoked or changed at the same time, or the project is archived: look at it again.",
    );
  });
}
