import type { Metadata } from "@grpc/grpc-js";
import type { TraceContext } from "../../domain/trace-context.ts";
import type * as Proto from "../../gen/messages.ts";
import type { HoldGrant, HoldRequest, Ledger, Posting, Settlement } from "../../ledger/ledger.ts";
import type { Balances } from "../../ledger/records.ts";
import { decodeRefundRequest, decodeTopUpRequest } from "../codec/credits.ts";
import { holdStates } from "../codec/enums.ts";
import { encodeNanos, InvalidField } from "../codec/fields.ts";
import { decodeDeleteSpendLimitRequest, decodeSetSpendLimitRequest } from "../codec/limits.ts";
import {
  decodeChargeRequest,
  decodeExtendRequest,
  decodeHoldRequest,
  decodeHoldTimeout,
  decodeReleaseRequest,
  decodeSettleRequest,
  encodeBalancesResult,
  encodeChargeResult,
  encodeDoneResult,
  encodeGrantResult,
  encodePostingResult,
  encodeSettlementResult,
} from "../codec/mutations.ts";
import { encodeError } from "../codec/status.ts";
import { decodeWalletStateRequest, encodeBalances } from "../codec/wallets.ts";
import { LEDGER_SERVICE } from "../service.ts";
import { describeFailure } from "./failure.ts";

/** When a mutation arrived, and until when it may be decided, in Unix milliseconds. */
export interface TimeSpan {
  readonly arrivedAtMs: number;
  readonly deadlineMs: number;
}

/** One kind of mutation, as a unary call or as one of a batch. */
export interface MutationKind<Wire, Request extends object, Answer, Response> {
  /** Throws {@link InvalidField}. */
  decode(wire: Wire, span: TimeSpan): Request;
  apply(ledger: Ledger, request: Request): Promise<Answer>;
  encodeResult(answer: Answer): Proto.MutationResult;
  encodeResponse(answer: Answer, request: Request): Response;
}

type WireOf<Kind extends keyof Proto.Mutation__Output> = NonNullable<Proto.Mutation__Output[Kind]>;

interface TimedHold extends HoldRequest {
  readonly deadlineMs: number;
}

const createHold: MutationKind<
  Proto.CreateHoldRequest__Output,
  TimedHold,
  HoldGrant,
  Proto.CreateHoldResponse
> = {
  decode(wire, { arrivedAtMs, deadlineMs }) {
    const timeoutMs = decodeHoldTimeout(wire) ?? Number.POSITIVE_INFINITY;
    return { ...decodeHoldRequest(wire), deadlineMs: Math.min(deadlineMs, arrivedAtMs + timeoutMs) };
  },
  apply: (ledger, { deadlineMs, ...request }) => ledger.hold(request, { deadlineMs }),
  encodeResult: encodeGrantResult,
  encodeResponse: ({ granted, balances, replayed }, { walletId, holdId, keyId }) => ({
    hold: {
      walletId,
      holdId,
      keyId,
      state: replayed ? "HOLD_STATE_UNSPECIFIED" : "HOLD_STATE_HELD",
      grantedNanos: encodeNanos(granted),
    },
    balances: encodeBalances(balances),
    replayed,
  }),
};

/** Every kind of mutation, by its field in the message `Mutation`. */
export const MUTATIONS = {
  createHold,
  extendHold: kind<WireOf<"extendHold">>()({
    decode: decodeExtendRequest,
    apply: (ledger, request) => ledger.extend(request),
    encodeResult: encodeDoneResult,
    encodeResponse: encodeDoneResult,
  }),
  settleHold: kind<WireOf<"settleHold">>()({
    decode: decodeSettleRequest,
    apply: (ledger, request) => ledger.settle(request),
    encodeResult: encodeSettlementResult,
    encodeResponse: (settlement, request) => encodeResolution(settlement, request),
  }),
  releaseHold: kind<WireOf<"releaseHold">>()({
    decode: decodeReleaseRequest,
    apply: (ledger, request) => ledger.release(request),
    encodeResult: encodeSettlementResult,
    encodeResponse: (settlement, request) => encodeResolution(settlement, request),
  }),
  createTopUp: kind<WireOf<"createTopUp">>()({
    decode: decodeTopUpRequest,
    apply: (ledger, request) => ledger.topUp(request),
    encodeResult: encodePostingResult,
    encodeResponse: encodePosting,
  }),
  createCharge: kind<WireOf<"createCharge">>()({
    decode: decodeChargeRequest,
    apply: (ledger, request) => ledger.charge(request),
    encodeResult: encodeChargeResult,
    encodeResponse: (posting): Proto.CreateChargeResponse => ({
      ...encodePosting(posting),
      receiptId: posting.receiptId,
    }),
  }),
  createRefund: kind<WireOf<"createRefund">>()({
    decode: decodeRefundRequest,
    apply: (ledger, request) => ledger.refund(request),
    encodeResult: encodePostingResult,
    encodeResponse: encodePosting,
  }),
  createWallet: kind<WireOf<"createWallet">>()({
    decode: ({ walletId }) => ({ walletId }),
    apply: (ledger, { walletId }) => ledger.createWallet(walletId),
    encodeResult: encodeBalancesResult,
    encodeResponse: (balances: Balances) => ({ balances: encodeBalances(balances) }),
  }),
  setWalletState: kind<WireOf<"setWalletState">>()({
    decode: decodeWalletStateRequest,
    apply: (ledger, request) => ledger.setWalletState(request),
    encodeResult: encodeDoneResult,
    encodeResponse: encodeDoneResult,
  }),
  setSpendLimit: kind<WireOf<"setSpendLimit">>()({
    decode: decodeSetSpendLimitRequest,
    apply: (ledger, limit) => ledger.setSpendLimit(limit),
    encodeResult: encodeDoneResult,
    encodeResponse: encodeDoneResult,
  }),
  deleteSpendLimit: kind<WireOf<"deleteSpendLimit">>()({
    decode: decodeDeleteSpendLimitRequest,
    apply: (ledger, request) => ledger.deleteSpendLimit(request),
    encodeResult: encodeDoneResult,
    encodeResponse: encodeDoneResult,
  }),
};

