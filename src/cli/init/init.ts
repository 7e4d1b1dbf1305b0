import { createSecret, isSecret } from "../../accounts/keys/key.ts";
import type { Client } from "../../clients/client.ts";
import { CLIENTS } from "../../clients/clients.ts";
import { AdditionError } from "../../config/add-entries.ts";
import { findSettings, type SettingsFiles } from "../../config/env-file.ts";
import { type Nanos, parseUsd } from "../../domain/money.ts";
import type { LimitPeriod } from "../../domain/period.ts";
import { completeFirstAccount, UnusableKeyError } from "../../setup/first-account.ts";
import { writeSetup } from "../../setup/write-setup.ts";
import { CommandError, type CommandResult } from "../command.ts";
import { withStorage } from "../storage.ts";
import type { Ask } from "./ask.ts";
import { type ProviderOptions, planProviders } from "./providers.ts";
import { reportInit } from "./report.ts";

export interface InitOptions extends ProviderOptions {
  readonly account?: string;
  /** Credit of a new account. */
  readonly credit?: Nanos;
  /** Of the key. Default: none. */
  readonly spendingLimit?: Nanos;
  readonly reset?: LimitPeriod;
  /** E-mail address of the first operator; `false` for none. */
  readonly operator?: string | false;
  /** Id of the client whose settings are printed. */
  readonly client?: string;
  /** Origin of the gateway. Default: `PUBLIC_URL`, or `HOST` and `PORT` on this machine. */
  readonly url?: string;
}

const ACCOUNT = "main";
const CREDIT = "20.00";
const OPERATOR = "operator@localhost";
const CLIENT = "curl";
/** The variable that holds the secret of the key that clients have. */
const KEY = "TOLLGATE_KEY";

/**
 * Sets a gateway up: upstreams and models in the YAML file, secrets in `.env`, an account with credit, a key and an
 * operator in the database. Adds what is missing, so that a killed run is completed by the next one. Without `ask`,
 * every answer comes from an option, a variable or a default.
 */
export async function runInit(options: InitOptions, ask?: Ask): Promise<CommandResult> {
  if (options.reset && options.spendingLimit === undefined) {
    throw new CommandError("--reset is the period of a spending limit: give --spending-limit too.", 2);
  }
  const client = findClient(options.client ?? CLIENT);
  const files = findSettings();
  ask?.tell(`Settings are kept in ${files.configPath}, and secrets in ${files.envPath}.\n`);
  try {
    const setup = await planProviders(options, files, ask);
    const wish = await askForAccount(options, files, ask);
    const chosen = ask && options.client === undefined ? await chooseClient(ask) : client;
    requireSecret(files);
    const written = writeSetup(files, { ...setup, made: { [KEY]: createSecret() } });
    const secret = written.made[KEY] ?? "";
    const created = await withStorage((storage) =>
      completeFirstAccount({ ...storage, now: Date.now }, { ...wish, secret }),
    );
    return await reportInit({ files, setup, written, created, secret, client: chosen, url: options.url });
  } catch (error) {
    if (error instanceof AdditionError) throw new CommandError(error.message);
    if (error instanceof UnusableKeyError) throw new CommandError(explainKey(error));
    throw error;
  }
}

/**
 * Throws for a variable that is no secret of a key. The secret is in `.env` before the database has its key, so that
 * no key is without one who knows it.
 */
function requireSecret({ own }: SettingsFiles): void {
  if (own[KEY] !== undefined && !isSecret(own[KEY]))
    throw new AdditionError(`${KEY} in .env is no key of Tollgate: remove that line.`);
}

function explainKey({ message }: UnusableKeyError): string {
  return `${KEY} in .env ${message}: remove that line for a new key, or leave out --account.`;
}

/** Returns the account to create, as asked for; nothing is asked where `.env` has a key already. */
async function askForAccount(options: InitOptions, { own }: SettingsFiles, ask: Ask | undefined) {
  const { account, credit, spendingLimit, reset = "total" } = options;
  const isNew = own[KEY] === undefined;
  const name = account ?? (isNew && ask ? await ask.text("Name of your account", ACCOUNT) : undefined);
  const amount =
    credit ?? (isNew && ask ? await askForUsd(ask, "Its credit in USD", CREDIT) : parseUsd(CREDIT));
  const limit =
    spendingLimit === undefined && isNew && ask
      ? {
          amount: await askForUsd(ask, "Most that its key may spend a month, in USD", CREDIT),
          period: "month" as const,
        }
      : spendingLimit !== undefined && { amount: spendingLimit, period: reset };
  const operator = options.operator === false ? undefined : (options.operator ?? OPERATOR);
  return { name, credit: amount, spendingLimit: limit || undefined, operator };
}

async function askForUsd(ask: Ask, question: string, fallback: string): Promise<Nanos> {
  for (;;) {
    try {
      return parseUsd(await ask.text(question, fallback));
    } catch {
      ask.tell("Expected USD such as 5.00.");
    }
  }
}

function findClient(id: string): Client {
  const found = CLIENTS.find((client) => client.id === id);
  if (!found) throw new CommandError(`The clients are ${CLIENTS.map((each) => each.id).join(", ")}.`, 2);
  return found;
}

async function chooseClient(ask: Ask): Promise<Client> {
  const choices = CLIENTS.map(({ id, title }) => ({ value: id, label: title }));
  const [id = CLIENT] = await ask.choose("Client that you use first", choices, true);
  return findClient(id);
}
