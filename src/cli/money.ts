import { type Nanos, printUsd } from "../domain/money.ts";
import { type Ledger, LedgerError, type Posting } from "../ledger/ledger.ts";
import type { JournalLine, Receipt } from "../ledger/records.ts";
import { CommandError, type CommandResult } from "./command.ts";
import { printBalances } from "./printing.ts";
import { requireAccount, type Storage } from "./storage.ts";

const PAGE_SIZE = 1_000;
const DAY_MS = 86_400_000;

export interface TopUpOptions {
  readonly account: string;
  readonly amount: Nanos;
  readonly id: string;
}

export async function runTopUp({ database, ledger }: Storage, options: TopUpOptions): Promise<CommandResult> {
  const account = await requireAccount(database, options.account);
  const { id: topUpId, amount } = options;
  const { balances, replayed } = await ledger.topUp({ walletId: account.id, topUpId, amount });
  const summary = replayed
    ? `Top-up ${topUpId} was booked before: nothing was added`
    : `Topped up account ${account.name} by ${printUsd(amount)} USD`;
  return {
    json: {
      id: topUpId,
      account_id: account.id,
      amount_usd: printUsd(amount),
      replayed,
      ...printBalances(balances),
    },
    text: `${summary}. ${printUsd(balances.available)} USD are available.`,
  };
}

export interface RefundOptions {
  readonly account: string;
  readonly receipt: string;
  readonly amount?: Nanos;
  readonly id: string;
}

interface RefundIds {
  readonly walletId: string;
  readonly holdId: string;
  readonly refundId: string;
}

interface Refunded extends Posting {
  readonly amount: Nanos;
}

export async function runRefund(
  { database, ledger }: Storage,
  options: RefundOptions,
): Promise<CommandResult> {
  const account = await requireAccount(database, options.account);
  const ids: RefundIds = { walletId: account.id, holdId: options.receipt, refundId: options.id };
  const { amount, balances, replayed } =
    options.amount === undefined
      ? await refundRest(ledger, ids)
      : { amount: options.amount, ...(await ledger.refund({ ...ids, amount: options.amount })) };
  const summary = replayed
    ? `Refund ${options.id} was booked before: nothing was added`
    : `Refunded ${printUsd(amount)} USD of receipt ${options.receipt} to account ${account.name}`;
  return {
    json: {
      id: options.id,
      account_id: account.id,
      receipt: options.receipt,
      amount_usd: printUsd(amount),
      replayed,
      ...printBalances(balances),
    },
    text: `${summary}. ${printUsd(balances.available)} USD are available.`,
  };
}

/** Refunds what is left of the charge. A repeated command returns what its id booked before. */
async function refundRest(ledger: Ledger, ids: RefundIds): Promise<Refunded> {
  const receipt = await ledger.receipt(ids.walletId, ids.holdId);
  if (!receipt) throw new CommandError("The account has no such receipt.");
  const book = async (amount: Nanos) => ({ amount, ...(await ledger.refund({ ...ids, amount })) });
  const rest = receipt.captured - receipt.refunded;
  try {
    if (rest === 0n) throw new CommandError("Nothing is left of the charge to refund.");
    return await book(rest);
  } catch (thrown) {
    if (thrown instanceof LedgerError && thrown.code !== "conflict") throw thrown;
    const booked = await findBooked(ledger, ids, receipt);
    if (!booked) throw thrown;
    return book(booked.amount);
  }
}

/** Finds the refund with this id. Searches to one day before the receipt, as clocks of processes differ. */
async function findBooked(
  ledger: Ledger,
  { walletId, refundId }: RefundIds,
  { createdAtMs }: Receipt,
): Promise<JournalLine | undefined> {
  let token: string | undefined;
  do {
    const { items, nextToken } = await ledger.transfers(walletId, { size: PAGE_SIZE, token });
    const booked = items.find(({ kind, transferId }) => kind === "refund" && transferId === refundId);
    if (booked || items.some((line) => line.createdAtMs < createdAtMs - DAY_MS)) return booked;
    token = nextToken;
  } while (token !== undefined);
  return undefined;
}
