import type { Credit } from "../records.ts";
import {
  type Book,
  type BookRows,
  CAPTURE_KINDS,
  type Changes,
  type Counter,
  Counters,
  type Hold,
  type Opening,
  type PeriodSpend,
  postingKey,
  type Resolution,
  type StoredLimit,
  TRANSFER_KINDS,
  type Transfer,
  type Wallet,
} from "./book.ts";
import { Credits } from "./credits.ts";
import { LimitsInForce } from "./headroom.ts";
import { type Spender, spentFor } from "./spender.ts";
import { addStart, type WindowStarts } from "./window.ts";

/**
 * The book of a wallet during a batch: each command sees the changes of the commands before it. A store may
 * keep the book for the next batch, when the changes were committed.
 */
export interface WorkingBook extends Book {
  dueHoldIds: readonly string[];
  readonly writeSet: WriteSet;
  readonly counters: Counters;
  readonly windowStarts: Map<string, WindowStarts>;
  readonly postings: Map<string, Transfer>;
  readonly spends: Map<string, PeriodSpend>;
  readonly credits: Credits;
  apply(changes: Changes): void;
  /** Adds limits that a store read. */
  addLimits(limits: Iterable<StoredLimit>): void;
  /** Adds holds that a store read, and that are not in the book. */
  addHolds(holds: Iterable<Hold>): void;
  /** Starts the next batch, after a commit: empties the write set, and forgets ended holds and postings. */
  startBatch(): void;
}

/** The rows that a store must write, each once and in its last state. */
export interface WriteSet {
  /** `undefined` when the wallet's row did not change. */
  readonly wallet: Wallet | undefined;
  /** Whether the wallet's row is to be inserted. */
  readonly createsWallet: boolean;
  readonly newHolds: ReadonlyMap<string, Hold>;
  readonly changedHolds: ReadonlyMap<string, Hold>;
  readonly resolutions: ReadonlyMap<string, Resolution>;
  readonly counters: Iterable<Counter> & Pick<Counters, "size">;
  readonly transfers: readonly Transfer[];
  readonly limits: ReadonlyMap<string, StoredLimit>;
  /** Stored holds that count against more limits than before. */
  readonly boundHolds: ReadonlyMap<string, Hold>;
  readonly openings: readonly Opening[];
  readonly credits: ReadonlyMap<number, Credit>;
}

/** A book as a store reads it. */
export interface LoadedBook extends BookRows {
  readonly holds: Map<string, Hold>;
  readonly limits: Map<string, StoredLimit>;
  readonly counters: Counters;
  readonly windowStarts: Map<string, WindowStarts>;
  readonly postings: Map<string, Transfer>;
  readonly spends: Map<string, PeriodSpend>;
  readonly credits: Credits;
}

/** Opens a book for a batch. Changes the maps of `loaded`. */
export function createWorkingBook(loaded: LoadedBook): WorkingBook {
  return new OpenBook(loaded);
}

const NONE: readonly never[] = [];

class OpenBook implements WorkingBook {
  wallet: Wallet | undefined;
  readonly holds: Map<string, Hold>;
  readonly limits: Map<string, StoredLimit>;
  readonly counters: Counters;
  readonly windowStarts: Map<string, WindowStarts>;
  readonly postings: Map<string, Transfer>;
  readonly spends: Map<string, PeriodSpend>;
  credits: Credits;
  dueHoldIds: readonly string[];
  writeSet = emptyWriteSet();
  readonly #inForce: LimitsInForce;
  /** Holds of the book that are not open. */
  #endedHoldIds: string[] = [];

  constructor(loaded: LoadedBook) {
    const { wallet, holds, limits, counters, windowStarts, postings, spends, credits, dueHoldIds } = loaded;
    this.wallet = wallet;
    this.holds = holds;
    this.limits = limits;
    this.counters = counters;
    this.windowStarts = windowStarts;
    this.postings = postings;
    this.spends = spends;
    this.credits = credits;
    this.dueHoldIds = dueHoldIds;
    this.#inForce = new LimitsInForce(limits);
  }

  limitsInForce(spender: Spender): readonly StoredLimit[] {
    return this.#inForce.of(spender);
  }

  capturesOf(holdId: string): readonly Transfer[] {
    const captures = new Map<number, Transfer>();
    for (const transfer of [...this.postings.values(), ...this.writeSet.transfers]) {
      if (transfer.holdId === holdId && isCapture(transfer)) captures.set(transfer.seq, transfer);
    }
    return [...captures.values()];
  }

