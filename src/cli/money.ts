import { COMMAND_LINE } from "../accounts/audit-trail.ts";
import type { CreditSource } from "../domain/credit.ts";
import { DAY_MS, printTime } from "../domain/id-time.ts";
import { type Nanos, printUsd } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import { LedgerError } from "../ledger/ledger.ts";
import type { Balances } from "../ledger/records.ts";
import { bookCorrection, bookRefund, bookTopUp } from "../payments/bookings.ts";
import { createCodes } from "../payments/redeem-codes.ts";
import { CommandError, type CommandResult } from "./command.ts";
import { printBalances } from "./printing.ts";
import { requireAccount, type Storage } from "./storage.ts";

export interface TopUpOptions {
  readonly account: string;
  readonly amount: Nanos;
  readonly id: string;
  /** Default: purchase. */
  readonly source?: CreditSource;
  /** Unix milliseconds. Default: never. */
  readonly expires?: number;
}

export async function runTopUp(storage: Storage, options: TopUpOptions): Promise<CommandResult> {
  const account = await requireAccount(storage.database, options.account);
  const { id: topUpId, amount, source, expires: expiresAtMs } = options;
  const booking = { accountId: account.id, id: topUpId, amount, source, expiresAtMs };
  const booked = bookTopUp({ ...storage, now: Date.now }, COMMAND_LINE, booking);
  const { balances, replayed } = await booked.catch(throwCreditError);
  const summary = replayed
    ? `Top-up ${topUpId} was booked before: nothing was added`
    : `Topped up account ${account.name} by ${printUsd(amount)} USD${expiresAtMs === undefined ? "" : ` until ${printTime(expiresAtMs)}`}`;
  const credit = { source: source ?? "purchase", expires_at: printTime(expiresAtMs) };
  const members = { id: topUpId, account_id: account.id, amount_usd: printUsd(amount), ...credit };
  return printBooked(members, summary, { balances, replayed });
}

function throwCreditError(fault: unknown): never {
  if (!(fault instanceof LedgerError) || fault.code !== "invalid_credit") throw fault;
  throw new CommandError("The credit was refused: its end is past, or the wallet has too many credits.");
}

export interface CorrectionOptions extends Pick<TopUpOptions, "account" | "amount" | "id"> {
  /** The id of the top-up to take the amount from first. */
  readonly credit?: string;
  readonly reason: string;
  readonly yes?: boolean;
}

export async function runCorrect(storage: Storage, options: CorrectionOptions): Promise<CommandResult> {
  const account = await requireAccount(storage.database, options.account);
  const { id, amount, reason } = options;
  if (!options.yes) {
    const { available } = await storage.ledger.balances(account.id);
    const balance = `${printUsd(available)} USD are available, and ${printUsd(available - amount)} USD would be`;
    throw new CommandError(`Nothing was changed: ${balance}. Repeat the command with --yes.`);
  }
  const booking = { accountId: account.id, id, amount, reason, creditId: options.credit };
  const booked = bookCorrection({ ...storage, now: Date.now }, COMMAND_LINE, booking);
  const { balances, replayed } = await booked.catch(throwCommandError);
  const summary = replayed
    ? `Correction ${id} was booked before: nothing was taken off`
    : `Took ${printUsd(amount)} USD off account ${account.name}`;
  const members = { id, account_id: account.id, amount_usd: printUsd(amount), reason };
  return printBooked(members, summary, { balances, replayed });
}

export interface RefundOptions {
  readonly account: string;
  readonly receipt: string;
  readonly amount?: Nanos;
  readonly id: string;
  /** Days until it ends where the credit of the charge has ended. Default: 7. */
  readonly creditDays?: number;
}

const CREDIT_DAYS_MAX = 365;

export async function runRefund(storage: Storage, options: RefundOptions): Promise<CommandResult> {
  const account = await requireAccount(storage.database, options.account);
  const { id, receipt, amount: wanted, creditDays } = options;
  if (creditDays !== undefined && creditDays > CREDIT_DAYS_MAX)
    throw new CommandError(`Expected days of the credit from 1 to ${CREDIT_DAYS_MAX}.`, 2);
  const booking = { accountId: account.id, id, receipt, amount: wanted, creditDays };
  const booked = bookRefund({ ...storage, now: Date.now }, COMMAND_LINE, booking);
  const { amount, balances, replayed } = await booked.catch(throwCommandError);
  const summary = replayed
    ? `Refund ${id} was booked before: nothing was added`
    : `Refunded ${printUsd(amount)} USD of receipt ${receipt} to account ${account.name}`;
  const members = { id, account_id: account.id, receipt, amount_usd: printUsd(amount) };
  return printBooked(members, summary, { balances, replayed });
}

interface Booked {
  readonly balances: Balances;
  readonly replayed: boolean;
}

function printBooked(members: object, summary: string, { balances, replayed }: Booked): CommandResult {
  return {
    json: { ...members, replayed, ...printBalances(balances) },
    text: `${summary}. ${printUsd(balances.available)} USD are available.`,
  };
}

/** The errors of a refund in the words of the command line. */
function throwCommandError(fault: unknown): never {
  if (!(fault instanceof GatewayError)) throw fault;
  const isUnknown = fault.kind === "unknown_receipt";
  throw new CommandError(isUnknown ? "The account has no such receipt." : fault.publicMessage);
}

export interface CodeCreateOptions {
  readonly amount: Nanos;
  /** Default: 1. */
  readonly count?: number;
  readonly note?: string;
  readonly expiresInDays?: number;
  /** Default: promotion. */
  readonly source?: CreditSource;
  /** From the redemption. Default: never. */
  readonly creditDays?: number;
}

const COUNT_MAX = 100;

/** Creates redeem codes and prints them, once. */
export async function runCodeCreate(
  { database }: Storage,
  { amount, count = 1, note, expiresInDays, source, creditDays }: CodeCreateOptions,
  now: () => number = Date.now,
): Promise<CommandResult> {
  if (count < 1 || count > COUNT_MAX) {
    throw new CommandError(`Expected a count from 1 to ${COUNT_MAX}.`, 2);
  }
  const expiresAtMs = expiresInDays === undefined ? undefined : now() + expiresInDays * DAY_MS;
  const wanted = { amount, count, note, expiresAtMs, source, creditDays };
  const issued = await createCodes({ database, now }, COMMAND_LINE, wanted);
  const codes = issued.map(({ id, code }) => ({ id, code, amount_usd: printUsd(amount) }));
  const noun = count === 1 ? "code" : "codes";
  return {
    json: { codes, note: note ?? null, expires_at: printTime(expiresAtMs) },
    text: [
      `Created ${count} redeem ${noun} of ${printUsd(amount)} USD, shown only now:`,
      ...codes.map(({ code }) => code),
    ].join("\n"),
  };
}
