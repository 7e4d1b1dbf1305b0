// What a ledger can be told and asked, whole in one file: every store and every caller has this one text.
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

/** A frozen wallet takes no new holds; what is open can still be settled. */
export type WalletState = "active" | "frozen";

export interface WalletSummary {
  readonly walletId: string;
  readonly state: WalletState;
  readonly balances: Balances;
  readonly createdAtMs: number;
}

/** A bound on what a key (or, without one, the wallet) spends per calendar period; weeks start on Monday. */
export type LimitPeriod = "total" | "day" | "week" | "month";

export interface SpendLimit {
  readonly walletId: string;
  readonly limitId: string;
  /** The key that is bound; `undefined` binds the whole wallet. */
  readonly keyId: string | undefined;
  readonly period: LimitPeriod;
  /** Whose midnight periods start at, an IANA name; UTC without one. */
  readonly timeZone?: string | undefined;
  readonly amount: Nanos;
}

/** A limit in its current period. `resetsAtMs` is `undefined` for `total`. */
export interface SpendLimitUsage extends SpendLimit {
  readonly used: Nanos;
  readonly held: Nanos;
  readonly resetsAtMs: number | undefined;
}

/** Who asked for what: written when the hold is taken. Texts of facts are at most 256 characters, without controls. */
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
  readonly totalMs?: number | undefined;
  /** At most 8; older ones are dropped. */
  readonly attempts: readonly Attempt[];
}

export interface HoldRequest {
  readonly walletId: string;
  /**
   * UUIDv7 in lower case, chosen by the caller: it is the idempotency key. Its time is the receipt's place
   * in every list, so it may be at most a day off the ledger's clock.
   */
  readonly holdId: string;
  readonly keyId: string;
  /** What is wanted, from 0. */
  readonly amount: Nanos;
  /** The least that is of use; at most `amount`. */
  readonly minimum: Nanos;
  /** How long the hold outlives its last heartbeat. */
  readonly ttlMs: number;
  readonly facts: RequestFacts;
  readonly metadata?: Metadata | undefined;
}

/** The caller's own JSON object, at most 4 KiB printed. */
export type Metadata = Readonly<Record<string, unknown>>;

export interface HoldOptions {
  /** A hold that the ledger has not come to by this Unix time is refused as `deadline_exceeded`, and not taken. */
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
  /** Added to what the hold came with; a name that both have takes this value. */
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

/** Money into the wallet. The ids of top-ups, charges and refunds are at most 128 characters, kept for ever. */
export interface TopUpRequest {
  readonly walletId: string;
  readonly topUpId: string;
  readonly amount: Nanos;
}

/** A cost that no hold was taken for, or that was found out after its hold had ended. */
export interface ChargeRequest {
  readonly walletId: string;
  readonly chargeId: string;
  /** Who spent it: the charge counts against the limits of this key. */
  readonly keyId: string;
  readonly amount: Nanos;
  readonly facts: RequestFacts;
  readonly outcome: OutcomeFacts;
  readonly metadata?: Metadata | undefined;
}

/** A captured cost given back. */
export interface RefundRequest {
  readonly walletId: string;
  readonly refundId: string;
  /** The hold, or the receipt of a charge. */
  readonly holdId: string;
  /** At most what is left of the captured cost. */
  readonly amount: Nanos;
}

export interface Posting {
  readonly balances: Balances;
  readonly replayed: boolean;
}

export interface ChargePosting extends Posting {
  /** The id of the charge's receipt, a UUIDv7 of the ledger's. */
  readonly receiptId: string;
}

/** What moved money: a hold's own capture, its expiry, what came after that, or a posting with an id of its own. */
export type TransferKindName =
  | "top_up"
  | "settlement"
  | "expiry_capture"
  | "late_settlement"
  | "refund"
  | "charge";

/** One line of a wallet's journal. */
export interface JournalLine {
  /** From 1, without gaps. */
  readonly seq: number;
  /** The caller's id of a top-up, charge or refund; else the hold's. */
  readonly transferId: string;
  readonly kind: TransferKindName;
  /** What it changed `posted` by: positive into the wallet. */
  readonly amount: Nanos;
  readonly postedAfter: Nanos;
  readonly holdId: string | undefined;
  readonly createdAtMs: number;
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

/** Where a page of a list begins. */
export interface PageRequest {
  /** Items at most, 1 to 1,000. */
  readonly size: number;
  /** What the page before gave as `nextToken`; without one, the first page. */
  readonly token?: string | undefined;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Names the next page; `undefined` on the last. */
  readonly nextToken: string | undefined;
}

/** Which receipts are meant. Every condition that is there must hold. */
export interface ReceiptFilter {
  readonly walletId: string;
  /** Unix milliseconds of the ids' time: from this on … */
  readonly fromMs?: number | undefined;
  /** … and before this. */
  readonly toMs?: number | undefined;
  readonly keyId?: string | undefined;
  readonly surface?: string | undefined;
  readonly model?: string | undefined;
  readonly upstream?: string | undefined;
  readonly state?: HoldState | undefined;
  readonly outcome?: string | undefined;
}

/** What usage may be grouped by; `hour` and `day` are in UTC. */
export type UsageDimension = "hour" | "day" | "key" | "surface" | "model" | "upstream" | "outcome" | "source";

export interface UsageQuery extends ReceiptFilter {
  /** At most four, each once; without any, one row of everything. */
  readonly groupBy: readonly UsageDimension[];
}

/** What a group of receipts comes to. */
export interface UsageRow {
  /** The group, a value per dimension of the query: Unix milliseconds for `hour` and `day`, null for what is not known. */
  readonly group: Readonly<Partial<Record<UsageDimension, string | number | null>>>;
  readonly requests: number;
  readonly captured: Nanos;
  readonly refunded: Nanos;
  /** Tokens of the receipts that say theirs. */
  readonly usage: Usage;
}

/**
 * Why a command was refused. Repeat `queue_full`, which was not applied, and `unavailable`, of which that
 * is not known, with the same id.
 */
export type LedgerRefusal =
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
 * The amounts behind a hold that was declined for lack of money, in nano-USD from 0, as they were under the
 * wallet's lock. They are those of the limits after `spending_limit_exceeded`, else those of the wallet.
 */
export interface Shortfall {
  /** The hold's minimum. */
  readonly needed: Nanos;
  /** What a hold could have had. */
  readonly available: Nanos;
  /** What a hold could have had without the open holds. */
  readonly unheld: Nanos;
}

/** A refused command changed nothing. */
export class LedgerError extends Error {
  override readonly name = "LedgerError";
  readonly refusal: LedgerRefusal;
  /** Only of `spending_limit_exceeded`, `insufficient_balance` and `balance_on_hold`; an older ledger sends none. */
  readonly shortfall: Shortfall | undefined;

