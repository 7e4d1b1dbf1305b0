import type { SpendLimit } from "../records.ts";
import { type Hold, type LimitPeriodKey, TRANSFER_KINDS, type Transfer, type TransferKind } from "./book.ts";
import type { Command } from "./command.ts";
import { isTimeZone, periodStart } from "./period.ts";
import { isHoldId, isId } from "./validate.ts";

/**
 * The rows of one wallet that must be read before its commands can be decided. Invalid ids are left out: the
 * rules decline them, and no row can have them.
 */
export interface ReadSet {
  readonly holdIds: ReadonlySet<string>;
  /** Keys that spend: read their limits in force and those of the whole wallet. */
  readonly keyIds: ReadonlySet<string>;
  /** Limits to be set or deleted: read whether in force or not. */
  readonly limitIds: ReadonlySet<string>;
  /** The new values of limits to be set. */
  readonly limits: readonly SpendLimit[];
  readonly postings: readonly { readonly kind: TransferKind; readonly transferId: string }[];
}

/** The most due holds that one transaction reads. The sweeper expires the rest. */
export const DUE_HOLDS_MAX = 500;

/** Collects the read set of each wallet that the commands of a batch name. */
export function readSetsOf(commands: readonly Command[]): ReadonlyMap<string, ReadSet> {
  const byWallet = new Map<string, GrowingReadSet>();
  for (const command of commands) {
    const { walletId } = command.request;
    let readSet = byWallet.get(walletId);
    if (!readSet) {
      readSet = emptyReadSet();
      byWallet.set(walletId, readSet);
    }
    if (isId(walletId)) add(readSet, command);
  }
  return byWallet;
}

/**
 * Returns the counters that decisions on these limits and holds can change. A limit has one, of the current
 * period; a hold has those of the periods that it was taken in. May name a counter twice.
 */
export function countersOf(
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

/** Returns the receipt ids of the charges among postings. A replayed charge is compared with its receipt. */
export function receiptsOf(postings: Iterable<Transfer>): readonly string[] {
  const holdIds: string[] = [];
  for (const { kind, holdId } of postings) {
    if (kind === TRANSFER_KINDS.charge && holdId !== undefined) holdIds.push(holdId);
  }
  return holdIds;
}

interface GrowingReadSet extends ReadSet {
  readonly holdIds: Set<string>;
  readonly keyIds: Set<string>;
  readonly limitIds: Set<string>;
  readonly limits: SpendLimit[];
  readonly postings: { kind: TransferKind; transferId: string }[];
}

function emptyReadSet(): GrowingReadSet {
  return { holdIds: new Set(), keyIds: new Set(), limitIds: new Set(), limits: [], postings: [] };
}

function add(readSet: GrowingReadSet, { kind, request }: Command): void {
  switch (kind) {
    case "create_wallet":
    case "set_wallet_state":
      return;
    case "hold":
      addKey(readSet, request.keyId);
      addHold(readSet, request.holdId);
      return;
    case "extend":
    case "settle":
    case "release":
    case "expire":
      addHold(readSet, request.holdId);
      return;
    case "top_up":
      addPosting(readSet, TRANSFER_KINDS.topUp, request.topUpId);
      return;
    case "charge":
      addKey(readSet, request.keyId);
      addPosting(readSet, TRANSFER_KINDS.charge, request.chargeId);
      return;
    case "refund":
      addHold(readSet, request.holdId);
      addPosting(readSet, TRANSFER_KINDS.refund, request.refundId);
      return;
    case "set_spend_limit":
      addLimit(readSet, request.limitId);
      if (hasPeriod(request)) readSet.limits.push(request);
      return;
    case "delete_spend_limit":
      addLimit(readSet, request.limitId);
  }
}

function addHold({ holdIds }: GrowingReadSet, holdId: string): void {
  if (isHoldId(holdId)) holdIds.add(holdId);
}

function addKey({ keyIds }: GrowingReadSet, keyId: string): void {
  if (isId(keyId)) keyIds.add(keyId);
}

function addLimit({ limitIds }: GrowingReadSet, limitId: string): void {
  if (isId(limitId)) limitIds.add(limitId);
}

function addPosting({ postings }: GrowingReadSet, kind: TransferKind, transferId: string): void {
  if (isId(transferId)) postings.push({ kind, transferId });
}

/** Whether the current period of a limit can be computed. */
function hasPeriod({ limitId, timeZone }: SpendLimit): boolean {
  return isId(limitId) && (timeZone === undefined || isTimeZone(timeZone));
}
