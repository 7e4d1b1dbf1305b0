import type { Book } from "./book.ts";
import { charge } from "./charge.ts";
import type { CommandKind, Decision, RequestOf, ResultOf, Rule } from "./command.ts";
import { endDueCredits, expireCredits } from "./expire-credits.ts";
import { extend, hold } from "./hold.ts";
import { refund, topUp } from "./post.ts";
import { expire, mergeChanges, release, settle } from "./settle.ts";
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
  const rule: Rule<RequestOf<Kind>, ResultOf<Kind>> = RULES[command.kind];
  const ended = command.kind === "expire_credits" ? undefined : endDueCredits(book, nowMs);
  if (!ended) return rule(book, command.request, nowMs);
  const decision = rule(ended.book, command.request, nowMs);
  return "changes" in decision
    ? { ...decision, changes: mergeChanges(ended.changes, decision.changes) }
    : decision;
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
  expire_credits: expireCredits,
  top_up: topUp,
  charge,
  refund,
  set_spend_limit: setSpendLimit,
  delete_spend_limit: deleteSpendLimit,
};