  constructor(refusal: LedgerRefusal, reason?: unknown, shortfall?: Shortfall) {
    super(refusal, { cause: reason });
    this.refusal = refusal;
    this.shortfall = shortfall;
  }

  /** For logs, which name faults by their codes. */
  get code(): LedgerRefusal {
    return this.refusal;
  }
}

/**
 * The books. Every mutation is atomic, durable when its promise resolves, and idempotent by its id:
 * the same id with the same parameters gives the same answer (`replayed`, with the balances of now),
 * with others `conflict`. Rejects with {@link LedgerError}.
 */
export interface Ledger extends LedgerReads {
  /** Creates the wallet of an account; repeating it is harmless. */
  createWallet(walletId: string): Promise<Balances>;
  setWalletState(request: WalletStateRequest): Promise<void>;
  /** Reserves the smaller of `amount` and what wallet and limits allow, if that is at least `minimum`. */
  hold(request: HoldRequest, options?: HoldOptions): Promise<HoldGrant>;
  /** A heartbeat: keeps the hold open and remembers what an expiry would capture. Never reopens a hold. */
  extend(request: ExtendRequest): Promise<void>;
  /** Books the actual cost and frees the rest. Never refused for lack of money, nor for being late. */
  settle(request: SettleRequest): Promise<Settlement>;
  /** Frees the whole hold; nothing is booked. After an expiry it only answers what that captured. */
  release(request: ReleaseRequest): Promise<Settlement>;
  topUp(request: TopUpRequest): Promise<Posting>;
  /** Books a cost without a hold. Never refused for lack of money. */
  charge(request: ChargeRequest): Promise<ChargePosting>;
  refund(request: RefundRequest): Promise<Posting>;
  /**
   * Creates or replaces a limit; what it counted in the period counts against the new amount. Another period
   * or zone starts another count. The id stays its key's for ever: for another key it is a `conflict`.
   */
  setSpendLimit(limit: SpendLimit): Promise<void>;
  /** Removes a limit; one that is not there is no error. What it counted is kept, should it come back. */
  deleteSpendLimit(request: DeleteSpendLimitRequest): Promise<void>;

  /** Resolves when the books can be read. Rejects with `unavailable`. */
  ping(): Promise<void>;
  /** Resolves when every accepted command is answered; the ledger takes no more after that. */
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

/** What may be asked of the books without changing them; sees what is committed. Rejects with {@link LedgerError}. */
export interface LedgerReads {
  /** Rejects with `wallet_not_found`. */
  balances(walletId: string): Promise<Balances>;
  /** `undefined` when there is none. */
  wallet(walletId: string): Promise<WalletSummary | undefined>;
  /** By id. Rejects with `invalid_query`, like every read that takes a page or a filter. */
  wallets(page: PageRequest): Promise<Page<WalletSummary>>;
  /** The limits that bind a key, those of the whole wallet among them; without a key every limit. By id. */
  spendLimits(walletId: string, keyId?: string): Promise<readonly SpendLimitUsage[]>;
  receipt(walletId: string, holdId: string): Promise<Receipt | undefined>;
  /** The newest first. */
  receipts(filter: ReceiptFilter, page: PageRequest): Promise<Page<Receipt>>;
  /** The journal of a wallet, the newest first. */
  transfers(walletId: string, page: PageRequest): Promise<Page<JournalLine>>;
  /** In the order of `groupBy`; at most 10,000 rows, else `invalid_query`. */
  usage(query: UsageQuery): Promise<readonly UsageRow[]>;
}
