import type { Command, CommandKind, RequestOf } from "../../src/ledger/core/command.ts";
import { decideBatch, emptyWallet, type MemoryWallet } from "./memory-wallet.ts";
import { FACTS, holdIdOf, holdOf, NOON_MS, WALLET } from "./samples.ts";

/** The most that an amount or a sum may be. */
export const MOST = 4n * 10n ** 18n;
export const DAY_MS = 86_400_000;
export const AFTER_EXPIRY = 60_000;

/** A command, or that many milliseconds that pass. */
export type Told = Command | number;

const [walletId, holdId, facts] = [WALLET, holdIdOf("h1"), FACTS];

export function give<Kind extends CommandKind>(kind: Kind, request: RequestOf<Kind>): Command {
  // Safe because kind and request come as a pair.
  return { kind, request } as Command;
}

export const create = give("create_wallet", { walletId });
export const freeze = give("set_wallet_state", { walletId, state: "frozen" });
export const fund = (amount: bigint) => give("top_up", { walletId, topUpId: "t1", amount });
export const hold = (amount: bigint, changes = {}) => give("hold", holdOf(amount, changes));
export const settle = (amount: bigint, changes = {}) =>
  give("settle", { walletId, holdId, amount, facts, ...changes });
export const release = give("release", { walletId, holdId, facts });
export const expire = give("expire", { walletId, holdId });
export const extend = (accrued: bigint) => give("extend", { walletId, holdId, accrued, ttlMs: 60_000 });
export const refund = (amount: bigint, refundId = "r1", ofHold = holdId) =>
  give("refund", { walletId, refundId, holdId: ofHold, amount });
export const limit = (amount: bigint, changes = {}) =>
  give("set_spend_limit", { walletId, limitId: "l1", keyId: "k1", period: "day", amount, ...changes });
export const unlimit = (limitId = "l1") => give("delete_spend_limit", { walletId, limitId });

/** The receipt of {@link charge} unless said otherwise. */
export const RECEIPT = holdIdOf("receipt");
export const charge = (amount: bigint, changes = {}) =>
  give("charge", {
    walletId,
    chargeId: "c1",
    receiptId: RECEIPT,
    keyId: "k1",
    amount,
    facts: { surface: "batch", model: "demo" },
    outcome: FACTS,
    ...changes,
  });

/** Gives commands one by one; returns what the last came to: its refusal, or its answer. */
export function lastOf(given: readonly Told[], stored: MemoryWallet = emptyWallet()) {
  let nowMs = NOON_MS;
  let last: object | undefined;
  for (const each of given) {
    if (typeof each === "number") nowMs += each;
    else [last] = decideBatch(stored, [each], nowMs);
  }
  if (!last) throw new Error("no command was given");
  return "declined" in last ? last.declined : "result" in last ? last.result : undefined;
}

/** The balances of a wallet without credit. */
export function balances(posted: bigint, held: bigint) {
  return { posted, held, available: posted - held };
}
