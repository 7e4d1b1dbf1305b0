import { isCalendar, isLimitPeriod, isTimeZone } from "../../domain/period.ts";
import type { SpendLimit } from "../records.ts";
import {
  type Book,
  CAPTURE_KINDS,
  type CounterKey,
  TRANSFER_KINDS,
  type Transfer,
  type TransferKind,
} from "./book.ts";
import type { Command, SetLimitCommand } from "./command.ts";
import { bind } from "./headroom.ts";
import { binds, counterIdOf, type Spender, subjectsOf } from "./spender.ts";
import { areScopes, isBindable, isHoldId, isId } from "./validate.ts";
import { countedPeriodOf, holdsToBind } from "./wallet.ts";
import { areAround } from "./window.ts";

/**
 * The rows of one wallet that must be read before its commands can be decided. Invalid ids are left out: the
 * rules decline them, and no row can have them.
 */
export interface ReadSet {
  readonly holdIds: ReadonlySet<string>;
  /** What spends: read the limits in force that bind it. */
  readonly spenders: readonly Spender[];
  /** Limits to be set or deleted: read whether in force or not. */
  readonly limitIds: ReadonlySet<string>;
  /** The new values of limits to be set. */
  readonly limits: readonly SetLimitCommand[];
  readonly postings: readonly { readonly kind: TransferKind; readonly transferId: string }[];
  /** Whether money comes in: the live credits and the newest one are read. */
  readonly hasGrants: boolean;
  /** Holds that are refunded: their captures are read, and the credits that those were taken from. */
  readonly refundedIds: ReadonlySet<string>;
}

/** The most due holds that one transaction reads. The sweeper expires the rest. */
export const DUE_HOLDS_MAX = 500;

/** Receives the ids of the rows that a command reads. All of them are valid ids. */
export interface RowReader {
  hold(holdId: string): void;
  /** What spends: the limits in force that bind it, and their counters of the current period. */
  spender(spender: Spender): void;
  /** A limit to be set or deleted, whether in force or not. */
  limit(limitId: string): void;
  /** The new value of a limit to be set: its counters of the current period, and what that has seen. */
  newLimit(limit: SetLimitCommand): void;
  posting(kind: TransferKind, transferId: string): void;
  /** Money that comes in: the live credits and the newest one. */
  grant(): void;
  /** A hold that is refunded: its captures, and the credits that they were taken from. */
  captures(holdId: string): void;
}

/** Passes every row that a command reads to `reader`, but its wallet. */
export function readRows({ kind, request }: Command, reader: RowReader): void {
  switch (kind) {
    case "create_wallet":
    case "set_wallet_state":
    case "expire_credits":
      return;
    case "hold":
      readSpender(reader, request);
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
      reader.grant();
      return;
    case "charge":
      readSpender(reader, request);
      readPosting(reader, TRANSFER_KINDS.charge, request.chargeId);
      return;
    case "refund":
      readHold(reader, request.holdId);
      readPosting(reader, TRANSFER_KINDS.refund, request.refundId);
      reader.grant();
      if (isHoldId(request.holdId)) reader.captures(request.holdId);
      return;
    case "set_spend_limit":
      readLimit(reader, request.limitId);
      if (hasPeriod(request)) reader.newLimit(request);
      return;
    case "delete_spend_limit":
      readLimit(reader, request.limitId);
      if (request.ifIdle) readSpender(reader, request.ifIdle);
  }
}

function readHold(reader: RowReader, holdId: string): void {
  if (isHoldId(holdId)) reader.hold(holdId);
}

/** A hold that is lost has no transfer, and will count against the limits in force. */
function readForLostHold(reader: RowReader, holdId: string, taken: Spender): void {
  readSpender(reader, taken);
  for (const kind of CAPTURE_KINDS) readPosting(reader, kind, holdId);
}

function readSpender(reader: RowReader, spender: Spender): void {
  const { keyId, scopes } = spender;
  if (isId(keyId) && (scopes === undefined || areScopes(scopes))) reader.spender(spender);
}

function readLimit(reader: RowReader, limitId: string): void {
  if (isId(limitId)) reader.limit(limitId);
}

