import { createAccount, listAccounts } from "../accounts/accounts.ts";
import {
  attributionOf,
  type EndUserNames,
  printSettings,
  setAttribution,
  TAG_KEYS_MAX,
} from "../accounts/attribution/settings.ts";
import { COMMAND_LINE } from "../accounts/audit-trail.ts";
import { setMarkup } from "../accounts/markup.ts";
import { createOperator } from "../accounts/people/operators.ts";
import { createPasswords } from "../accounts/people/passwords.ts";
import { resumeAccount, suspendAccount } from "../accounts/suspension.ts";
import type { Markup } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import { CommandError, type CommandResult } from "./command.ts";
import { printAccount, printBalances, printTable } from "./printing.ts";
import { requireAccount, type Storage } from "./storage.ts";

export interface AccountCreateOptions {
  readonly name: string;
  readonly email?: string;
}

export async function runAccountCreate(
  storage: Storage,
  options: AccountCreateOptions,
): Promise<CommandResult> {
  const account = await createAccount(storage, options).catch((thrown: unknown) => {
    const isTaken = thrown instanceof GatewayError && thrown.kind === "conflict";
    throw isTaken ? new CommandError(`There is an account "${options.name}" already.`) : thrown;
  });
  const balances = await storage.ledger.balances(account.id);
  return {
    json: { ...printAccount(account), ...printBalances(balances) },
    text: `Created account ${account.name} (${account.id}). Its wallet is empty: top it up.`,
  };
}

export async function runAccountList({ database, ledger }: Storage): Promise<CommandResult> {
  const accounts = await Promise.all(
    (await listAccounts(database)).map(async (account) => ({
      ...printAccount(account),
      ...printBalances(await ledger.balances(account.id)),
    })),
  );
  const rows = accounts.map((each) => [
    each.id,
    each.name,
    each.state,
    each.available_usd,
    each.posted_usd,
    each.held_usd,
  ]);
  return {
    json: { accounts },
    text: printTable(["ID", "NAME", "STATE", "AVAILABLE USD", "POSTED USD", "HELD USD"], rows),
  };
}

export interface AccountStateOptions {
  /** Id or name. */
  readonly account: string;
  readonly reason: string;
}

export async function runAccountSuspend(
  storage: Storage,
  { account: idOrName, reason }: AccountStateOptions,
): Promise<CommandResult> {
  const { id } = await requireAccount(storage.database, idOrName);
  const account = await suspendAccount({ ...storage, now: Date.now }, COMMAND_LINE, id, reason);
  return {
    json: printAccount(account),
    text: `Suspended account ${account.name}: its requests are refused within a second.`,
  };
}

export async function runAccountResume(
  storage: Storage,
  { account: idOrName, reason }: AccountStateOptions,
): Promise<CommandResult> {
  const { id } = await requireAccount(storage.database, idOrName);
  const account = await resumeAccount({ ...storage, now: Date.now }, COMMAND_LINE, id, reason);
  return { json: printAccount(account), text: `Resumed account ${account.name}.` };
}

export interface AccountMarkupOptions {
  /** Id or name. */
  readonly account: string;
  /** `false` returns to the prices of the models. */
  readonly markup: Markup | false;
  readonly reason: string;
}

/** Sets or removes the factor over upstream costs that an account pays. */
export async function runAccountMarkup(
  { database }: Storage,
  { account: idOrName, markup, reason }: AccountMarkupOptions,
): Promise<CommandResult> {
  const { id } = await requireAccount(database, idOrName);
  const parts = { database, now: Date.now };
  const change = { accountId: id, markup: markup || undefined, reason };
  const account = await setMarkup(parts, COMMAND_LINE, change);
  const json = printAccount(account);
  const text =
    json.markup === null
      ? `Account ${account.name} pays the prices of the models.`
      : `Account ${account.name} pays ${json.markup} times the upstream cost wherever it is known.`;
  return { json, text };
}

export interface AccountAttributionOptions {
  /** Id or name. */
  readonly account: string;
  readonly endUsers?: EndUserNames;
  /** `false` removes all. */
  readonly tags?: readonly string[] | false;
}

/** Sets how receipts name end users, and the keys of tags; shows both. */
export async function runAccountAttribution(
  { database }: Storage,
  { account: idOrName, endUsers, tags }: AccountAttributionOptions,
): Promise<CommandResult> {
  const { id, name } = await requireAccount(database, idOrName);
  const edit = { endUsers, tagKeys: tags === false ? [] : tags };
  const changed = await setAttribution({ database, now: Date.now }, COMMAND_LINE, id, edit).catch(
    (thrown: unknown) => {
      const isWrong = thrown instanceof GatewayError && thrown.kind === "wrong_shape";
      throw isWrong
        ? new CommandError(`Expected at most ${TAG_KEYS_MAX} keys, such as "feature".`, 2)
        : thrown;
    },
  );
  const settings = printSettings(attributionOf(changed));
  const keys = settings.tag_keys.length === 0 ? "none" : settings.tag_keys.join(", ");
  return {
    json: { account_id: id, ...settings },
    text: `Account ${name}: end users ${settings.end_users}, keys of tags: ${keys}.`,
  };
}

export interface OperatorCreateOptions {
  readonly email: string;
  readonly name?: string;
}

/** Creates an operator, or gives an existing person the right and a new one-time password. */
export async function runOperatorCreate(
  { database }: Storage,
  options: OperatorCreateOptions,
): Promise<CommandResult> {
  const parts = { database, passwords: createPasswords() };
  const created = await createOperator(parts, options, COMMAND_LINE).catch((thrown: unknown) => {
    const isWrong = thrown instanceof GatewayError && thrown.kind === "wrong_shape";
    throw isWrong ? new CommandError(`"${options.email}" is not an e-mail address.`, 2) : thrown;
  });
  const { person, oneTimePassword, isNew } = created;
  const what = isNew ? `Created operator ${person.email}.` : `Made ${person.email} an operator.`;
  return {
    json: { id: person.id, email: person.email, is_new: isNew, one_time_password: oneTimePassword },
    text: `${what} The password is shown only now; the first sign-in asks for a new one:\n${oneTimePassword}`,
  };
}
