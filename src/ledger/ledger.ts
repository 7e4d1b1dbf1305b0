import type { Price } from "../domain/model.ts";
import type { Nanos } from "../domain/money.ts";
import type { Usage } from "../domain/usage.ts";

/** The money of one wallet. `available = posted − held + creditLimit`; only `posted` may be negative. */
export interface Balances {
  readonly posted: Nanos;
  readonly held: Nanos;
  readonly available: Nanos;
}

/** `held` is open; the other three are final, except that a late settlement may follow `expired`. */
export type HoldState = "held" | "settled" | "released" | "expired";

/** Where the charged usage came from: the upstream, a local count, the last heartbeat, or nowhere. */
export type ChargeSource = "reported" | "estimated" | "expired" | "none";

/** A bound on what a key (or, without one, the wallet) spends per calendar period; weeks start on Monday, UTC. */
export type LimitPeriod = "total" | "day" | "week" | "month";

export interface SpendLimit {
  readonly walletId: string;
  readonly limitId: string;
  /** The key that is bound; `undefined` binds the whole wallet. */
  readonly keyId: string | undefined;
  readonly period: LimitPeriod;
  readonly amount: Nanos;
}

/** A limit in its current period. `resetsAtMs` is `undefined` for `total`. */
export interface SpendLimitUsage extends SpendLimit {
  readonly used: Nanos;
  readonly held: Nanos;
  readonly resetsAtMs: number | undefined;
}

/** Who asked for what: written when the hold is taken. */
export interface RequestFacts {
  readonly surface: string;
  readonly model: string;
}

/** One try at one route, as the receipt lists it. */
export interface Attempt {
  readonly upstream: string;
  /** The HTTP status, or 0 when none came. */
  readonly status: number;
  readonly ms: number;
}

/** How a request ended: written when its hold is settled or released. */
export interface OutcomeFacts {
  /** `ok`, a code of the error contract, or `client_closed`. */
  readonly outcome: string;
  readonly source: ChargeSource;
  readonly upstream?: string | undefined;
  readonly upstreamModel?: string | undefined;
  readonly price?: Price | undefined;
  readonly usage?: Usage | undefined;
  readonly firstOutputMs?: number | undefined;
  readonly totalMs: number;
  /** At most 8; older ones are dropped. */
  readonly attempts: readonly Attempt[];
}

export interface HoldRequest {
  readonly walletId: string;
  /** UUIDv7, chosen by the caller: it is the idempotency key. */
  readonly holdId: string;
  readonly keyId: string;
  /** What is wanted, from 0. */
  readonly amount: Nanos;
  /** The least that is of use; at most `amount`. */
  readonly minimum: Nanos;
  /** How long the hold outlives its last heartbeat. */
  readonly ttlMs: number;
  readonly facts: RequestFacts;
  /** The caller's own JSON object, at most 4 KiB printed. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

export interface HoldGrant {
  /** Between `minimum` and `amount`. */
  readonly granted: Nanos;
  readonly balances: Balances;
  readonly replayed: boolean;
}

export interface ExtendRequest {
  readonly walletId: string;
  readonly holdId: string;
  /** What the request has cost so far; never lowers what an earlier heartbeat said. */
  readonly accrued: Nanos;
  readonly ttlMs: number;
}

export interface SettleRequest {
  readonly walletId: string;
  readonly holdId: string;
  /** What it came to, from 0. More than was held is booked in full. */
  readonly amount: Nanos;
  readonly facts: OutcomeFacts;
}

export interface ReleaseRequest {
  readonly walletId: string;
  readonly holdId: string;
  readonly facts: OutcomeFacts;
}

export interface Settlement {
  readonly state: HoldState;
  readonly captured: Nanos;
  readonly balances: Balances;
  readonly replayed: boolean;
}

/** Money into the wallet (`topUp`) or a captured cost given back (`refund`). Ids are at most 128 characters. */
export interface TopUpRequest {
  readonly walletId: string;
  readonly topUpId: string;
  readonly amount: Nanos;
}

export interface RefundRequest {
  readonly walletId: string;
  readonly refundId: string;
  readonly holdId: string;
  /** At most what is left of the captured cost. */
  readonly amount: Nanos;
}

export interface Posting {
  readonly balances: Balances;
  readonly replayed: boolean;
}

/** A request from hold to settlement. The receipt is the hold; there is no second record of it. */
export interface Receipt {
  readonly holdId: string;
  readonly walletId: string;
  readonly keyId: string;
  readonly state: HoldState;
  readonly late: boolean;
  readonly granted: Nanos;
  readonly captured: Nanos;
  readonly refunded: Nanos;
  readonly createdAtMs: number;
  readonly resolvedAtMs: number | undefined;
  readonly request: RequestFacts;
  readonly outcome: OutcomeFacts | undefined;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Why a command was refused. Repeat `queue_full`, which was not applied, and `unavailable`, of which that
 * is not known, with the same id.
 */
export type LedgerRefusal =
  | "invalid_amount"
  | "invalid_id"
  | "invalid_metadata"
  | "wallet_not_found"
  | "wallet_frozen"
  | "hold_not_found"
  | "hold_released"
  | "hold_settled"
  | "hold_expired"
  | "conflict"
  | "spending_limit_exceeded"
  | "insufficient_balance"
  | "balance_on_hold"
  | "refund_exceeds_charge"
  | "balance_overflow"
  | "queue_full"
  | "unavailable";

/** A refused command changed nothing. */
export class LedgerError extends Error {
  override readonly name = "LedgerError";
  readonly refusal: LedgerRefusal;

  constructor(refusal: LedgerRefusal, reason?: unknown) {
    super(refusal, { cause: reason });
    this.refusal = refusal;
  }
}

/**
 * The books. Every mutation is atomic, durable when its promise resolves, and idempotent by its id:
 * the same id with the same parameters gives the same answer (`replayed`, with the balances of now),
 * with others `conflict`. Rejects with {@link LedgerError}.
 */
export interface Ledger {
  /** Creates the wallet of an account; repeating it is harmless. */
  createWallet(walletId: string): Promise<Balances>;
  /** Reserves the smaller of `amount` and what wallet and limits allow, if that is at least `minimum`. */
  hold(request: HoldRequest): Promise<HoldGrant>;
  /** A heartbeat: keeps the hold open and remembers what an expiry would capture. Never reopens a hold. */
  extend(request: ExtendRequest): Promise<void>;
  /** Books the actual cost and frees the rest. Never refused for lack of money, nor for being late. */
  settle(request: SettleRequest): Promise<Settlement>;
  /** Frees the whole hold; nothing is booked. After an expiry it only answers what that captured. */
  release(request: ReleaseRequest): Promise<Settlement>;
  topUp(request: TopUpRequest): Promise<Posting>;
  refund(request: RefundRequest): Promise<Posting>;
  /** Creates or replaces a limit; what was spent in the period counts against the new amount. */
  setSpendLimit(limit: SpendLimit): Promise<void>;

  balances(walletId: string): Promise<Balances>;
  spendLimits(walletId: string, keyId: string): Promise<readonly SpendLimitUsage[]>;
  receipt(walletId: string, holdId: string): Promise<Receipt | undefined>;
  /** Resolves when every accepted command is answered; the ledger takes no more after that. */
  close(): Promise<void>;
}
