import type { Balances, WalletStateRequest } from "../ledger.ts";
import { balancesOf, type Wallet } from "./book.ts";
import { type Rule, refuse } from "./outcome.ts";
import { isId } from "./validate.ts";

/** Creates an empty, active wallet; one that is there stays as it is. Refuses `invalid_id`. */
export const createWallet: Rule<{ readonly walletId: string }, Balances> = (book, { walletId }, nowMs) => {
  if (!isId(walletId)) return refuse("invalid_id");
  if (book.wallet) return { answer: balancesOf(book.wallet) };
  const wallet: Wallet = {
    walletId,
    posted: 0n,
    held: 0n,
    creditLimit: 0n,
    state: "active",
    lastSeq: 0,
    createdAtMs: nowMs,
  };
  return { answer: balancesOf(wallet), changes: { wallet } };
};

/** Freezes a wallet or thaws it; what is held stays held. In order: `invalid_id`, `wallet_not_found`. */
export const setWalletState: Rule<WalletStateRequest, undefined> = ({ wallet }, { walletId, state }) => {
  if (!isId(walletId)) return refuse("invalid_id");
  if (!wallet) return refuse("wallet_not_found");
  if (wallet.state === state) return { answer: undefined };
  return { answer: undefined, changes: { wallet: { ...wallet, state } } };
};