function readPosting(reader: RowReader, kind: TransferKind, transferId: string): void {
  if (isId(transferId)) reader.posting(kind, transferId);
}

/** Whether the current period of a limit, and what it binds, can be computed. */
function hasPeriod(limit: SpendLimit): boolean {
  const { limitId, keyId, period, timeZone } = limit;
  if ((keyId !== undefined && !isId(keyId)) || !isBindable(limit) || !isLimitPeriod(period)) return false;
  return isId(limitId) && (timeZone === undefined || isTimeZone(timeZone));
}

/** Collects the read set of each wallet that the commands of a batch name. */
export function readSetsOf(commands: readonly Command[]): ReadonlyMap<string, ReadSet> {
  const byWallet = new Map<string, CollectedReads>();
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

type CollectedReads = RowReader & { -readonly [Name in keyof ReadSet]: ReadSet[Name] };

function emptyReadSet(): CollectedReads {
  const holdIds = new Set<string>();
  const spenders: Spender[] = [];
  const limitIds = new Set<string>();
  const limits: SetLimitCommand[] = [];
  const postings: { kind: TransferKind; transferId: string }[] = [];
  const refundedIds = new Set<string>();
  return {
    holdIds,
    spenders,
    limitIds,
    limits,
    postings,
    refundedIds,
    hasGrants: false,
    grant() {
      this.hasGrants = true;
    },
    captures: (holdId) => refundedIds.add(holdId),
    hold: (holdId) => holdIds.add(holdId),
    spender: (spender) => spenders.push(spender),
    limit: (limitId) => limitIds.add(limitId),
    newLimit: (limit) => limits.push(limit),
    posting: (kind, transferId) => postings.push({ kind, transferId }),
  };
}

/**
 * Returns the counters that decisions on a book can change: those of its holds, of the limits that bind what spends,
 * and of limits to be set. Needs the starts of windows. May name a counter twice.
 */
export function countersOf(book: Book, readSet: SpendingReads, nowMs: number): readonly CounterKey[] {
  const keys: CounterKey[] = [];
  for (const spender of readSet.spenders) {
    for (const { key } of bind(book, limitsThatMayBind(book, readSet, spender), { spender, nowMs }))
      keys.push(key);
  }
  for (const limit of readSet.limits) {
    const counted = countedPeriodOf(limit, nowMs);
    if (counted) keys.push(counted);
    for (const bound of holdsToBind(book, limit, nowMs)) keys.push(...bound.keys);
  }
  for (const hold of book.holds.values()) keys.push(...hold.limits);
  return keys;
}

type SpendingReads = Pick<ReadSet, "spenders" | "limits">;

/** Returns the ids of the counters whose windows may bind what spends, and whose starts around now are not in the book. */
export function unreadWindowsOf(book: Book, readSet: SpendingReads, nowMs: number): readonly string[] {
  const ids: string[] = [];
  for (const spender of readSet.spenders) {
    for (const limit of limitsThatMayBind(book, readSet, spender)) {
      if (isCalendar(limit.period)) continue;
      for (const subject of subjectsOf(limit, spender)) {
        const counterId = counterIdOf(limit, subject);
        const starts = book.windowStarts.get(counterId);
        if (!starts || !areAround(starts, nowMs)) ids.push(counterId);
      }
    }
  }
  return ids;
}

/** The limits in force that bind what spends, and those that the same batch sets. */
function limitsThatMayBind(book: Book, { limits }: SpendingReads, spender: Spender): readonly SpendLimit[] {
  const inForce = book.limitsInForce(spender);
  return limits.length === 0 ? inForce : [...inForce, ...limits.filter((limit) => binds(limit, spender))];
}

/** Returns the receipt ids of the charges among postings. A replayed charge is compared with its receipt. */
export function receiptsOf(postings: Iterable<Transfer>): readonly string[] {
  const holdIds: string[] = [];
  for (const { kind, holdId } of postings) {
    if (kind === TRANSFER_KINDS.charge && holdId !== undefined) holdIds.push(holdId);
  }
  return holdIds;
}
