import type { Mutation } from "../../gen/tollgate/ledger/v1/Mutation.ts";
import type { MutationResult__Output } from "../../gen/tollgate/ledger/v1/MutationResult.ts";
import type { HoldOptions, Ledger, LedgerReads } from "../../ledger/ledger.ts";
import { encodeId } from "../codec/fields.ts";
import {
  encodeExtendRequest,
  encodeHoldRequest,
  encodeReleaseRequest,
  encodeSettleRequest,
} from "../codec/holds.ts";
import { encodeChargeRequest, encodeRefundRequest, encodeTopUpRequest } from "../codec/postings.ts";
import {
  decodeBalancesResult,
  decodeChargeResult,
  decodeGrantResult,
  decodePostingResult,
  decodeSettlementResult,
} from "../codec/results.ts";
import {
  encodeDeleteSpendLimitRequest,
  encodeSpendLimit,
  encodeWalletStateRequest,
} from "../codec/wallets.ts";
import type { Mutations } from "./mutations.ts";

/** The methods of a ledger that change wallets. */
export type LedgerCommands = Omit<Ledger, keyof LedgerReads | "ping" | "close">;

/**
 * Sends every command as a mutation of the stream. The server validates: no rule is applied here. The request
 * is encoded before the method returns, so the caller may change it afterwards.
 */
export function createRemoteCommands({ submit }: Pick<Mutations, "submit">): LedgerCommands {
  const send = <Answer>(
    encode: () => Mutation,
    decode: (result: MutationResult__Output) => Answer,
    { deadlineMs }: HoldOptions = {},
  ) =>
    new Promise<Answer>((resolve, reject) => {
      const accept = (result: MutationResult__Output) => resolve(decode(result));
      submit({ mutation: encode(), accept, reject, deadlineMs });
    });

  return {
    createWallet: (walletId) =>
      send(() => ({ createWallet: { walletId: encodeId(walletId) } }), decodeBalancesResult),
    setWalletState: (request) =>
      send(() => ({ setWalletState: encodeWalletStateRequest(request) }), decodeNothing),
    hold: (request, options) =>
      send(() => ({ createHold: encodeHoldRequest(request) }), decodeGrantResult, options),
    extend: (request) => send(() => ({ extendHold: encodeExtendRequest(request) }), decodeNothing),
    settle: (request) => send(() => ({ settleHold: encodeSettleRequest(request) }), decodeSettlementResult),
    release: (request) =>
      send(() => ({ releaseHold: encodeReleaseRequest(request) }), decodeSettlementResult),
    topUp: (request) => send(() => ({ createTopUp: encodeTopUpRequest(request) }), decodePostingResult),
    charge: (request) => send(() => ({ createCharge: encodeChargeRequest(request) }), decodeChargeResult),
    refund: (request) => send(() => ({ createRefund: encodeRefundRequest(request) }), decodePostingResult),
    setSpendLimit: (limit) =>
      send(() => ({ setSpendLimit: { limit: encodeSpendLimit(limit) } }), decodeNothing),
    deleteSpendLimit: (request) =>
      send(() => ({ deleteSpendLimit: encodeDeleteSpendLimitRequest(request) }), decodeNothing),
  };
}

function decodeNothing(): undefined {
  return undefined;
}
