// The interface of a ledger: its commands, their results and their errors. records.ts has the reads.
import type { CreditSource } from "../domain/credit.ts";
import type { Nanos } from "../domain/money.ts";
import type { Scope } from "../domain/scope.ts";
import type { TraceContext } from "../domain/trace-context.ts";
import type {
  Balances,
  HoldState,
  LedgerReads,
  Metadata,
  OutcomeFacts,
  RequestFacts,
  SpendLimit,
  WalletState,
} from "./records.ts";

/**
 * The ledger. Every command is atomic, and durable when its promise resolves. An id makes it idempotent: an
 * equal command with a used id returns the first result as `replayed`, with the current balances. A different
 * command with a used id rejects with `conflict`. Every method rejects with {@link LedgerError} only.
 */
export interface Ledger extends LedgerReads {
  /** Creates a wallet. An existing wallet stays as it is. */
  createWallet(walletId: string): Promise<Balances>;
  setWalletState(request: WalletStateRequest): Promise<void>;
  /**
   * Reserves the smaller of `amount` and the headroom of wallet and limits, if that is at least `minimum`.
   */
  hold(request: HoldRequest, options?: HoldOptions): Promise<HoldGrant>;
  /** A heartbeat: prolongs an open hold and sets the amount that an expiry would capture. */
  extend(request: ExtendRequest): Promise<void>;
  /** Charges the actual cost and frees the rest. Never declined for lack of money, nor after an expiry. */
  settle(request: SettleRequest, options?: CommandOptions): Promise<Settlement>;
  /** Frees the whole hold without a charge. After an expiry it returns the captured amount unchanged. */
  release(request: ReleaseRequest, options?: CommandOptions): Promise<Settlement>;
  topUp(request: TopUpRequest): Promise<Posting>;
  /** Books a cost without a hold. Never declined for lack of money. */
  charge(request: ChargeRequest): Promise<ChargePosting>;
  refund(request: RefundRequest): Promise<Posting>;
  /**
   * Creates or replaces a limit. What was spent for it in the current period so far counts against it; a limit of the
   * default project counts receipts without a project. A template counts from now on. Open holds count, except
   * against a window, which begins with its next hold. A limit id used for one scope is a `conflict` for another.
   */
  setSpendLimit(limit: SetSpendLimitRequest): Promise<void>;
  /** Removes a limit; a missing limit is no error. Its counters are kept for a limit of the same id. */
  deleteSpendLimit(request: DeleteSpendLimitRequest): Promise<void>;

  /** Resolves when the ledger's storage can be read. Rejects with `unavailable`. */
  ping(): Promise<void>;
  /** Takes no more commands. Resolves when every accepted command is completed. */
  close(): Promise<void>;
}

export interface WalletStateRequest {
  readonly walletId: string;
  readonly state: WalletState;
}

export interface HoldRequest {
  readonly walletId: string;
  /**
   * A lower-case UUIDv7 chosen by the caller: the idempotency key. Its time orders the receipt in every list,
   * and must be within a day of the ledger's clock.
   */
  readonly holdId: string;
  readonly keyId: string;
  /** What the hold counts for beside its wallet and key: at most 16, each once, none of kind `key`. */
  readonly scopes?: readonly Scope[] | undefined;
  /** The amount wanted, from 0. */
  readonly amount: Nanos;
  /** The smallest amount to grant; at most `amount`. */
  readonly minimum: Nanos;
  /** Milliseconds from the last heartbeat to the expiry of the hold. */
  readonly ttlMs: number;
  readonly facts: RequestFacts;
  readonly metadata?: Metadata | undefined;
}

interface CommandOptions {
  /** The span that the command belongs to. Has an effect over gRPC alone. */
  readonly trace?: TraceContext | undefined;
}

export interface HoldOptions extends CommandOptions {
  /** A hold not decided by this Unix time fails with `deadline_exceeded` and is not taken. */
  readonly deadlineMs?: number | undefined;
  /**
   * Default: true. `false` grants the hold when it is committed, before the commit is on disk: only for a
   * holder on the ledger's machine, because a loss of power then forgets the hold. Has no effect over gRPC.
   */
  readonly awaitsDisk?: boolean | undefined;
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
  /** The cost of the request so far. Never lowers the amount of an earlier heartbeat. */
  readonly accrued: Nanos;
  readonly ttlMs: number;
}

export interface SettleRequest {
  readonly walletId: string;
  readonly holdId: string;
  /** The actual cost, from 0. A cost above the held amount is booked in full. */
  readonly amount: Nanos;
  readonly facts: OutcomeFacts;
  /** Merged into the hold's metadata; these members override members of the same name. */
  readonly metadata?: Metadata | undefined;
  /** See {@link TakenHold}. */
  readonly taken?: TakenHold | undefined;
}

/**
 * What a hold was taken with, for a ledger that a loss of power has made forget it. The end of such a hold counts as
 * that of an expired one, if its id is at most a day old. `granted` is the amount that the ledger had granted.
 */
