// The records of a ledger: wallets, limits, receipts and the journal, and the reads that return them.
import type { CreditSource } from "../domain/credit.ts";
import type { Price } from "../domain/model.ts";
import type { Nanos } from "../domain/money.ts";
import type { LimitPeriod } from "../domain/period.ts";
import type { FILTER_SCOPES_MAX, Scope, ScopeKind } from "../domain/scope.ts";
import type { Usage } from "../domain/usage.ts";
import type { RollUpState, UsageDimension, UsageReport } from "./usage-records.ts";

/** The reads of a ledger. They see committed changes only. Reject with {@link LedgerError}. */
export interface LedgerReads {
  /** Rejects with `wallet_not_found`. */
  balances(walletId: string): Promise<Balances>;
  /** `undefined` for an unknown wallet. */
  wallet(walletId: string): Promise<WalletSummary | undefined>;
  /** Sorted by id. Rejects with `invalid_query`, like every read that takes a page or a filter. */
  wallets(page: PageRequest, options?: WalletListOptions): Promise<Page<WalletSummary>>;
  /**
   * The limits that bind holds of a key with these scopes, those of the whole wallet included. A template has a
   * row for each scope that it binds. Without a key, all limits, templates without counters. Sorted by id.
   */
  spendLimits(
    walletId: string,
    keyId?: string,
    scopes?: readonly Scope[],
    options?: SpendLimitOptions,
  ): Promise<readonly SpendLimitUsage[]>;
  /** The limits that are full to a percentage, among those of open holds and of a piece of the journal. */
  fullLimits(walletId: string, query: FullLimitsQuery): Promise<FullLimits>;
  /** `undefined` for an unknown wallet or hold. */
  receipt(walletId: string, holdId: string): Promise<Receipt | undefined>;
  /** The receipts with this id in any wallet, at most 10: ids are chosen by callers, and nearly unique. */
  receiptsById(holdId: string): Promise<readonly Receipt[]>;
  /** Newest first. */
  receipts(filter: ReceiptFilter, page: PageRequest): Promise<ReceiptPage>;
  /** Open holds, oldest first. `undefined` selects every wallet. */
  runningHolds(walletId: string | undefined, page: PageRequest): Promise<Page<RunningHold>>;
  /** Sums of the open holds, one row per wallet that has any, sorted by id. `undefined`: every wallet. */
  runningTotals(walletId: string | undefined): Promise<readonly RunningTotals[]>;
  /** The credits of a wallet, newest first. A credit whose end has come has nothing left but what holds claim. */
  credits(walletId: string, page: PageRequest, filter?: CreditFilter): Promise<Page<Credit>>;
  /** The journal of a wallet, newest first unless the range has another order. */
  transfers(walletId: string, page: PageRequest, range?: TransferRange): Promise<Page<JournalLine>>;
  /** Sums of the whole journal of a wallet. Zeros for an unknown wallet. */
  journalTotals(walletId: string, options?: JournalTotalsOptions): Promise<JournalTotals>;
  /** Sums of the transfers of a range of time, by kind and by a scope of their receipts. */
  transferTotals(walletId: string, query: TransferTotalsQuery): Promise<readonly TransferTotal[]>;
  /** Sums of what top-ups granted and what credits lost at their ends, by source. */
  creditTotals(query: CreditTotalsQuery): Promise<readonly CreditTotal[]>;
  /** Rejects with `invalid_query` above 10,000 rows. */
  usage(query: UsageQuery): Promise<UsageReport>;
  rollUps(): Promise<RollUpState>;
}

export interface WalletSummary {
  readonly walletId: string;
  readonly state: WalletState;
  readonly balances: Balances;
  /** How far `posted` may fall below the held amount. */
  readonly creditLimit: Nanos;
  readonly createdAtMs: number;
  /** When its newest hold was taken; `undefined` for none that is known. */
  readonly newestHoldAtMs?: number | undefined;
  /** What ends until the time that a list asked for; `undefined` where none did. */
  readonly ending?: Nanos | undefined;
}

export interface WalletListOptions {
  /** Unix milliseconds. Sums up, for each wallet, the credits that end until then. */
  readonly endsBeforeMs?: number | undefined;
}

/** A frozen wallet takes no new holds. Its open holds can still be settled. */
export type WalletState = "active" | "frozen";

/** The money of one wallet. `available = posted − held + creditLimit`; only `posted` may be negative. */
export interface Balances {
  readonly posted: Nanos;
  readonly held: Nanos;
  readonly available: Nanos;
}

