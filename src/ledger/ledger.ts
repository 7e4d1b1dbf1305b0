// The interface of the ledger: the commands it takes, the reads it serves, and the errors of both. One file
// of more than 300 lines on purpose: every store, the gRPC client and every caller depend on exactly these
// types, and commands and reads share most of them.
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

/** The source of the charged usage: the upstream's report, a local count, the last heartbeat, or none. */
export type ChargeSource = "reported" | "estimated" | "expired" | "none";

/** A frozen wallet takes no new holds. Its open holds can still be settled. */
export type WalletState = "active" | "frozen";

export interface WalletSummary {
  readonly walletId: string;
  readonly state: WalletState;
  readonly balances: Balances;
  readonly createdAtMs: number;
}

/** The calendar period of a spending limit. Weeks start on Monday; `total` never resets. */
export type LimitPeriod = "total" | "day" | "week" | "month";

/** The most that a key, or without a key the whole wallet, may spend per period. */
export interface SpendLimit {
  readonly walletId: string;
  readonly limitId: string;
  /** The key that the limit binds; `undefined` binds the whole wallet. */
  readonly keyId: string | undefined;
  readonly period: LimitPeriod;
  /** The time zone whose midnight starts each period, an IANA name. Default: UTC. */
  readonly timeZone?: string | undefined;
  readonly amount: Nanos;
}

/** A limit with the counters of its current period. */
export interface SpendLimitUsage extends SpendLimit {
  readonly used: Nanos;
  readonly held: Nanos;
  /** The next period's start in Unix milliseconds; `undefined` for `total`. */
  readonly resetsAtMs: number | undefined;
}

/**
 * The facts of a request, written when its hold is taken. Each text has at most 256 characters, no controls.
 */
export interface RequestFacts {
  readonly surface: string;
  readonly model: string;
}

/** One attempt at one route, as listed on the receipt. */
export interface Attempt {
  readonly upstream: string;
  /** The HTTP status; 0 without a response. */
  readonly status: number;
  readonly ms: number;
}

/** The facts of how a request ended, written when its hold is settled or released. */
export interface OutcomeFacts {
  /** `ok`, an error code of the gateway, or `client_closed`. */
  readonly outcome: string;
  readonly source: ChargeSource;
  readonly upstream?: string | undefined;
  readonly upstreamModel?: string | undefined;
  readonly price?: Price | undefined;
  readonly usage?: Usage | undefined;
  readonly firstOutputMs?: number | undefined;
  readonly totalMs?: number | undefined;
  /** Only the last 8 are stored. */
  readonly attempts: readonly Attempt[];
}

export interface HoldRequest {
  readonly walletId: string;
  /**
   * A lower-case UUIDv7 chosen by the caller: the idempotency key. Its time orders the receipt in every list,
   * and must be within a day of the ledger's clock.
   */
  readonly holdId: string;
  readonly keyId: string;
  /** The amount wanted, from 0. */
  readonly amount: Nanos;
  /** The smallest amount to grant; at most `amount`. */
  readonly minimum: Nanos;
  /** Milliseconds from the last heartbeat to the expiry of the hold. */
  readonly ttlMs: number;
  readonly facts: RequestFacts;
  readonly metadata?: Metadata | undefined;
}

/** The caller's own JSON object, at most 4 KiB as text. */
export type Metadata = Readonly<Record<string, unknown>>;

export interface HoldOptions {
  /** A hold not decided by this Unix time fails with `deadline_exceeded` and is not taken. */
  readonly deadlineMs?: number | undefined;
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
}

export interface ReleaseRequest {
  readonly walletId: string;
  readonly holdId: string;
  readonly facts: OutcomeFacts;
  readonly metadata?: Metadata | undefined;
}

export interface Settlement {
  readonly state: HoldState;
  readonly captured: Nanos;
  readonly balances: Balances;
  readonly replayed: boolean;
}

/**
 * Adds money to the wallet. Ids of top-ups, charges and refunds have at most 128 characters, kept for ever.
 */
export interface TopUpRequest {
  readonly walletId: string;
  readonly topUpId: string;
  readonly amount: Nanos;
}

/** Books a cost that had no hold, or that became known after its hold had ended. */
export interface ChargeRequest {
  readonly walletId: string;
  readonly chargeId: string;
  /** The key that spent it: the charge counts against the limits of this key. */
  readonly keyId: string;
  readonly amount: Nanos;
  readonly facts: RequestFacts;
  readonly outcome: OutcomeFacts;
  readonly metadata?: Metadata | undefined;
}

