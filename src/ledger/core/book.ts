import type { Nanos } from "../../domain/money.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Balances, Credit, HoldState, OutcomeFacts, RequestFacts, SpendLimit } from "../records.ts";
import { bindingOf, type Spender } from "./spender.ts";
import type { WindowStarts } from "./window.ts";

/** The accounts of a wallet's double-entry book. The balance of `wallet` is what we owe its owner. */
export const ACCOUNTS = Object.freeze({ wallet: 1, usageRevenue: 2, funding: 3, expired: 4 });

/** Why money moved, as numbered in the database. An id names at most one transfer of each kind, for ever. */
export const TRANSFER_KINDS = Object.freeze({
  topUp: 1,
  settlement: 2,
  expiryCapture: 3,
  lateSettlement: 4,
  refund: 5,
  charge: 6,
  creditExpiry: 7,
});
export type TransferKind = (typeof TRANSFER_KINDS)[keyof typeof TRANSFER_KINDS];

/** The kinds of transfers that have the id of a hold. */
export const CAPTURE_KINDS: readonly TransferKind[] = Object.freeze([
  TRANSFER_KINDS.settlement,
  TRANSFER_KINDS.expiryCapture,
  TRANSFER_KINDS.lateSettlement,
]);

export interface Wallet {
  readonly walletId: string;
  readonly posted: Nanos;
  readonly held: Nanos;
  readonly creditLimit: Nanos;
  readonly state: "active" | "frozen";
  /** The sequence number of the newest transfer; 0 before the first. */
  readonly lastSeq: number;
  readonly createdAtMs: number;
  /** The number of the newest credit; 0 before the first, for what the wallet had before credits were kept. */
  readonly newestCredit: number;
  /**
   * Whether money is left in a credit that is not the newest, or that ends. Otherwise the posted balance is what is
   * left of the newest credit, and transfers do not say so.
   */
  readonly isMixed: boolean;
  /** No hold of the wallet was taken at a later time, in Unix milliseconds; 0 before the first. */
  readonly newestHoldMs: number;
}

/** Clocks of processes that share a database may differ by this much. */
export const CLOCK_SKEW_MAX_MS = 60_000;

/** The counter of one period. A hold counts against the periods that it was taken in, also once it has ended. */
export interface CounterKey {
  /** The id of the limit; for a template, with the id of the scope that it counts. */
  readonly counterId: string;
  readonly periodStartMs: number;
}

/**
 * The part of a receipt that the rules read. A charge is a hold that was settled when it was taken: its
 * granted amount and its time to live are 0.
 */
export interface Hold {
  readonly holdId: string;
  readonly keyId: string;
  readonly scopes: readonly Scope[];
  readonly state: HoldState;
  readonly late: boolean;
  readonly requested: Nanos;
  readonly minimum: Nanos;
  readonly granted: Nanos;
  readonly accrued: Nanos;
  /** The amount of the settle command; `captured` is larger after a late settlement below the expiry's. */
  readonly actual: Nanos | undefined;
  readonly captured: Nanos;
  readonly refunded: Nanos;
  readonly ttlMs: number;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly resolvedAtMs: number | undefined;
  readonly limits: readonly CounterKey[];
  readonly facts: RequestFacts;
  /** JSON text. */
  readonly metadata: string | undefined;
}

/** The facts and metadata that the end of a hold adds to its receipt. */
export interface Resolution {
  readonly facts: OutcomeFacts;
  /** JSON text. Its members override those of the hold's metadata. */
  readonly metadata: string | undefined;
}

/** A limit as stored. A deleted limit keeps its row, so that no other key can take its id and counters. */
export interface StoredLimit extends SpendLimit {
  /** `undefined` while the limit is in force. */
  readonly deletedAtMs?: number | undefined;
}

export interface Counter extends CounterKey {
  readonly used: Nanos;
  readonly held: Nanos;
}

/**
 * Counters by their ids and periods. A hold looks each of its counters up several times: printing a text for each
 * look-up would take longer than the rest of it.
 */
export class Counters {
  /** By counter id, mostly one period, the newest last. */
  readonly #byId = new Map<string, Counter[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get({ counterId, periodStartMs }: CounterKey): Counter | undefined {
    const periods = this.#byId.get(counterId);
    return periods?.[placeOf(periods, periodStartMs)];
  }

  has(key: CounterKey): boolean {
    return this.get(key) !== undefined;
  }

  set(counter: Counter): void {
    const periods = this.#byId.get(counter.counterId);
    const place = periods ? placeOf(periods, counter.periodStartMs) : -1;
    if (periods && place !== -1) periods[place] = counter;
    else {
      if (periods) periods.push(counter);
      else this.#byId.set(counter.counterId, [counter]);
      this.#size += 1;
    }
  }

  *[Symbol.iterator](): Iterator<Counter> {
    for (const periods of this.#byId.values()) yield* periods;
  }
}

export type CountersRead = Pick<Counters, "get">;

