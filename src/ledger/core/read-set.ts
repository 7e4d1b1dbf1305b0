import { isTimeZone, periodStart } from "../../domain/period.ts";
import type { TakenHold } from "../ledger.ts";
import type { SpendLimit } from "../records.ts";
import {
  CAPTURE_KINDS,
  type Hold,
  type LimitPeriodKey,
  TRANSFER_KINDS,
  type Transfer,
  type TransferKind,
} from "./book.ts";
import type { Command } from "./command.ts";
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

/** Receives the ids of the rows that a command reads. All of them are valid ids. */
export interface RowReader {
  hold(holdId: string): void;
  /** A key that spends: its limits in force and those of the whole wallet. */
  key(keyId: string): void;
  /** A limit to be set or deleted, whether in force or not. */
  limit(limitId: string): void;
  /** The new value of a limit to be set: its counter of the current period. */
  newLimit(limit: SpendLimit): void;
  posting(kind: TransferKind, transferId: string): void;
}

/** Passes every row that a command reads to `reader`, but its wallet. */
export function readRows({ kind, request }: Command, reader: RowReader): void {
  switch (kind) {
    case "create_wallet":
    case "set_wallet_state":
      return;
    case "hold":
      readKey(reader, request.keyId);
      readHold(reader, request.holdId);
      return;
    case "settle":
    case "release":
      readHold(reader, request.holdId);
      if (request.taken) readForLostHold(reader, request.holdId, request.taken);
      return;
    case "extend":
    case "expire":
      readHold(reader, request.holdId);
      return;
    case "top_up":
      readPosting(reader, TRANSFER_KINDS.topUp, request.topUpId);
      return;
    case "charge":
      readKey(reader, request.keyId);
      readPosting(reader, TRANSFER_KINDS.charge, request.chargeId);
      return;
    case "refund":
      readHold(reader, request.holdId);
      readPosting(reader, TRANSFER_KINDS.refund, request.refundId);
      return;
    case "set_spend_limit":
      readLimit(reader, request.limitId);
      if (hasPeriod(request)) reader.newLimit(request);
      return;
    case "delete_spend_limit":
      readLimit(reader, request.limitId);
  }
}

function readHold(reader: RowReader, holdId: string): void {
  if (isHoldId(holdId)) reader.hold(holdId);
}

/** A hold that is lost has no transfer, and will count against the limits of its key. */
function readForLostHold(reader: RowReader, holdId: string, { keyId }: TakenHold): void {
  readKey(reader, keyId);
  for (const kind of CAPTURE_KINDS) readPosting(reader, kind, holdId);
}

function readKey(reader: RowReader, keyId: string): void {
  if (isId(keyId)) reader.key(keyId);
}

function readLimit(reader: RowReader, limitId: string): void {
  if (isId(limitId)) reader.limit(limitId);
}

function readPosting(reader: RowReader, kind: TransferKind, transferId: string): void {
  if (isId(transferId)) reader.posting(kind, transferId);
}

/** Whether the current period of a limit can be computed. */
function hasPeriod({ limitId, keyId, timeZone }: SpendLimit): boolean {
  if (keyId !== undefined && !isId(keyId)) return false;
  return isId(limitId) && (timeZone === undefined || isTimeZone(timeZone));
}

/** Collects the read set of each wallet that the commands of a batch name. */
export function readSetsOf(commands: readonly Command[]): ReadonlyMap<string, ReadSet> {
  const byWallet = new Map<string, ReadSet & RowReader>();
  for (const command of commands) {
    const { walletId } = command.request;
    let readSet = byWallet.get(walletId);
    if (!readSet) {
      readSet = emptyReadSet();
      byWallet.set(walletId, readSet);
    }
    if (isId(walletId)) readRows(command, readSet);
  }
  return byWallet;
}

function emptyReadSet(): ReadSet & RowReader {
  const holdIds = new Set<string>();
  const keyIds = new Set<string>();
  const limitIds = new Set<string>();
  const limits: SpendLimit[] = [];
  const postings: { kind: TransferKind; transferId: string }[] = [];
  return {
    holdIds,
    keyIds,
    limitIds,
    limits,
    postings,
    hold: (holdId) => holdIds.add(holdId),
    key: (keyId) => keyIds.add(keyId),
    limit: (limitId) => limitIds.add(limitId),
    newLimit: (limit) => limits.push(limit),
    posting: (kind, transferId) => postings.push({ kind, transferId }),
  };
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