/** Gives the type of the message; the types of request and answer are inferred. */
function kind<Wire>() {
  return <Request extends object, Answer, Response>(each: MutationKind<Wire, Request, Answer, Response>) =>
    each;
}

function encodeResolution(
  { state, captured, balances, replayed }: Settlement,
  { walletId, holdId }: { readonly walletId: string; readonly holdId: string },
): Proto.SettleHoldResponse {
  return {
    hold: { walletId, holdId, state: holdStates.encode(state), capturedNanos: encodeNanos(captured) },
    balances: encodeBalances(balances),
    replayed,
  };
}

function encodePosting({ balances, replayed }: Posting) {
  return { balances: encodeBalances(balances), replayed };
}

/** The maximum of mutations in one message. */
export const MUTATIONS_MAX = 1_000;

/** The ledger that mutations are applied to. */
export interface MutationTarget {
  readonly ledger: Ledger;
  readonly tracing?: LedgerServerTracing | undefined;
  /** Called with every thrown value that is no error of the ledger or the codec. */
  onFault(fault: unknown): void;
}

/**
 * Submits all mutations to the ledger in one event-loop turn and in order, so that it commits them together.
 * Each succeeds or fails alone; never rejects.
 */
export function applyMutations(
  target: MutationTarget,
  mutations: readonly Proto.Mutation__Output[],
  span: TimeSpan,
): Promise<Proto.MutationResult[]> {
  return Promise.all(mutations.map((mutation) => applyMutation(target, mutation, span)));
}

async function applyMutation(
  target: MutationTarget,
  wire: Proto.Mutation__Output,
  span: TimeSpan,
): Promise<Proto.MutationResult> {
  let request: object | undefined;
  const trace = startMutation(target.tracing, wire);
  try {
    const { mutation } = wire;
    const body = mutation && wire[mutation];
    if (!mutation || !body) throw new InvalidField("mutation", "invalid_request");
    // Safe because the body is the message of this kind; TypeScript cannot follow the pair.
    const kind = MUTATIONS[mutation] as unknown as MutationKind<typeof body, object, unknown, unknown>;
    request = kind.decode(body, span);
    const result = kind.encodeResult(await kind.apply(target.ledger, request));
    trace?.end();
    return result;
  } catch (error) {
    const { reason, subject } = describeFailure(error, request);
    if (reason === "internal") target.onFault(error);
    trace?.end(reason);
    return { status: encodeError(reason, subject) };
  }
}

/** Creates the spans of commands. */
export interface LedgerServerTracing {
  /** Returns `undefined` for a context that is invalid or not sampled. */
  startCommand(service: string, method: string, context: TraceContext): CommandSpan | undefined;
}

interface CommandSpan {
  /** `reason` is the error code of a command that was not applied. */
  end(reason?: string): void;
}

/** Starts the span of one mutation of a stream or a batch, when it names the span of its caller. */
function startMutation(
  tracing: LedgerServerTracing | undefined,
  { mutation, traceparent, tracestate }: Proto.Mutation__Output,
): CommandSpan | undefined {
  if (!tracing || traceparent === "" || !mutation) return undefined;
  const method = mutation.charAt(0).toUpperCase() + mutation.slice(1);
  return tracing.startCommand(LEDGER_SERVICE, method, { traceparent, tracestate });
}

/** Starts the span of a unary call, when its metadata name the span of its caller. */
export function startCall(
  tracing: LedgerServerTracing | undefined,
  { metadata, path }: { readonly metadata: Metadata; readonly path: string },
): CommandSpan | undefined {
  const [traceparent] = tracing ? metadata.get("traceparent") : [];
  if (!tracing || traceparent === undefined) return undefined;
  const method = path.slice(path.lastIndexOf("/") + 1);
  const tracestate = metadata.get("tracestate").join(",");
  return tracing.startCommand(LEDGER_SERVICE, method, { traceparent: String(traceparent), tracestate });
}