  apply(changes: Changes): void {
    if (changes.wallet) this.#applyWallet(changes.wallet);
    for (const hold of changes.holds ?? NONE) this.#applyHold(hold);
    for (const counter of changes.counters ?? NONE) {
      this.counters.set(counter);
      this.writeSet.counters.set(counter);
    }
    for (const [holdId, resolution] of changes.resolutions ?? NONE)
      this.writeSet.resolutions.set(holdId, resolution);
    for (const transfer of changes.transfers ?? NONE) {
      this.writeSet.transfers.push(transfer);
      if (isPosting(transfer)) this.postings.set(postingKey(transfer.kind, transfer.transferId), transfer);
      if (this.spends.size > 0) this.#addSpend(transfer);
    }
    if (changes.limits) this.#applyLimits(changes.limits);
    for (const hold of changes.boundHolds ?? NONE) this.#bindHold(hold);
    if (changes.openings) this.writeSet.openings.push(...changes.openings);
    for (const credit of changes.credits ?? NONE) {
      this.credits.set(credit);
      this.writeSet.credits.set(credit.seq, credit);
    }
  }

  addHolds(holds: Iterable<Hold>): void {
    for (const hold of holds) this.#keepHold(hold);
  }

  addLimits(limits: Iterable<StoredLimit>): void {
    for (const limit of limits) this.limits.set(limit.limitId, limit);
    this.#inForce.forget();
  }

  startBatch(): void {
    // Those that are spent, or that only a refund has read.
    if (this.credits.size > this.credits.live.length) this.credits = new Credits(this.credits.live);
    this.writeSet = emptyWriteSet();
    this.dueHoldIds = NONE;
    this.#inForce.startBatch();
    if (this.postings.size > 0) this.postings.clear();
    if (this.spends.size > 0) this.spends.clear();
    for (const holdId of this.#endedHoldIds) this.holds.delete(holdId);
    this.#endedHoldIds = [];
  }

  #applyWallet(wallet: Wallet): void {
    if (!this.wallet) this.writeSet.createsWallet = true;
    this.wallet = wallet;
    this.writeSet.wallet = wallet;
  }

  #applyHold(hold: Hold): void {
    const { newHolds, changedHolds } = this.writeSet;
    const isNew = !this.holds.has(hold.holdId) || newHolds.has(hold.holdId);
    (isNew ? newHolds : changedHolds).set(hold.holdId, hold);
    this.#keepHold(hold);
    if (this.windowStarts.size > 0) this.#followWindows(hold);
  }

  /** A hold may have begun the windows in which it counts. */
  #followWindows({ limits }: Hold): void {
    for (const { counterId, periodStartMs } of limits) {
      const starts = this.windowStarts.get(counterId);
      if (starts) this.windowStarts.set(counterId, addStart(starts, periodStartMs));
    }
  }

  #keepHold(hold: Hold): void {
    this.holds.set(hold.holdId, hold);
    if (hold.state !== "held") this.#endedHoldIds.push(hold.holdId);
  }

  #bindHold(hold: Hold): void {
    const { newHolds, changedHolds, boundHolds } = this.writeSet;
    this.holds.set(hold.holdId, hold);
    if (newHolds.has(hold.holdId)) return void newHolds.set(hold.holdId, hold);
    if (changedHolds.has(hold.holdId)) changedHolds.set(hold.holdId, hold);
    boundHolds.set(hold.holdId, hold);
  }

  /** Adds a charge of this batch to the periods that its receipt is in, or takes a refund off. */
  #addSpend({ holdId, kind, amount }: Transfer): void {
    const hold = holdId === undefined ? undefined : this.holds.get(holdId);
    if (!hold) return;
    for (const [name, spend] of this.spends) {
      if (spend.amount === undefined || hold.holdId < spend.firstId || !spentFor(spend.bound, hold)) continue;
      const signed = kind === TRANSFER_KINDS.refund ? -amount : amount;
      this.spends.set(name, { ...spend, amount: spend.amount + signed });
    }
  }

  #applyLimits(limits: readonly StoredLimit[]): void {
    for (const limit of limits) this.writeSet.limits.set(limit.limitId, limit);
    this.addLimits(limits);
  }
}

/** Whether a transfer is a top-up, charge or refund. Only these are looked up by their ids. */
function isPosting({ kind }: Transfer): boolean {
  return kind === TRANSFER_KINDS.topUp || kind === TRANSFER_KINDS.charge || kind === TRANSFER_KINDS.refund;
}

function isCapture({ kind }: Transfer): boolean {
  return kind === TRANSFER_KINDS.charge || CAPTURE_KINDS.includes(kind);
}

function emptyWriteSet() {
  return {
    wallet: undefined as Wallet | undefined,
    createsWallet: false,
    newHolds: new Map<string, Hold>(),
    changedHolds: new Map<string, Hold>(),
    resolutions: new Map<string, Resolution>(),
    counters: new Counters(),
    transfers: [] as Transfer[],
    limits: new Map<string, StoredLimit>(),
    boundHolds: new Map<string, Hold>(),
    openings: [] as Opening[],
    credits: new Map<number, Credit>(),
  };
}