/** Money of a wallet of one source and one end. */
export interface Credit {
  /** The number of the transfer that granted it; 0 for what the wallet had before credits were kept. */
  readonly seq: number;
  /** The id of the top-up or refund that granted it. */
  readonly creditId: string;
  readonly source: CreditSource;
  /** What was granted. */
  readonly amount: Nanos;
  /** What can be spent, or since its end what holds from before may still spend. */
  readonly left: Nanos;
  /** What was taken off at its end. */
  readonly expired: Nanos;
  /** Unix milliseconds; `undefined` for never. */
  readonly expiresAtMs: number | undefined;
  readonly createdAtMs: number;
  /** Since its end was booked, the sum of the open holds from before it; `undefined` before. */
  readonly claims: Nanos | undefined;
  /** Unix milliseconds: holds that were taken earlier are from before the end; `undefined` until it is booked. */
  readonly endedAtMs: number | undefined;
}

export interface CreditFilter {
  /** Only credits with something left, in the order of spending; a wallet's first 1,000. */
  readonly isLive?: boolean | undefined;
}

/** The most that a scope, or without one the whole wallet, may spend per period. */
export interface SpendLimit {
  readonly walletId: string;
  readonly limitId: string;
  /** The key whose holds the limit binds, with those of the keys below it. */
  readonly keyId: string | undefined;
  /** The scope that the limit binds, where it is no key. Of no kind `key` or `parent_key`. */
  readonly scope?: Scope | undefined;
  /** Makes the limit a template: it binds each scope of this kind, of the holds that it binds, by itself. */
  readonly each?: ScopeKind | undefined;
  readonly period: LimitPeriod;
  /** The time zone whose midnight starts each period, an IANA name. Default: UTC. */
  readonly timeZone?: string | undefined;
  readonly amount: Nanos;
}

/** A limit with the counters of its current period. */
export interface SpendLimitUsage extends SpendLimit {
  /** The id of the scope that a template's counters are of; `undefined` for other limits. */
  readonly subject?: string | undefined;
  readonly used: Nanos;
  readonly held: Nanos;
  /** The next period's start in Unix milliseconds; `undefined` for `total`, and for a window that has not begun. */
  readonly resetsAtMs: number | undefined;
}

export interface SpendLimitOptions {
  /** Leaves the limits of runs out, which may be a million, where no key is given. */
  readonly omitsRuns?: boolean | undefined;
}

/** Selects the limits of which current periods have used a percentage, holds included. */
export interface FullLimitsQuery {
  /** Whole, from 1 to 100. */
  readonly percent: number;
  /** The `end` of the piece before. Without one, no transfer is read. */
  readonly after?: number | undefined;
}

/** Full limits, in no order. A template has a row for each scope that spent. */
export interface FullLimits {
  readonly limits: readonly SpendLimitUsage[];
  /** Where the next piece of the journal begins. */
  readonly end: number;
  /** Whether the journal had no more transfers. */
  readonly isAtEnd: boolean;
}

/** An open hold. */
export interface RunningHold {
  readonly walletId: string;
  readonly holdId: string;
  readonly keyId: string;
  readonly model: string;
  readonly granted: Nanos;
  /** The cost of the request at its last heartbeat. */
  readonly accrued: Nanos;
  readonly createdAtMs: number;
  /** When the hold expires unless another heartbeat comes. */
  readonly expiresAtMs: number;
}

/** The open holds of one wallet. */
export interface RunningTotals {
  readonly walletId: string;
  readonly count: number;
  /** Equals the wallet's `held` of the same moment. */
  readonly granted: Nanos;
  readonly oldestCreatedAtMs: number;
}

/** The public view of a hold, open or ended, or of a charge. */
export interface Receipt {
  readonly holdId: string;
  readonly walletId: string;
  readonly keyId: string;
  /** What it counts for beside its wallet and key. */
  readonly scopes: readonly Scope[];
  readonly state: HoldState;
  readonly late: boolean;
  readonly granted: Nanos;
  readonly captured: Nanos;
  readonly refunded: Nanos;
  readonly createdAtMs: number;
  readonly resolvedAtMs: number | undefined;
  readonly request: RequestFacts;
  readonly outcome: OutcomeFacts | undefined;
  readonly metadata: Metadata | undefined;
}

/** `held` is open. The other states are final, except that a late settlement may follow `expired`. */
export type HoldState = "held" | "settled" | "released" | "expired";

/**
 * What a receipt records of a request when its hold is taken. Each text has at most 256 characters and no
 * control characters.
 */