export interface TakenHold extends Pick<HoldRequest, "keyId" | "scopes" | "ttlMs" | "facts"> {
  readonly granted: Nanos;
}

export interface ReleaseRequest {
  readonly walletId: string;
  readonly holdId: string;
  readonly facts: OutcomeFacts;
  readonly metadata?: Metadata | undefined;
  /** See {@link TakenHold}. */
  readonly taken?: TakenHold | undefined;
}

export interface Settlement {
  readonly state: HoldState;
  readonly captured: Nanos;
  readonly balances: Balances;
  readonly replayed: boolean;
}

/**
 * Adds money to the wallet; a negative amount, a correction, takes money off. Ids of top-ups, charges and refunds have at most 128 characters, kept for ever.
 */
export interface TopUpRequest {
  readonly walletId: string;
  readonly topUpId: string;
  readonly amount: Nanos;
  /** Of the credit that is granted. Default: "purchase". */
  readonly source?: CreditSource | undefined;
  /** When the credit ends, in Unix milliseconds. Default: never. */
  readonly expiresAtMs?: number | undefined;
  /** For a correction, the credit to take from first. Default: the order of spending. */
  readonly creditId?: string | undefined;
}

/** Books a cost that had no hold, or that became known after its hold had ended. */
export interface ChargeRequest {
  readonly walletId: string;
  readonly chargeId: string;
  /** The key that spent it: the charge counts against the limits of this key. */
  readonly keyId: string;
  /** As those of a hold. */
  readonly scopes?: readonly Scope[] | undefined;
  readonly amount: Nanos;
  readonly facts: RequestFacts;
  readonly outcome: OutcomeFacts;
  readonly metadata?: Metadata | undefined;
}

/** Returns captured cost to the wallet. */
export interface RefundRequest {
  readonly walletId: string;
  readonly refundId: string;
  /** How long a new credit lives, in milliseconds, where the charged one has ended. Default: 7 days. */
  readonly creditLifeMs?: number | undefined;
  /** The hold, or the receipt of a charge. */
  readonly holdId: string;
  /** At most the captured cost less earlier refunds. */
  readonly amount: Nanos;
}

export interface Posting {
  readonly balances: Balances;
  readonly replayed: boolean;
}

export interface ChargePosting extends Posting {
  /** The id of the charge's receipt: a UUIDv7 made by the ledger. */
  readonly receiptId: string;
}

export interface SetSpendLimitRequest extends SpendLimit {
  /** Counts nothing that was spent before. Nothing was, where what the limit binds is new. */
  readonly countsFromNow?: boolean | undefined;
}

export interface DeleteSpendLimitRequest {
  readonly walletId: string;
  readonly limitId: string;
  /** Absent: the limit is deleted whatever counts against it. */
  readonly ifIdle?: IdleLimit | undefined;
}

/** Deletes a limit only if it binds this spender, nothing is held against it, and it has spent exactly so much. */
export interface IdleLimit extends Pick<HoldRequest, "keyId" | "scopes"> {
  readonly used: Nanos;
}

/**
 * Why a call failed. After `queue_full` or `unavailable`, repeat the command with the same id. Only after
 * `unavailable` may the failed command have been applied.
 */
export type LedgerErrorCode =
  | "invalid_amount"
  | "invalid_id"
  | "invalid_facts"
  | "invalid_metadata"
  | "invalid_time_zone"
  | "invalid_scope"
  | "invalid_query"
  | "invalid_credit"
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
  | "deadline_exceeded"
  | "queue_full"
  | "unavailable";

/**
 * The amounts of a hold declined for lack of money, from 0, read under the wallet's lock. They are amounts of
 * the spending limits after `spending_limit_exceeded`, otherwise of the wallet.
 */
export interface Shortfall {
  /** The hold's minimum. */
  readonly needed: Nanos;
  /** The largest amount that could have been held. */
  readonly available: Nanos;
  /** The largest amount that could have been held without the open holds. */
  readonly unheld: Nanos;
}

/** The limit that declined a hold: of all that bind it, the one with the least left. */
export interface DecliningLimit {
  readonly limitId: string;
  /** The scope that the limit binds; of a template, the one that it counted. `undefined` for the whole wallet. */
  readonly scope: Scope | undefined;
}

/** A call of the ledger failed. */
export class LedgerError extends Error {
  override readonly name = "LedgerError";
  readonly code: LedgerErrorCode;
  /**
   * Set for `spending_limit_exceeded`, `insufficient_balance` and `balance_on_hold`. A remote ledger of an
   * older version sends none.
   */
  readonly shortfall: Shortfall | undefined;
  /** Set for `spending_limit_exceeded`. A remote ledger of an older version sends none. */
  readonly limit: DecliningLimit | undefined;

  constructor(code: LedgerErrorCode, cause?: unknown, shortfall?: Shortfall, limit?: DecliningLimit) {
    super(code, { cause });
    this.code = code;
    this.shortfall = shortfall;
    this.limit = limit;
  }
}
