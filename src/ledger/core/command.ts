import type {
  Balances,
  ChargePosting,
  ChargeRequest,
  DeleteSpendLimitRequest,
  ExtendRequest,
  HoldGrant,
  HoldRequest,
  Posting,
  RefundRequest,
  ReleaseRequest,
  Settlement,
  SettleRequest,
  SpendLimit,
  TopUpRequest,
  WalletStateRequest,
} from "../ledger.ts";

/** A hold whose time is up; asked for by the sweeper, never by a caller. */
export interface ExpireRequest {
  readonly walletId: string;
  readonly holdId: string;
}

/** A charge, with the id that its receipt gets unless the charge was booked before. */
export interface ChargeCommand extends ChargeRequest {
  readonly receiptId: string;
}

/** Every command that can change a wallet, with what it asks and what it answers. */
interface Commands {
  readonly create_wallet: { readonly request: { readonly walletId: string }; readonly answer: Balances };
  readonly set_wallet_state: { readonly request: WalletStateRequest; readonly answer: undefined };
  readonly hold: { readonly request: HoldRequest; readonly answer: HoldGrant };
  readonly extend: { readonly request: ExtendRequest; readonly answer: undefined };
  readonly settle: { readonly request: SettleRequest; readonly answer: Settlement };
  readonly release: { readonly request: ReleaseRequest; readonly answer: Settlement };
  readonly expire: { readonly request: ExpireRequest; readonly answer: Settlement };
  readonly top_up: { readonly request: TopUpRequest; readonly answer: Posting };
  readonly charge: { readonly request: ChargeCommand; readonly answer: ChargePosting };
  readonly refund: { readonly request: RefundRequest; readonly answer: Posting };
  readonly set_spend_limit: { readonly request: SpendLimit; readonly answer: undefined };
  readonly delete_spend_limit: { readonly request: DeleteSpendLimitRequest; readonly answer: undefined };
}

export type CommandKind = keyof Commands;
export type RequestOf<Kind extends CommandKind> = Commands[Kind]["request"];
export type AnswerOf<Kind extends CommandKind> = Commands[Kind]["answer"];

/** One command: its kind and its request. */
export type Command = {
  readonly [Kind in CommandKind]: { readonly kind: Kind; readonly request: RequestOf<Kind> };
}[CommandKind];

export type Answer = AnswerOf<CommandKind>;
