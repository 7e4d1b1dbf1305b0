import type { TraceContext } from "../../domain/trace-context.ts";
import type * as Proto from "../../gen/messages.ts";
import { type HoldOptions, type Ledger, LedgerError } from "../../ledger/ledger.ts";
import type { LedgerReads } from "../../ledger/records.ts";
import { platform } from "../../platform.ts";
import { encodeRefundRequest, encodeTopUpRequest } from "../codec/credits.ts";
import { encodeId } from "../codec/fields.ts";
import { encodeDeleteSpendLimitRequest, encodeSetSpendLimitRequest } from "../codec/limits.ts";
import {
  decodeBalancesResult,
  decodeChargeResult,
  decodeGrantResult,
  decodePostingResult,
  decodeSettlementResult,
  encodeChargeRequest,
  encodeExtendRequest,
  encodeHoldRequest,
  encodeReleaseRequest,
  encodeSettleRequest,
} from "../codec/mutations.ts";
import { encodeWalletStateRequest } from "../codec/wallets.ts";
import {
  type Connection,
  type ConnectionEvents,
  type ConnectionOptions,
  createConnection,
} from "./connection.ts";
import { type ClientTls, createTokenChoice, type OpenTransport, openLink, secure } from "./link.ts";
import { LedgerLinkError } from "./link-error.ts";
import { createCall, createRemoteReads } from "./reads.ts";
import { answerMessage, createSendQueue, rejectPending, type Submission, withTimeout } from "./send-queue.ts";

export interface ConnectLedgerOptions extends Partial<ClientBounds> {
  /** "host:port" */
  readonly address: string;
  /** The tokens of this client: the first is preferred. They are asked for at each use, as they may change. */
  readonly tokens: () => readonly string[];
  /** Without it the connection is not encrypted, and the token travels in the clear. */
  readonly tls?: ClientTls | undefined;
  /** Opens the transport of each connection. Default: HTTP/2 of grpc-js. */
  readonly openTransport?: OpenTransport | undefined;
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
export function connectLedger({
  address,
  tokens,
  tls,
  openTransport,
  ...bounds
}: ConnectLedgerOptions): Ledger {
  const options = { ...BOUNDS, ...bounds };
  const endpoint = { address, token: createTokenChoice(tokens), ...secure(address, tls), openTransport };
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
      send(() => ({ setSpendLimit: encodeSetSpendLimitRequest(limit) }), decodeNothing),
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

/** Sends mutations to a remote ledger, each again until it is answered or its time is up. */
interface Mutations {
  readonly connection: Connection;
  submit(submission: Submission): void;
  /** Accepts no more mutations. Resolves when every submitted one is answered or given up. */
  close(): Promise<void>;
}

interface MutationsOptions {
  /** How long a mutation may take from its submission to its answer. */
  readonly answerMaxMs: number;
  /** The maximum of mutations that wait to be sent; more are rejected with `queue_full`. */
  readonly queueMax: number;
  /** The maximum of unanswered messages; further mutations wait. */
  readonly windowMax: number;
}

/**
 * Sends the mutations of one event-loop turn together and in order. Those that a lost link left unanswered
 * are sent again first on the next link: their ids make the ledger apply each once. A message that the server
 * cannot decode is sent again in halves, until the bad mutation is alone. Only the bad mutation is rejected.
 */
function createMutations(
  connect: (events: ConnectionEvents) => Connection,
  { answerMaxMs, queueMax, windowMax }: MutationsOptions,
): Mutations {
  const queue = createSendQueue(windowMax);
  let isFlushing = false;
  let lateTimer: Timer | undefined;
  let closing: PromiseWithResolvers<void> | undefined;

  const flushSoon = () => {
    if (isFlushing) return;
    isFlushing = true;
    platform.setImmediate(flush);
  };
  const flush = () => {
    isFlushing = false;
    const { link } = connection;
    for (let message = link && queue.next(); message; message = link && queue.next()) {
      link?.send(message.sequence, message.mutations.map(withTimeout));
    }
    if (queue.isEmpty) closing?.resolve();
  };
  const watchForLate = () => {
    lateTimer ??= platform.setTimeout(() => {
      lateTimer = undefined;
      const silence = new LedgerLinkError("silent");
      const wasSent = queue.rejectLate(platform.monotonicMs(), new LedgerError("unavailable", silence));
      if (wasSent) connection.link?.drop(silence);
      if (!queue.isEmpty) watchForLate();
      flushSoon();
    }, answerMaxMs / 20);
  };

  const connection = connect({
    onUp: flushSoon,
    onAnswer(sequence, results) {
      const mutations = queue.take(sequence, results.length);
      if (!mutations) return connection.link?.drop(new LedgerLinkError("unsupported"));
      answerMessage(mutations, results);
      flushSoon();
    },
    onLost(error) {
      if (error.code !== "rejected") return queue.putBack();
      const bad = queue.putBackHalved();
      if (bad) rejectPending(bad, new LedgerError("unavailable", error));
    },
    onAway(error) {
      queue.rejectAll(new LedgerError("unavailable", error));
      flushSoon();
    },
  });

  return {
    connection,
    submit(submission) {
      const { awayBecause } = connection;
      if (closing || awayBecause) return submission.reject(new LedgerError("unavailable", awayBecause));
      if (queue.waiting >= queueMax) return submission.reject(new LedgerError("queue_full"));
      queue.put({
        ...submission,
        giveUpAtMs: platform.monotonicMs() + answerMaxMs,
        sends: 0,
        isAnswered: false,
      });
      watchForLate();
      flushSoon();
    },
    close() {
      closing ??= Promise.withResolvers();
      flushSoon();
      return closing.promise.then(() => platform.clearTimeout(lateTimer));
    },
  };
}