/** Returns captured cost to the wallet. */
export interface RefundRequest {
  readonly walletId: string;
  readonly refundId: string;
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

/** Why money moved: a hold's capture, its expiry, its late settlement, or a posting with an id of its own. */
export type TransferKindName =
  | "top_up"
  | "settlement"
  | "expiry_capture"
  | "late_settlement"
  | "refund"
  | "charge";

/** One transfer in a wallet's journal. */
export interface JournalLine {
  /** From 1, without gaps. */
  readonly seq: number;
  /** The caller's id of a top-up, charge or refund; otherwise the hold's id. */
  readonly transferId: string;
  readonly kind: TransferKindName;
  /** The change of `posted`: positive into the wallet. */
  readonly amount: Nanos;
  readonly postedAfter: Nanos;
  readonly holdId: string | undefined;
  readonly createdAtMs: number;
}

/** A request from hold to settlement. The hold is stored once, as this receipt. */
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

/** Names one page of a list. */
export interface PageRequest {
  /** The most items on the page, 1 to 1,000. */
  readonly size: number;
  /** The `nextToken` of the previous page. Default: the first page. */
  readonly token?: string | undefined;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** The token of the next page; `undefined` on the last page. */
  readonly nextToken: string | undefined;
}

/** Selects receipts. A receipt must match every condition given. */
export interface ReceiptFilter {
  readonly walletId: string;
  /** The first Unix millisecond of the receipt id's time … */
  readonly fromMs?: number | undefined;
  /** … and the first Unix millisecond after the range. */
  readonly toMs?: number | undefined;
  readonly keyId?: string | undefined;
  readonly surface?: string | undefined;
  readonly model?: string | undefined;
  readonly upstream?: string | undefined;
  readonly state?: HoldState | undefined;
  readonly outcome?: string | undefined;
}

/** A dimension to group usage by. `hour` and `day` are in UTC. */
export type UsageDimension = "hour" | "day" | "key" | "surface" | "model" | "upstream" | "outcome" | "source";

export interface UsageQuery extends ReceiptFilter {
  /** At most four, each once. Without any, one row sums all receipts. */
  readonly groupBy: readonly UsageDimension[];
}

/** The sums of a group of receipts. */
export interface UsageRow {
  /**
   * One value per dimension of the query: Unix milliseconds for `hour` and `day`, null for an unknown value.
   */
  readonly group: Readonly<Partial<Record<UsageDimension, string | number | null>>>;
  readonly requests: number;
  readonly captured: Nanos;
  readonly refunded: Nanos;
  /** Summed over the receipts that have a usage. */
  readonly usage: Usage;
}

/**
 * Why a call failed. Repeat these two with the same id: `queue_full` was not applied; whether `unavailable`
 * was applied is unknown.
 */
export type LedgerErrorCode =
  | "invalid_amount"
  | "invalid_id"
  | "invalid_facts"
  | "invalid_metadata"
  | "invalid_time_zone"
  | "invalid_query"
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
 * The amounts of a hold declined for lack of money, in nano-USD from 0, read under the wallet's lock. After
 * `spending_limit_exceeded` they are amounts of the limits, otherwise of the wallet.
 */
export interface Shortfall {
  /** The hold's minimum. */
  readonly needed: Nanos;
  /** The largest amount that could have been held. */
  readonly available: Nanos;
  /** The largest amount that could have been held without the open holds. */
  readonly unheld: Nanos;
}

/** A call that failed. Only after `unavailable` may its command have been applied. */
export class LedgerError extends Error {
  override readonly name = "LedgerError";
  readonly code: LedgerErrorCode;
  /**
   * Only of `spending_limit_exceeded`, `insufficient_balance` and `balance_on_hold`; older ledgers send none.
   */
  readonly shortfall: Shortfall | undefined;

  constructor(code: LedgerErrorCode, cause?: unknown, shortfall?: Shortfall) {
    super(code, { cause });
    this.code = code;
    this.shortfall = shortfall;
  }
}

/**
 * The ledger. Every command is atomic, durable when its promise resolves, and idempotent by its id: an equal
 * command with a used id returns the first result, `replayed` and with the balances of now; a different
 * command rejects with `conflict`. Rejects with {@link LedgerError}.
 */
export interface Ledger extends LedgerReads {
  /** Creates a wallet. An existing wallet stays as it is. */
  createWallet(walletId: string): Promise<Balances>;
  setWalletState(request: WalletStateRequest): Promise<void>;
  /**
   * Reserves the smaller of `amount` and the headroom of wallet and limits, if that is at least `minimum`.
   */
  hold(request: HoldRequest, options?: HoldOptions): Promise<HoldGrant>;
  /** A heartbeat: keeps the hold open and sets the amount an expiry would capture. Never reopens a hold. */
  extend(request: ExtendRequest): Promise<void>;
  /** Books the actual cost and frees the rest. Never declined for lack of money, nor after an expiry. */
  settle(request: SettleRequest): Promise<Settlement>;
  /** Frees the whole hold and books nothing. After an expiry it returns the captured amount unchanged. */
  release(request: ReleaseRequest): Promise<Settlement>;
  topUp(request: TopUpRequest): Promise<Posting>;
  /** Books a cost without a hold. Never declined for lack of money. */
  charge(request: ChargeRequest): Promise<ChargePosting>;
  refund(request: RefundRequest): Promise<Posting>;
  /**
   * Creates or replaces a limit. The amount counted in the period so far counts against the new amount;
   * another period or zone starts another counter. A limit id used for one key is a `conflict` for another.
   */
  setSpendLimit(limit: SpendLimit): Promise<void>;
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

export interface DeleteSpendLimitRequest {
  readonly walletId: string;
  readonly limitId: string;
}

/** The reads of a ledger. They see committed changes only. Reject with {@link LedgerError}. */
export interface LedgerReads {
  /** Rejects with `wallet_not_found`. */
  balances(walletId: string): Promise<Balances>;
  /** `undefined` for an unknown wallet. */
  wallet(walletId: string): Promise<WalletSummary | undefined>;
  /** Sorted by id. Rejects with `invalid_query`, like every read that takes a page or a filter. */
  wallets(page: PageRequest): Promise<Page<WalletSummary>>;
  /** The limits that bind a key, those of the whole wallet included; without a key, all. Sorted by id. */
  spendLimits(walletId: string, keyId?: string): Promise<readonly SpendLimitUsage[]>;
  /** `undefined` for an unknown wallet or hold. */
  receipt(walletId: string, holdId: string): Promise<Receipt | undefined>;
  /** Newest first. */
  receipts(filter: ReceiptFilter, page: PageRequest): Promise<Page<Receipt>>;
  /** The journal of a wallet, newest first. */
  transfers(walletId: string, page: PageRequest): Promise<Page<JournalLine>>;
  /** Sorted by the dimensions of `groupBy`. Rejects with `invalid_query` above 10,000 rows. */
  usage(query: UsageQuery): Promise<readonly UsageRow[]>;
}
