import type { Mutation } from "../../gen/tollgate/ledger/v1/Mutation.ts";
import type { MutationResult__Output } from "../../gen/tollgate/ledger/v1/MutationResult.ts";
import type { AnswerOf, Command, CommandKind, RequestOf } from "../../ledger/core/command.ts";
import type { HoldOptions, Ledger, LedgerReads } from "../../ledger/ledger.ts";
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
import { encodeSpendLimit, encodeWalletStateRequest } from "../codec/wallets.ts";
import { checkCommand } from "./check.ts";
import type { Mutations } from "./mutations.ts";

/** What of a ledger changes its books. */
export type LedgerCommands = Omit<Ledger, keyof LedgerReads | "ping" | "close">;

/** How a command travels, and its answer. */
interface Travel<Kind extends CommandKind> {
  encode(request: RequestOf<Kind>): Mutation;
  decode(result: MutationResult__Output): AnswerOf<Kind>;
}

/** The sweep is the ledger's own: `expire` does not travel. */
const TRAVELS: { readonly [Kind in Exclude<CommandKind, "expire">]: Travel<Kind> } = {
  create_wallet: { encode: (request) => ({ createWallet: request }), decode: decodeBalancesResult },
  set_wallet_state: {
    encode: (request) => ({ setWalletState: encodeWalletStateRequest(request) }),
    decode: decodeNothing,
  },
  hold: { encode: (request) => ({ createHold: encodeHoldRequest(request) }), decode: decodeGrantResult },
  extend: { encode: (request) => ({ extendHold: encodeExtendRequest(request) }), decode: decodeNothing },
  settle: {
    encode: (request) => ({ settleHold: encodeSettleRequest(request) }),
    decode: decodeSettlementResult,
  },
  release: {
    encode: (request) => ({ releaseHold: encodeReleaseRequest(request) }),
    decode: decodeSettlementResult,
  },
  top_up: {
    encode: (request) => ({ createTopUp: encodeTopUpRequest(request) }),
    decode: decodePostingResult,
  },
  charge: {
    encode: (request) => ({ createCharge: encodeChargeRequest(request) }),
    decode: decodeChargeResult,
  },
  refund: {
    encode: (request) => ({ createRefund: encodeRefundRequest(request) }),
    decode: decodePostingResult,
  },
  set_spend_limit: {
    encode: (limit) => ({ setSpendLimit: { limit: encodeSpendLimit(limit) } }),
    decode: decodeNothing,
  },
  delete_spend_limit: { encode: (request) => ({ deleteSpendLimit: request }), decode: decodeNothing },
};

/** A receipt's id is the server's to give; any will do to look at the rest of a charge. */
const ANY_RECEIPT_ID = "00000000-0000-7000-8000-000000000000";

/** Every command as a mutation of the stream. It is read at once: the caller may change it afterwards. */
export function createRemoteCommands({ submit }: Pick<Mutations, "submit">): LedgerCommands {
  const give = <Kind extends keyof typeof TRAVELS>(
    kind: Kind,
    request: RequestOf<Kind>,
    { deadlineMs }: HoldOptions = {},
  ) =>
    new Promise<AnswerOf<Kind>>((resolve, reject) => {
      // Safe because kind and request came as a pair.
      checkCommand({ kind, request } as Command);
      const { encode, decode } = TRAVELS[kind];
      const accept = (result: MutationResult__Output) => resolve(decode(result));
      submit({ mutation: encode(request), accept, reject, deadlineMs });
    });

  return {
    createWallet: (walletId) => give("create_wallet", { walletId }),
    setWalletState: (request) => give("set_wallet_state", request),
    hold: (request, options) => give("hold", request, options),
    extend: (request) => give("extend", request),
    settle: (request) => give("settle", request),
    release: (request) => give("release", request),
    topUp: (request) => give("top_up", request),
    charge: (request) => give("charge", { ...request, receiptId: ANY_RECEIPT_ID }),
    refund: (request) => give("refund", request),
    setSpendLimit: (limit) => give("set_spend_limit", limit),
    deleteSpendLimit: (request) => give("delete_spend_limit", request),
  };
}

function decodeNothing(): undefined {
  return undefined;
}