export interface RequestFacts {
  readonly surface: string;
  readonly model: string;
}

/** What a receipt records of the end of a request, when its hold is settled or released. */
export interface OutcomeFacts {
  /** `ok`, an error code of the gateway, or `client_closed`. */
  readonly outcome: string;
  readonly source: ChargeSource;
  readonly upstream?: string | undefined;
  readonly upstreamModel?: string | undefined;
  readonly price?: Price | undefined;
  /** The service tier of the price; `undefined` for the standard one. */
  readonly tier?: string | undefined;
  /** What the upstream bills the operator for the charged usage; `undefined` when that is unknown. */
  readonly upstreamCost?: Nanos | undefined;
  readonly usage?: Usage | undefined;
  readonly firstOutputMs?: number | undefined;
  readonly totalMs?: number | undefined;
  /** Only the last {@link ATTEMPTS_MAX} are stored. */
  readonly attempts: readonly Attempt[];
}

/** The source of the charged usage: the upstream's report, a local count, the last heartbeat, or none. */
export type ChargeSource = "reported" | "estimated" | "expired" | "none";

/** The most attempts that a receipt lists. */
export const ATTEMPTS_MAX = 8;

/** One attempt at one route, as listed on the receipt. */
export interface Attempt {
  readonly upstream: string;
  /** The label of the upstream's key; absent for an upstream with one key. */
  readonly key?: string | undefined;
  /** Why the route and key were taken, or what a route that was not called cannot; absent without a choice. */
  readonly reason?: string | undefined;
  /**
   * Why the usage that the upstream reported was not charged as it was: "missing", "uncountable", "above_bound"
   * of what the request allowed, or a "tier" that it did not ask for. Absent when it was.
   */
  readonly report?: string | undefined;
  /** The HTTP status; 0 without a response. */
  readonly status: number;
  readonly ms: number;
}

/** The caller's own JSON object, at most 4 KiB as text. */
export type Metadata = Readonly<Record<string, unknown>>;

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

/** Selects transfers by what they were for, and by the time of their commit in Unix milliseconds. */
export interface TransferRange {
  /** Default: every kind. Otherwise a page may have few items or none and a `nextToken`, to search on. */
  readonly kinds?: readonly TransferKindName[] | undefined;
  readonly fromMs?: number | undefined;
  /** Exclusive. */
  readonly toMs?: number | undefined;
  /** Default: newest first. */
  readonly order?: "newest_first" | "oldest_first" | undefined;
}

export interface JournalTotalsOptions {
  /**
   * Computes `charged` from the posted balance, which takes milliseconds. Default: false, which reads every
   * transfer, as a proof of the balance must.
   */
  readonly derivesCharged?: boolean | undefined;
}

/** `posted = toppedUp − charged + refunded − expired`, all from 0. */
export interface JournalTotals {
  readonly toppedUp: Nanos;
  /** Settlements, captures of expired holds, late settlements and charges. */
  readonly charged: Nanos;
  readonly refunded: Nanos;
  /** What credits lost at their ends. */
  readonly expired: Nanos;
  readonly transfers: number;
}

/** Selects transfers by the time of their commit, and the kind of scope that they are summed up by. */
export interface TransferTotalsQuery extends Pick<TransferRange, "fromMs" | "toMs"> {
  /** Of `tag`, the value of one key's tags. */
  readonly by: ScopeKind;
  readonly tagKey?: string | undefined;
  /** Sums up by the keys of the receipts too. Default: false. */
  readonly splitsKeys?: boolean | undefined;
}

/** The sum of the transfers of one kind whose receipts count for one scope, and where keys are split, for one key. */
export interface TransferTotal {
  readonly kind: TransferKindName;
  /** `undefined` for receipts without such a scope, and for transfers without a receipt. */
  readonly scopeId: string | undefined;
  /** The key of the receipts, where keys are split. */
  readonly keyId?: string | undefined;
  /** Whether the receipts are no longer kept, and so their scopes unknown. */
  readonly isDropped: boolean;
  /** The change of `posted`: positive into the wallet. */
  readonly amount: Nanos;
  readonly transfers: number;
}

/** Selects transfers by the time of their commit. Without a wallet, those of all. */
export interface CreditTotalsQuery extends Pick<TransferRange, "fromMs" | "toMs"> {
  readonly walletId?: string | undefined;
}

