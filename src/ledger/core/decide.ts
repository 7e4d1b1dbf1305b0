import type { Book } from "./book.ts";
import type { CommandKind, Decision, RequestOf, ResultOf, Rule } from "./command.ts";
import { extend, hold } from "./hold.ts";
import { charge, refund, topUp } from "./post.ts";
import { expire, release, settle } from "./settle.ts";
import { createWallet, deleteSpendLimit, setSpendLimit, setWalletState } from "./wallet.ts";

/**
 * Decides one command on a book that was read under the wallet's lock. Pure; a decline changes nothing.
 * A batch equals its commands one by one when each decision's changes are applied before the next.
 */
export function decide<Kind extends CommandKind>(
  book: Book,
  command: { readonly kind: Kind; readonly request: RequestOf<Kind> },
  nowMs: number,
): Decision<ResultOf<Kind>> {
  return RULES[command.kind](book, command.request, nowMs);
}

/** Every rule of the ledger. A store has none: it locks, loads, calls `decide` and writes the changes. */
const RULES: { readonly [Kind in CommandKind]: Rule<RequestOf<Kind>, ResultOf<Kind>> } = {
  create_wallet: createWallet,
  set_wallet_state: setWalletState,
  hold,
  extend,
  settle,
  release,
  expire,
  top_up: topUp,
  charge,
  refund,
  set_spend_limit: setSpendLimit,
  delete_spend_limit: deleteSpendLimit,
};
