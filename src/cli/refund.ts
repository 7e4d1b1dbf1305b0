import { type Nanos, printUsd } from "../domain/money.ts";
import { type JournalLine, type Ledger, LedgerError, type Posting, type Receipt } from "../ledger/ledger.ts";
import { type Books, requireAccount } from "./books.ts";
import { CommandError } from "./command-error.ts";
import type { Outcome } from "./outcome.ts";
import { printBalances } from "./print-values.ts";

const PAGE_SIZE = 1_000;
const DAY_MS = 86_400_000;

export interface RefundOptions {
  readonly account: string;
  readonly receipt: string;
  readonly amount?: Nanos;
  readonly id: string;
}

interface Refund {
  readonly walletId: string;
  readonly holdId: string;
  readonly refundId: string;
}

interface Refunded extends Posting {
  readonly amount: Nanos;
}

export async function runRefund({ database, ledger }: Books, options: RefundOptions): Promise<Outcome> {
  const account = await requireAccount(database, options.account);
  const refund: Refund = { walletId: account.id, holdId: options.receipt, refundId: options.id };
  const { amount, balances, replayed } =
    options.amount === undefined
      ? await refundRest(ledger, refund)
      : { amount: options.amount, ...(await ledger.refund({ ...refund, amount: options.amount })) };
  const done = replayed
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
    text: `${done}. ${printUsd(balances.available)} USD are available.`,
  };
}

/** Gives back what is left. The same command run again answers what it booked before: by then the rest is gone. */
async function refundRest(ledger: Ledger, refund: Refund): Promise<Refunded> {
  const receipt = await ledger.receipt(refund.walletId, refund.holdId);
  if (!receipt) throw new CommandError("The account has no such receipt.");
  const book = async (amount: Nanos) => ({ amount, ...(await ledger.refund({ ...refund, amount })) });
  const rest = receipt.captured - receipt.refunded;
  try {
    if (rest === 0n) throw new CommandError("Nothing is left of the charge to refund.");
    return await book(rest);
  } catch (thrown) {
    if (thrown instanceof LedgerError && thrown.code !== "conflict") throw thrown;
    const booked = await findBooked(ledger, refund, receipt);
    if (!booked) throw thrown;
    return book(booked.amount);
  }
}

/** The refund of this id, looked for back to the day before the receipt began: clocks of processes differ. */
async function findBooked(
  ledger: Ledger,
  { walletId, refundId }: Refund,
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
