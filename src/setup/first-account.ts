import { type Account, createAccount, findAccount } from "../accounts/accounts.ts";
import { COMMAND_LINE } from "../accounts/audit-trail.ts";
import { type ApiKey, stateOfKey } from "../accounts/keys/key.ts";
import { findKeys, issueKey, listKeys } from "../accounts/keys/keys.ts";
import { type CreatedOperator, createOperator, findOperators } from "../accounts/people/operators.ts";
import { createPasswords } from "../accounts/people/passwords.ts";
import type { Database } from "../db/database.ts";
import type { Nanos } from "../domain/money.ts";
import type { LimitPeriod } from "../domain/period.ts";
import { GatewayError } from "../errors.ts";
import { type Ledger, LedgerError } from "../ledger/ledger.ts";
import { bookTopUp } from "../payments/bookings.ts";

interface AccountParts {
  readonly database: Database;
  readonly ledger: Ledger;
  readonly now: () => number;
}

/** The account of the one who sets a gateway up, with one key. */
export interface FirstAccountWish {
  /** Default: the account of the key, else "main". */
  readonly name?: string | undefined;
  /** The secret of the key, kept by the caller before this is called. */
  readonly secret: string;
  /** Credit of a new account. */
  readonly credit: Nanos;
  readonly spendingLimit?: { readonly amount: Nanos; readonly period: LimitPeriod } | undefined;
  /** E-mail address of the operator who owns the account, where there is no operator yet; `undefined` for none. */
  readonly operator?: string | undefined;
}

export interface FirstAccount {
  readonly account: Account;
  readonly key: ApiKey;
  readonly isNewKey: boolean;
  /** What was credited now; 0 where the account had money or a key before. */
  readonly credited: Nanos;
  /** An operator who has not signed in yet, with a one-time password. */
  readonly operator: CreatedOperator | undefined;
}

const ACCOUNT_NAME = "main";

/** The secret is of a key that cannot be used for this account. */
export class UnusableKeyError extends Error {
  override readonly name = "UnusableKeyError";
}

/**
 * Creates what is missing of an account with credit, key and operator. Each step is done once, so that a killed one
 * is completed by the next call. Rejects with {@link UnusableKeyError}, before anything is changed.
 */
export async function completeFirstAccount(
  parts: AccountParts,
  wish: FirstAccountWish,
): Promise<FirstAccount> {
  const key = await findOwnKey(parts.database, wish.secret);
  const name = wish.name ?? key?.accountId ?? ACCOUNT_NAME;
  const found = await findAccount(parts.database, name);
  if (key) requireUsable(key, found, parts.now());
  const account = found ?? (await createNamed(parts, name));
  const credited = await creditOnce(parts, account, wish.credit);
  const issued = key ?? (await issue(parts, account, wish));
  const operator = await createFirstOperator(parts, account, wish.operator);
  return { account, key: issued, isNewKey: key === undefined, credited, operator };
}

/** Creates an account, or returns the one that another command has created since. */
async function createNamed(parts: AccountParts, name: string): Promise<Account> {
  try {
    return await createAccount(parts, { name });
  } catch (fault) {
    const other = await findAccount(parts.database, name);
    if (other && fault instanceof GatewayError && fault.kind === "conflict") return other;
    throw fault;
  }
}

function requireUsable(key: ApiKey, account: Account | undefined, nowMs: number): void {
  if (key.accountId !== account?.id) throw new UnusableKeyError("is the key of another account");
  if (stateOfKey(key, nowMs) !== "active")
    throw new UnusableKeyError("is a key that is revoked or has expired");
}

async function findOwnKey(database: Database, secret: string): Promise<ApiKey | undefined> {
  return (await findKeys(database, secret))[0];
}

/** Credits an account without money and keys. The id of the top-up makes it one, also beside another command. */
async function creditOnce(parts: AccountParts, { id }: Account, amount: Nanos): Promise<Nanos> {
  const { posted } = await parts.ledger.balances(id);
  if (amount === 0n || posted !== 0n || (await listKeys(parts.database, id)).length > 0) return 0n;
  try {
    const booking = { accountId: id, id: `init-${id}`, amount, source: "adjustment" as const };
    const { replayed } = await bookTopUp(parts, COMMAND_LINE, booking);
    return replayed ? 0n : amount;
  } catch (fault) {
    if (fault instanceof LedgerError && fault.code === "conflict") return 0n;
    throw fault;
  }
}

async function issue(
  parts: AccountParts,
  { id: accountId, name }: Account,
  { secret, spendingLimit }: FirstAccountWish,
): Promise<ApiKey> {
  try {
    return (await issueKey(parts, { accountId, name, spendingLimit }, secret)).key;
  } catch (fault) {
    // Two commands with one file of settings have one secret: the other one was faster.
    const other = await findOwnKey(parts.database, secret);
    if (other && fault instanceof GatewayError && fault.kind === "conflict") return other;
    throw fault;
  }
}

/** Creates an operator where there is none. One who has not signed in yet gets another one-time password. */
async function createFirstOperator(
  { database, now }: AccountParts,
  { id: accountId }: Account,
  email: string | undefined,
): Promise<CreatedOperator | undefined> {
  if (email === undefined) return undefined;
  const operators = await findOperators(database);
  const isWaiting = operators.some((each) => each.email === email.toLowerCase() && each.mustChangePassword);
  if (operators.length > 0 && !isWaiting) return undefined;
  const parts = { database, passwords: createPasswords(), now };
  return createOperator(parts, { email, accountId }, COMMAND_LINE);
}
