import type { Command, CommandKind, RequestOf } from "../../src/ledger/core/command.ts";
import { decideBatch, emptyWallet, type MemoryWallet } from "./memory-wallet.ts";
import { FACTS, holdIdOf, holdOf, NOON_MS, WALLET } from "./samples.ts";

/** The largest amount and the largest balance. */
export const MOST = 4n * 10n ** 18n;
export const DAY_MS = 86_400_000;
export const AFTER_EXPIRY = 60_000;

/** A command, or milliseconds that pass. */
export type Given = Command | number;

const [walletId, holdId, facts] = [WALLET, holdIdOf("h1"), FACTS];

export function command<Kind extends CommandKind>(kind: Kind, request: RequestOf<Kind>): Command {
  // Safe because kind and request come as a pair.
  return { kind, request } as Command;
}

export const create = command("create_wallet", { walletId });
export const freeze = command("set_wallet_state", { walletId, state: "frozen" });
export const fund = (amount: bigint) => command("top_up", { walletId, topUpId: "t1", amount });
export const hold = (amount: bigint, changes = {}) => command("hold", holdOf(amount, changes));
export const settle = (amount: bigint, changes = {}) =>
  command("settle", { walletId, holdId, amount, facts, ...changes });
export const release = command("release", { walletId, holdId, facts });
export const expire = command("expire", { walletId, holdId });
export const extend = (accrued: bigint) => command("extend", { walletId, holdId, accrued, ttlMs: 60_000 });
export const refund = (amount: bigint, refundId = "r1", ofHold = holdId) =>
  command("refund", { walletId, refundId, holdId: ofHold, amount });
export const limit = (amount: bigint, changes = {}) =>
  command("set_spend_limit", { walletId, limitId: "l1", keyId: "k1", period: "day", amount, ...changes });
export const deleteLimit = (limitId = "l1") => command("delete_spend_limit", { walletId, limitId });

/** The default receipt id of {@link charge}. */
export const RECEIPT = holdIdOf("receipt");
export const charge = (amount: bigint, changes = {}) =>
  command("charge", {
    walletId,
    chargeId: "c1",
    receiptId: RECEIPT,
    keyId: "k1",
    amount,
    facts: { surface: "batch", model: "demo" },
    outcome: FACTS,
    ...changes,
  });

/** Decides commands one by one. Returns the result of the last one, or the code of its decline. */
export function lastDecision(given: readonly Given[], stored: MemoryWallet = emptyWallet()) {
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
