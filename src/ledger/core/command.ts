import type { Nanos } from "../../domain/money.ts";
import type {
  ChargePosting,
  ChargeRequest,
  DecliningLimit,
  DeleteSpendLimitRequest,
  ExtendRequest,
  HoldGrant,
  HoldRequest,
  LedgerErrorCode,
  Posting,
  RefundRequest,
  ReleaseRequest,
  SetSpendLimitRequest,
  Settlement,
  SettleRequest,
  Shortfall,
  TopUpRequest,
  WalletStateRequest,
} from "../ledger.ts";
import type { Balances } from "../records.ts";
import type { Book, Changes } from "./book.ts";

/** Every command that can change a wallet: the request it carries and the result it returns. */
interface Commands {
  readonly create_wallet: { readonly request: { readonly walletId: string }; readonly result: Balances };
  readonly set_wallet_state: { readonly request: WalletStateRequest; readonly result: undefined };
  readonly hold: { readonly request: HoldRequest; readonly result: HoldGrant };
  readonly extend: { readonly request: ExtendRequest; readonly result: undefined };
  readonly settle: { readonly request: SettleRequest; readonly result: Settlement };
  readonly release: { readonly request: ReleaseRequest; readonly result: Settlement };
  readonly expire: { readonly request: ExpireRequest; readonly result: Settlement };
  readonly expire_credits: { readonly request: { readonly walletId: string }; readonly result: undefined };
  readonly top_up: { readonly request: TopUpRequest; readonly result: Posting };
  readonly charge: { readonly request: ChargeCommand; readonly result: ChargePosting };
  readonly refund: { readonly request: RefundRequest; readonly result: Posting };
  readonly set_spend_limit: { readonly request: SetLimitCommand; readonly result: "unread" | undefined };
  readonly delete_spend_limit: { readonly request: DeleteSpendLimitRequest; readonly result: undefined };
}

export type CommandKind = keyof Commands;
export type RequestOf<Kind extends CommandKind> = Commands[Kind]["request"];
export type ResultOf<Kind extends CommandKind> = Commands[Kind]["result"];
export type CommandResult = ResultOf<CommandKind>;

/** One command: its kind and its request. */
export type Command = {
  readonly [Kind in CommandKind]: { readonly kind: Kind; readonly request: RequestOf<Kind> };
}[CommandKind];

/** Expires a hold that is past its time. Submitted by the sweeper, never by a caller. */
export interface ExpireRequest {
  readonly walletId: string;
  readonly holdId: string;
}

/**
 * A limit to be set, with what was read before the wallet was locked. The result is "unread" where that is missing, and
 * the period has more receipts than may be read under the lock.
 */
export interface SetLimitCommand extends SetSpendLimitRequest {
  readonly seen?: SeenSpend | undefined;
}

/** What the receipts of a period came to when the wallet's journal ended at a position. */
export interface SeenSpend {
  /** Unix milliseconds: the start of the period. */
  readonly fromMs: number;
  readonly amount: Nanos;
  readonly position: bigint;
}

/** A charge, with the id that its receipt gets unless the charge was booked before. */
export interface ChargeCommand extends ChargeRequest {
  readonly receiptId: string;
}

/** Decides one kind of command on a book. Pure: equal books, requests and times give equal decisions. */
export type Rule<Request, Result> = (book: Book, request: Request, nowMs: number) => Decision<Result>;

/** What a rule returned: a result, with `changes` unless there was nothing to change, or a decline. */
export type Decision<Result> = { readonly result: Result; readonly changes?: Changes } | Declined;

/** A decline. It changes nothing. `shortfall` has the amounts of a decline for lack of money, `limit` by what. */
export interface Declined {
  readonly declined: LedgerErrorCode;
  readonly shortfall?: Shortfall;
  readonly limit?: DecliningLimit;
}

export function decline(code: LedgerErrorCode): Declined {
  return { declined: code };
}