/** What credits of one source were granted by top-ups, and what they lost at their ends. */
export interface CreditTotal {
  readonly source: CreditSource;
  readonly granted: Nanos;
  /** The number of top-ups. */
  readonly grants: number;
  readonly expired: Nanos;
  /** The number of transfers that took something off at an end. */
  readonly ends: number;
}

/** Why money moved: a hold's capture, its expiry, its late settlement, or a posting with an id of its own. */
export type TransferKindName =
  | "top_up"
  | "correction"
  | "settlement"
  | "expiry_capture"
  | "late_settlement"
  | "refund"
  | "charge"
  | "credit_expiry";

/** The most items of a page. */
export const PAGE_SIZE_MAX = 1_000;

/** Selects one page of a list. */
export interface PageRequest {
  /** The most items on the page, 1 to {@link PAGE_SIZE_MAX}. */
  readonly size: number;
  /** The `nextToken` of the previous page. Default: the first page. */
  readonly token?: string | undefined;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  /** The token of the next page; `undefined` on the last page. */
  readonly nextToken: string | undefined;
}

/** Reads a list page by page, to its end. */
export async function* pagesOf<Found extends Page<unknown>>(
  read: (token: string | undefined) => Promise<Found>,
): AsyncGenerator<Found> {
  let token: string | undefined;
  do {
    const page = await read(token);
    yield page;
    token = page.nextToken;
  } while (token !== undefined);
}

/** Reads all items of a list, page by page. */
export async function readToEnd<Item>(
  read: (token: string | undefined) => Promise<Page<Item>>,
): Promise<readonly Item[]> {
  const pages = await Array.fromAsync(pagesOf(read));
  return pages.flatMap(({ items }) => items);
}

/** A page of receipts. A page with fewer items than its size may have a `nextToken`, to search on. */
export interface ReceiptPage extends Page<Receipt> {
  /** Unix milliseconds: every matching receipt from this time on is on this page or an earlier one. */
  readonly searchedToMs: number | undefined;
}

/** Selects receipts. A receipt must match every condition given. */
export interface ReceiptFilter {
  /** `undefined` selects the receipts of every wallet. Only for operators. */
  readonly walletId: string | undefined;
  /** Unix milliseconds. Selects receipts whose id has this time or a later one. */
  readonly fromMs?: number | undefined;
  /** Unix milliseconds. Selects receipts whose id has an earlier time. */
  readonly toMs?: number | undefined;
  readonly keyId?: string | undefined;
  readonly surface?: string | undefined;
  readonly model?: string | undefined;
  readonly upstream?: string | undefined;
  readonly state?: HoldState | undefined;
  readonly outcome?: string | undefined;
  /** Selects receipts that ended with another outcome than `ok`, or with none, as expired holds do. */
  readonly failed?: boolean | undefined;
  readonly metadata?: MetadataCondition | undefined;
  /**
   * Selects receipts that count for each of these scopes, at most {@link FILTER_SCOPES_MAX}. Those without a project
   * count for that of the wallet's id.
   */
  readonly scopes?: readonly Scope[] | undefined;
}

/** Selects receipts whose metadata has a member with this text, number or boolean, compared as text. */
export interface MetadataCondition {
  readonly name: string;
  readonly value: string;
}

/** The most wallets that a usage query selects by their ids. */
export const USAGE_WALLETS_MAX = 200;

/** Selects the receipts that usage sums up. */
export interface UsageQuery extends ReceiptFilter {
  /** Selects these of all wallets, at most {@link USAGE_WALLETS_MAX}. Needs a `walletId` of `undefined`. */
  readonly walletIds?: readonly string[] | undefined;
  /** At most 4 dimensions, each once. Without a dimension, one row sums all receipts. */
  readonly groupBy: readonly UsageDimension[];
  /** The key of the tags that the dimension `tag` groups by: "feature" of "feature=search". */
  readonly tagKey?: string | undefined;
  /** Returns the dearest groups only, at most so many, up to 10,000, and rejects no query for its many groups. */
  readonly dearestMax?: number | undefined;
  /** Sums up requests, charges, refunds and costs alone, which takes a third of the time; all else is 0. */
  readonly isMoneyOnly?: boolean | undefined;
  /** Selects these values of the last dimension, at most {@link USAGE_WALLETS_MAX}; of no `hour` and no `day`. */
  readonly among?: readonly string[] | undefined;
  /**
   * Whole hours, -14 to 14, that the viewer's clock is ahead of UTC; shifts groups by `day`. Default: 0.
   * Applied to one wallet over at most 31 days; see {@link UsageReport.offsetHours}.
   */
  readonly offsetHours?: number | undefined;
}
