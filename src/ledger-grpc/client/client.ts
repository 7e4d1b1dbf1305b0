import type { TraceContext } from "../../domain/trace-context.ts";
import type * as Proto from "../../gen/messages.ts";
import type { HoldOptions, Ledger } from "../../ledger/ledger.ts";
import type { LedgerReads } from "../../ledger/records.ts";
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
import { type ConnectionOptions, createConnection } from "./connection.ts";
import { type ClientTls, openLink, secure } from "./link.ts";
import { createMutations, type Mutations, type MutationsOptions } from "./mutations.ts";
import { createCall, createRemoteReads } from "./reads.ts";
import { createTokenChoice } from "./token-choice.ts";

export interface ConnectLedgerOptions extends Partial<ClientBounds> {
  /** "host:port" */
  readonly address: string;
  /** The tokens of this client: the first is preferred. They are asked for at each use, as they may change. */
  readonly tokens: () => readonly string[];
  /** Without it the connection is not encrypted, and the token travels in the clear. */
  readonly tls?: ClientTls | undefined;
}

interface ClientBounds extends ConnectionOptions, MutationsOptions {
  /** How long a read of many rows may take; a read of a few rows has `answerMaxMs`. */
  readonly listMaxMs: number;
}

/** `answerMaxMs` is above the server's wait for its database, so that the server answers first. */
const BOUNDS: ClientBounds = Object.freeze({
  answerMaxMs: 5_000,
  outageMaxMs: 2_000,
  connectMaxMs: 2_000,
  listMaxMs: 30_000,
  queueMax: 20_000,
  windowMax: 16,
});

/**
 * Connects to the ledger of another process, and reconnects by itself. The server decides every command.
 * Mutations that a broken connection left unanswered are sent again. `replayed` may therefore mean that the
 * first try of this call succeeded. While the ledger cannot be reached, calls reject with `unavailable` and a
 * LedgerLinkError as cause. The first calls of an outage reject after `outageMaxMs`, later ones at once. When
 * the ledger denies a token, the others are tried before a call fails.
 */
export function connectLedger({ address, tokens, tls, ...bounds }: ConnectLedgerOptions): Ledger {
  const options = { ...BOUNDS, ...bounds };
  const endpoint = { address, token: createTokenChoice(tokens), ...secure(address, tls) };
  const { connection, submit, close } = createMutations(
    (events) => createConnection((linkEvents) => openLink(endpoint, linkEvents), events, options),
    options,
  );
  const { answerMaxMs, listMaxMs, outageMaxMs } = options;
  const readRow = createCall(connection, { maxMs: answerMaxMs, outageMaxMs });
  const readRows = createCall(connection, { maxMs: listMaxMs, outageMaxMs });
  return {
    ...createRemoteCommands(submit),
    ...createRemoteReads({ readRow, readRows }),
    async close() {
      await close();
      connection.close();
    },
  };
}

/** The methods of a ledger that change wallets. */
type LedgerCommands = Omit<Ledger, keyof LedgerReads | "ping" | "close">;

/**
 * Sends every command as a mutation of the stream. The server validates: no rule is applied here. The request
 * is encoded before the method returns, so the caller may change it afterwards.
 */
function createRemoteCommands(submit: Mutations["submit"]): LedgerCommands {
  const send = <Answer>(
    encode: () => Proto.Mutation,
    decode: (result: Proto.MutationResult__Output) => Answer,
    { deadlineMs, trace }: HoldOptions = {},
  ) =>
    new Promise<Answer>((resolve, reject) => {
      const accept = (result: Proto.MutationResult__Output) => resolve(decode(result));
      const mutation = trace ? withTrace(encode(), trace) : encode();
      submit({ mutation, accept, reject, deadlineMs });
    });

  return {
    createWallet: (walletId) =>
      send(() => ({ createWallet: { walletId: encodeId(walletId) } }), decodeBalancesResult),
    setWalletState: (request) =>
      send(() => ({ setWalletState: encodeWalletStateRequest(request) }), decodeNothing),
    hold: (request, options) =>
      send(() => ({ createHold: encodeHoldRequest(request) }), decodeGrantResult, options),
    extend: (request) => send(() => ({ extendHold: encodeExtendRequest(request) }), decodeNothing),
    settle: (request, options) =>
      send(() => ({ settleHold: encodeSettleRequest(request) }), decodeSettlementResult, options),
    release: (request, options) =>
      send(() => ({ releaseHold: encodeReleaseRequest(request) }), decodeSettlementResult, options),
    topUp: (request) => send(() => ({ createTopUp: encodeTopUpRequest(request) }), decodePostingResult),
    charge: (request) => send(() => ({ createCharge: encodeChargeRequest(request) }), decodeChargeResult),
    refund: (request) => send(() => ({ createRefund: encodeRefundRequest(request) }), decodePostingResult),
    setSpendLimit: (limit) =>
      send(() => ({ setSpendLimit: { limit: encodeSpendLimit(limit) } }), decodeNothing),
    deleteSpendLimit: (request) =>
      send(() => ({ deleteSpendLimit: encodeDeleteSpendLimitRequest(request) }), decodeNothing),
  };
}

function withTrace(mutation: Proto.Mutation, { traceparent, tracestate = "" }: TraceContext): Proto.Mutation {
  return { ...mutation, traceparent, tracestate };
}

function decodeNothing(): undefined {
  return undefined;
}
