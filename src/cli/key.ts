import { issueKey } from "../accounts/keys.ts";
import { createCatalog } from "../catalog/catalog.ts";
import { loadConfig } from "../config/config.ts";
import type { Nanos } from "../domain/money.ts";
import type { LimitPeriod } from "../ledger/ledger.ts";
import type { CommandResult } from "./command.ts";
import { CommandError } from "./command-error.ts";
import { findSpendLimit } from "./key-list.ts";
import { printKey } from "./printing.ts";
import { requireAccount, type Storage } from "./storage.ts";

const DAY_MS = 86_400_000;

export interface KeyCreateOptions {
  readonly account: string;
  readonly name: string;
  readonly spendingLimit?: Nanos;
  readonly reset?: LimitPeriod;
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  readonly concurrentRequests?: number;
  readonly models?: readonly string[];
  readonly allowClamp?: boolean;
  readonly expiresInDays?: number;
}

interface KeyCreateParts extends Storage {
  readonly now?: () => number;
}

export async function runKeyCreate(books: KeyCreateParts, options: KeyCreateOptions): Promise<CommandResult> {
  const { now = Date.now } = books;
  const account = await requireAccount(books.database, options.account);
  if (options.reset && options.spendingLimit === undefined) {
    throw new CommandError("--reset says when a spending limit starts anew: give --spending-limit too.", 2);
  }
  checkModels(options.models ?? []);
  const { name, requestsPerMinute, tokensPerMinute, concurrentRequests, models, allowClamp } = options;
  const { key, secret } = await issueKey(books, {
    accountId: account.id,
    name,
    limits: { requestsPerMinute, tokensPerMinute, concurrentRequests },
    models,
    allowsClamp: allowClamp,
    expiresAtMs: options.expiresInDays && now() + options.expiresInDays * DAY_MS,
    spendingLimit: readSpendingLimit(options),
  });
  const spendLimit = await findSpendLimit(books.ledger, key);
  return {
    json: { ...printKey(key, spendLimit), key: secret },
    text: `Created key ${key.name} (${key.id}) of account ${account.name}. It is shown only now:\n${secret}`,
  };
}

function readSpendingLimit({ spendingLimit, reset = "total" }: KeyCreateOptions) {
  return spendingLimit === undefined ? undefined : { amount: spendingLimit, period: reset };
}

/** The file is read only when models are named: everything else works without an upstream's key at hand. */
function checkModels(models: readonly string[]): void {
  if (models.length === 0) return;
  const catalog = createCatalog(loadConfig().models);
  const unknown = models.filter((model) => !catalog.find(model));
  if (unknown.length > 0) throw new CommandError(`The catalog has no model ${unknown.join(", ")}.`);
}
