import { and, eq, sql } from "drizzle-orm";
import { transfers } from "../db/sqlite/schema.ts";
import { type Nanos, printUsd } from "../domain/money.ts";
import { TRANSFER_KINDS } from "../ledger/book.ts";
import { type Books, requireAccount } from "./books.ts";
import { CommandError } from "./command-error.ts";
import type { Outcome } from "./outcome.ts";
import { printBalances } from "./print-values.ts";

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

export async function runRefund(books: Books, options: RefundOptions): Promise<Outcome> {
  const account = requireAccount(books.database, options.account);
  const refund: Refund = { walletId: account.id, holdId: options.receipt, refundId: options.id };
  const amount = options.amount ?? findBooked(books, refund) ?? (await findRest(books, refund));
  const { balances, replayed } = await books.ledger.refund({ ...refund, amount });
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

/** What the same command booked when it ran before: by then the rest it meant is gone. */
function findBooked({ database }: Books, { walletId, refundId }: Refund): Nanos | undefined {
  const isSame = and(
    eq(transfers.walletId, walletId),
    eq(transfers.transferId, refundId),
    eq(transfers.kind, TRANSFER_KINDS.refund),
  );
  const amount = sql<string>`cast(${transfers.amount} as text)`;
  const booked = database.db.select({ amount }).from(transfers).where(isSame).get();
  return booked && BigInt(booked.amount);
}

async function findRest({ ledger }: Books, { walletId, holdId }: Refund): Promise<Nanos> {
  const receipt = await ledger.receipt(walletId, holdId);
  if (!receipt) throw new CommandError("The account has no such receipt.");
  const rest = receipt.captured - receipt.refunded;
  if (rest === 0n) throw new CommandError("Nothing is left of the charge to refund.");
  return rest;
}
