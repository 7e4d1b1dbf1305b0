import type { Nanos } from "../../domain/money.ts";
import type { Balances, HoldState, OutcomeFacts, RequestFacts, SpendLimit } from "../ledger.ts";

/** The accounts of a wallet's book; the wallet's own is what we owe its owner. */
export const ACCOUNTS = Object.freeze({ wallet: 1, usageRevenue: 2, funding: 3 });

/** Why money moved. An id names at most one transfer of each kind, for ever. */
export const TRANSFER_KINDS = Object.freeze({
  topUp: 1,
  settlement: 2,
  expiryCapture: 3,
  lateSettlement: 4,
  refund: 5,
  charge: 6,
});
export type TransferKind = (typeof TRANSFER_KINDS)[keyof typeof TRANSFER_KINDS];

export interface Wallet {
  readonly walletId: string;
  readonly posted: Nanos;
  readonly held: Nanos;
  readonly creditLimit: Nanos;
  readonly state: "active" | "frozen";
  /** The sequence number of its newest transfer; 0 before the first. */
  readonly lastSeq: number;
  readonly createdAtMs: number;
}

/** A limit in the period that a hold was taken in: what the hold counts against to its end. */
export interface LimitPeriodKey {
  readonly limitId: string;
  readonly periodStartMs: number;
}

/**
 * Everything the rules need to know of a hold; the rest of the receipt only passes through. A charge is a
 * hold that was settled when it was taken: it was granted nothing and has no time to live.
 */
export interface Hold {
  readonly holdId: string;
  readonly keyId: string;
  readonly state: HoldState;
  readonly late: boolean;
  readonly requested: Nanos;
  readonly minimum: Nanos;
  readonly granted: Nanos;
  readonly accrued: Nanos;
  /** What the settlement named. */
  readonly actual: Nanos | undefined;
  readonly captured: Nanos;
  readonly refunded: Nanos;
  readonly ttlMs: number;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly resolvedAtMs: number | undefined;
  readonly limits: readonly LimitPeriodKey[];
  readonly facts: RequestFacts;
  /** Printed JSON. */
  readonly metadata: string | undefined;
}

/** How a hold ended: what its receipt says beside the money. */
export interface Ending {
  readonly facts: OutcomeFacts;
  /** Printed JSON, laid over what the hold came with. */
  readonly metadata: string | undefined;
}

/** A limit as it is kept: a deleted one stays, so that its id and what it counted never become another key's. */
export interface KeptLimit extends SpendLimit {
  /** `undefined` while it is in force. */
  readonly deletedAtMs?: number | undefined;
}

export interface Counter extends LimitPeriodKey {
  readonly used: Nanos;
  readonly held: Nanos;
}

/** One debit and one credit. `seq` has no gaps; `postedAfter` is the wallet's balance after it. */
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
}

/**
 * The part of a wallet's book that some commands concern, as it was read under the wallet's lock.
 * Complete for those commands: a hold or posting that is not in it does not exist.
 */
export interface Book {
  readonly wallet: Wallet | undefined;
  readonly holds: ReadonlyMap<string, Hold>;
  /** Deleted ones may be among them. */
  readonly limits: ReadonlyMap<string, KeptLimit>;
  /** By {@link counterKey}; a counter that was looked for and not found is here with zeros. */
  readonly counters: ReadonlyMap<string, Counter>;
  /** Top-ups, charges and refunds by {@link postingKey}. */
  readonly postings: ReadonlyMap<string, Transfer>;
  /** Holds whose time was up when the book was read. */
  readonly dueHoldIds: readonly string[];
}

/** What an accepted command changes: whole new rows, and transfers to append. */
export interface Changes {
  readonly wallet?: Wallet;
  readonly holds?: readonly Hold[];
  readonly endings?: ReadonlyMap<string, Ending>;
  readonly counters?: readonly Counter[];
  readonly transfers?: readonly Transfer[];
  readonly limits?: readonly KeptLimit[];
}

export function counterKey(key: LimitPeriodKey): string {
  return `${key.periodStartMs} ${key.limitId}`;
}

export function postingKey(kind: TransferKind, transferId: string): string {
  return `${kind} ${transferId}`;
}

export function balancesOf(wallet: Pick<Wallet, "posted" | "held" | "creditLimit">): Balances {
  const { posted, held, creditLimit } = wallet;
  return { posted, held, available: posted - held + creditLimit };
}
