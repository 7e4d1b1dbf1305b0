import { type Nanos, printUsd } from "../domain/money.ts";
import type { CommandResult } from "./command.ts";
import { printBalances } from "./printing.ts";
import { requireAccount, type Storage } from "./storage.ts";

export interface TopUpOptions {
  readonly account: string;
  readonly amount: Nanos;
  readonly id: string;
}

export async function runTopUp({ database, ledger }: Storage, options: TopUpOptions): Promise<CommandResult> {
  const account = await requireAccount(database, options.account);
  const { id: topUpId, amount } = options;
  const { balances, replayed } = await ledger.topUp({ walletId: account.id, topUpId, amount });
  const done = replayed
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
    text: `${done}. ${printUsd(balances.available)} USD are available.`,
  };
}
