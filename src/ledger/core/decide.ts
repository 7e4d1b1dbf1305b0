import type { Book } from "./book.ts";
import { charge } from "./charge.ts";
import type { AnswerOf, CommandKind, RequestOf } from "./command.ts";
import { extend } from "./extend.ts";
import { hold } from "./hold.ts";
import type { Outcome, Rule } from "./outcome.ts";
import { refund, topUp } from "./post.ts";
import { expire, release, settle } from "./settle.ts";
import { deleteSpendLimit, setSpendLimit } from "./spend-limit.ts";
import { createWallet, setWalletState } from "./wallet.ts";

/** Every rule of the ledger. A store adds none: it locks, loads, asks here and writes what it is told. */
const RULES: { readonly [Kind in CommandKind]: Rule<RequestOf<Kind>, AnswerOf<Kind>> } = {
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

/**
 * Decides one command on a book that was read under the wallet's lock. Pure, and a refusal changes
 * nothing. Applying the changes before the next decision makes a batch equal to its commands one by one.
 */
export function decide<Kind extends CommandKind>(
  book: Book,
  command: { readonly kind: Kind; readonly request: RequestOf<Kind> },
  nowMs: number,
): Outcome<AnswerOf<Kind>> {
  return RULES[command.kind](book, command.request, nowMs);
}
