import { type Hold, type LimitPeriodKey, TRANSFER_KINDS, type TransferKind } from "./book.ts";
import type { Command } from "./command.ts";
import type { SpendLimit } from "./ledger.ts";
import { periodStart } from "./period.ts";

/** What has to be read of one wallet before its commands can be decided. */
export interface Needs {
  readonly holdIds: ReadonlySet<string>;
  /** Keys that take holds: their limits, and those of the whole wallet. */
  readonly keyIds: ReadonlySet<string>;
  /** Limits that are about to be set. */
  readonly limits: readonly SpendLimit[];
  readonly postings: readonly { readonly kind: TransferKind; readonly transferId: string }[];
}

/** Sorts the commands of a batch by what they need of which wallet. The same for every store. */
export function needsOf(commands: readonly Command[]): ReadonlyMap<string, Needs> {
  const byWallet = new Map<string, ReturnType<typeof noNeeds>>();
  for (const command of commands) {
    const { walletId } = command.request;
    let needs = byWallet.get(walletId);
    if (!needs) {
      needs = noNeeds();
      byWallet.set(walletId, needs);
    }
    add(needs, command);
  }
  return byWallet;
}

/**
 * The counters that decisions on these limits and holds can touch: of each limit that of the current
 * period, of each hold those of the period it was taken in. May name one twice.
 */
export function countersNeeded(
  limits: Iterable<SpendLimit>,
  holds: Iterable<Hold>,
  nowMs: number,
): readonly LimitPeriodKey[] {
  const keys: LimitPeriodKey[] = [];
  for (const { limitId, period } of limits) keys.push({ limitId, periodStartMs: periodStart(period, nowMs) });
  for (const hold of holds) keys.push(...hold.limits);
  return keys;
}

function noNeeds() {
  return {
    holdIds: new Set<string>(),
    keyIds: new Set<string>(),
    limits: [] as SpendLimit[],
    postings: [] as { kind: TransferKind; transferId: string }[],
  };
}

function add(needs: ReturnType<typeof noNeeds>, { kind, request }: Command): void {
  switch (kind) {
    case "create_wallet":
      return;
    case "hold":
      needs.keyIds.add(request.keyId);
      needs.holdIds.add(request.holdId);
      return;
    case "extend":
    case "settle":
    case "release":
    case "expire":
      needs.holdIds.add(request.holdId);
      return;
    case "refund":
      needs.holdIds.add(request.holdId);
      needs.postings.push({ kind: TRANSFER_KINDS.refund, transferId: request.refundId });
      return;
    case "top_up":
      needs.postings.push({ kind: TRANSFER_KINDS.topUp, transferId: request.topUpId });
      return;
    case "set_spend_limit":
      needs.limits.push(request);
  }
}