function placeOf(periods: readonly Counter[], periodStartMs: number): number {
  let place = periods.length - 1;
  while (place >= 0 && periods[place]?.periodStartMs !== periodStartMs) place -= 1;
  return place;
}

/** The part of a counter that no hold lists: what was spent in its period before its limit was set. */
export interface Opening extends CounterKey {
  readonly used: Nanos;
}

/** What the receipts of a limit's period come to, whether they count against the limit or not. */
export interface PeriodSpend {
  /** What the limit binds. */
  readonly bound: Pick<SpendLimit, "walletId" | "keyId" | "scope">;
  /** No receipt of the period has a smaller id. */
  readonly firstId: string;
  /** Charges less refunds; `undefined` for more receipts than may be read under the wallet's lock. */
  readonly amount: Nanos | undefined;
}

/** One debit and one credit. `seq` has no gaps. `postedAfter` is the wallet's balance after the transfer. */
export interface Transfer {
  readonly seq: number;
  readonly transferId: string;
  readonly kind: TransferKind;
  readonly debitAccount: number;
  readonly creditAccount: number;
  readonly amount: Nanos;
  readonly postedAfter: Nanos;
  readonly holdId: string | undefined;
  readonly createdAtMs: number;
  /**
   * What each credit gave or got; what is missing to the amount made or paid a debt. `undefined`: the newest credit
   * that is older than the transfer, or of a top-up its own.
   */
  readonly credits?: readonly CreditPart[] | undefined;
}

export type CreditPart = readonly [credit: number, amount: Nanos];

/** What the rules read of the credits of a book. */
export interface CreditsRead extends Iterable<Credit> {
  get(seq: number): Credit | undefined;
  /** The newest of those that were read, with a lesser number. */
  newestBefore(seq: number): Credit | undefined;
  /** Those with something left, in the order of spending. */
  readonly live: readonly Credit[];
}

/**
 * The rows of a wallet's book that the commands of a batch need, as of the wallet's lock. Complete for those
 * commands: a hold or posting that is not in the book does not exist.
 */
export interface BookRows {
  readonly wallet: Wallet | undefined;
  readonly holds: ReadonlyMap<string, Hold>;
  /** By limit id; deleted limits included. */
  readonly limits: ReadonlyMap<string, StoredLimit>;
  /** A counter without a row has zeros. */
  readonly counters: CountersRead;
  /** By counter id, the starts of windows around the batch's time. */
  readonly windowStarts: ReadonlyMap<string, WindowStarts>;
  /** Top-ups, charges and refunds by {@link postingKey}, and the captures of holds that are refunded. */
  readonly postings: ReadonlyMap<string, Transfer>;
  /**
   * Of a mixed wallet all that have something left. For top-ups and refunds also the newest one, and those that a
   * refund may go back to.
   */
  readonly credits: CreditsRead;
  /** Open holds that were past their time when the batch began. */
  readonly dueHoldIds: readonly string[];
  /**
   * By {@link spendKey}, of limits of calendar periods to be set. Their periods' open holds are in the book, all of
   * them, as those of every limit to be set are.
   */
  readonly spends: ReadonlyMap<string, PeriodSpend>;
}

/** A wallet's book as the rules read it. */
export interface Book extends BookRows {
  /** Returns the limits in force that bind a spender, those of the whole wallet included, sorted by id. */
  limitsInForce(spender: Spender): readonly StoredLimit[];
  /** Returns the captures of a hold that is refunded, or the charge of a receipt. */
  capturesOf(holdId: string): readonly Transfer[];
}

/** The changes of an accepted command: whole new rows, and transfers to append. */
export interface Changes {
  readonly wallet?: Wallet;
  readonly holds?: readonly Hold[];
  /** Each with its hold id. */
  readonly resolutions?: readonly (readonly [holdId: string, resolution: Resolution])[];
  readonly counters?: readonly Counter[];
  readonly transfers?: readonly Transfer[];
  readonly limits?: readonly StoredLimit[];
  /** Holds that count against more limits than before. */
  readonly boundHolds?: readonly Hold[];
  /** Amounts to add to openings. */
  readonly openings?: readonly Opening[];
  readonly credits?: readonly Credit[];
}

export function counterKey(key: CounterKey): string {
  return `${key.periodStartMs} ${key.counterId}`;
}

/** `bound` is what the limit binds: commands of one batch may name a limit id with several. */
export function spendKey(key: CounterKey, bound: Pick<SpendLimit, "keyId" | "scope">): string {
  return `${counterKey(key)}\n${bindingOf(bound) ?? ""}`;
}

export function postingKey(kind: TransferKind, transferId: string): string {
  return `${kind} ${transferId}`;
}

export function balancesOf(wallet: Pick<Wallet, "posted" | "held" | "creditLimit">): Balances {
  const { posted, held, creditLimit } = wallet;
  return { posted, held, available: posted - held + creditLimit };
}
