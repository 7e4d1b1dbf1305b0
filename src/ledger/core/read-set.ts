import type { SpendLimit } from "../ledger.ts";
import { type Hold, type LimitPeriodKey, TRANSFER_KINDS, type Transfer, type TransferKind } from "./book.ts";
import type { Command } from "./command.ts";
import { isTimeZone, periodStart } from "./period.ts";
import { isHoldId, isId } from "./validate.ts";

/**
 * What has to be read of one wallet before its commands can be decided. An id that no row can have is
 * left out: the rules refuse it, and a database would not even take it as a parameter.
 */
export interface Needs {
  readonly holdIds: ReadonlySet<string>;
  /** Keys that spend: their limits in force, and those of the whole wallet. */
  readonly keyIds: ReadonlySet<string>;
  /** Limits that are about to be set or deleted: read whether in force or not. */
  readonly limitIds: ReadonlySet<string>;
  /** Limits as they are about to be set. */
  readonly limits: readonly SpendLimit[];
  readonly postings: readonly { readonly kind: TransferKind; readonly transferId: string }[];
}

/** Sorts the commands of a batch by what they need of which wallet. The same for every store. */
export function needsOf(commands: readonly Command[]): ReadonlyMap<string, Needs> {
  const byWallet = new Map<string, GrowingNeeds>();
  for (const command of commands) {
    const { walletId } = command.request;
    let needs = byWallet.get(walletId);
    if (!needs) {
      needs = noNeeds();
      byWallet.set(walletId, needs);
    }
    if (isId(walletId)) add(needs, command);
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
  for (const { limitId, period, timeZone } of limits) {
    keys.push({ limitId, periodStartMs: periodStart(period, nowMs, timeZone) });
  }
  for (const hold of holds) keys.push(...hold.limits);
  return keys;
}

/** Holds that must be read as well, for the postings that were found: a charge names its receipt. */
export function receiptsNamed(postings: Iterable<Transfer>): readonly string[] {
  const holdIds: string[] = [];
  for (const { kind, holdId } of postings) {
    if (kind === TRANSFER_KINDS.charge && holdId !== undefined) holdIds.push(holdId);
  }
  return holdIds;
}

interface GrowingNeeds extends Needs {
  readonly holdIds: Set<string>;
  readonly keyIds: Set<string>;
  readonly limitIds: Set<string>;
  readonly limits: SpendLimit[];
  readonly postings: { kind: TransferKind; transferId: string }[];
}

function noNeeds(): GrowingNeeds {
  return { holdIds: new Set(), keyIds: new Set(), limitIds: new Set(), limits: [], postings: [] };
}

function add(needs: GrowingNeeds, { kind, request }: Command): void {
  switch (kind) {
    case "create_wallet":
    case "set_wallet_state":
      return;
    case "hold":
      addKey(needs, request.keyId);
      addHold(needs, request.holdId);
      return;
    case "extend":
    case "settle":
    case "release":
    case "expire":
      addHold(needs, request.holdId);
      return;
    case "top_up":
      addPosting(needs, TRANSFER_KINDS.topUp, request.topUpId);
      return;
    case "charge":
      addKey(needs, request.keyId);
      addPosting(needs, TRANSFER_KINDS.charge, request.chargeId);
      return;
    case "refund":
      addHold(needs, request.holdId);
      addPosting(needs, TRANSFER_KINDS.refund, request.refundId);
      return;
    case "set_spend_limit":
      addLimit(needs, request.limitId);
      if (isCountable(request)) needs.limits.push(request);
      return;
    case "delete_spend_limit":
      addLimit(needs, request.limitId);
  }
}

function addHold({ holdIds }: GrowingNeeds, holdId: string): void {
  if (isHoldId(holdId)) holdIds.add(holdId);
}

function addKey({ keyIds }: GrowingNeeds, keyId: string): void {
  if (isId(keyId)) keyIds.add(keyId);
}

function addLimit({ limitIds }: GrowingNeeds, limitId: string): void {
  if (isId(limitId)) limitIds.add(limitId);
}

function addPosting({ postings }: GrowingNeeds, kind: TransferKind, transferId: string): void {
  if (isId(transferId)) postings.push({ kind, transferId });
}

/** Whether there is a period of this limit to speak of. */
function isCountable({ limitId, timeZone }: SpendLimit): boolean {
  return isId(limitId) && (timeZone === undefined || isTimeZone(timeZone));
}
