import type { handleUnaryCall, ServerUnaryCall, sendUnaryData } from "@grpc/grpc-js";
import type { BatchMutateRequest__Output } from "../../gen/tollgate/ledger/v1/BatchMutateRequest.ts";
import type { GetHoldRequest__Output } from "../../gen/tollgate/ledger/v1/GetHoldRequest.ts";
import type { GetHoldResponse } from "../../gen/tollgate/ledger/v1/GetHoldResponse.ts";
import type { GetWalletRequest__Output } from "../../gen/tollgate/ledger/v1/GetWalletRequest.ts";
import type { GetWalletResponse } from "../../gen/tollgate/ledger/v1/GetWalletResponse.ts";
import type { LedgerServiceHandlers } from "../../gen/tollgate/ledger/v1/LedgerService.ts";
import type { ListHoldsRequest__Output } from "../../gen/tollgate/ledger/v1/ListHoldsRequest.ts";
import type { ListHoldsResponse } from "../../gen/tollgate/ledger/v1/ListHoldsResponse.ts";
import type { ListSpendLimitsRequest__Output } from "../../gen/tollgate/ledger/v1/ListSpendLimitsRequest.ts";
import type { ListSpendLimitsResponse } from "../../gen/tollgate/ledger/v1/ListSpendLimitsResponse.ts";
import type { ListTransfersRequest__Output } from "../../gen/tollgate/ledger/v1/ListTransfersRequest.ts";
import type { ListTransfersResponse } from "../../gen/tollgate/ledger/v1/ListTransfersResponse.ts";
import type { ListWalletsRequest__Output } from "../../gen/tollgate/ledger/v1/ListWalletsRequest.ts";
import type { ListWalletsResponse } from "../../gen/tollgate/ledger/v1/ListWalletsResponse.ts";
import type { PingResponse } from "../../gen/tollgate/ledger/v1/PingResponse.ts";
import type { QueryUsageRequest__Output } from "../../gen/tollgate/ledger/v1/QueryUsageRequest.ts";
import type { QueryUsageResponse } from "../../gen/tollgate/ledger/v1/QueryUsageResponse.ts";
import { type Ledger, LedgerError } from "../../ledger/ledger.ts";
import { InvalidField } from "../codec/fields.ts";
import { encodeTransfer } from "../codec/postings.ts";
import {
  decodePage,
  decodeReceiptFilter,
  decodeUsageQuery,
  encodeReceipt,
  encodeUsageRow,
} from "../codec/receipts.ts";
import { encodeCallRefusal } from "../codec/status.ts";
import { encodeBalances, encodeSpendLimitUsage, encodeWallet } from "../codec/wallets.ts";
import { isUnreadable } from "../service.ts";
import { explain } from "./failure.ts";
import {
  MUTATIONS,
  MUTATIONS_MAX,
  type MutationKind,
  type Runner,
  runMutations,
  type Span,
} from "./mutations.ts";
import type { MutationStreams } from "./stream.ts";

/** Every call of the service, on a ledger. */
export function createHandlers(runner: Runner, streams: MutationStreams): LedgerServiceHandlers {
  const { ledger, onFault } = runner;

  const mutation = <Wire extends object, Request extends object, Answer, Response>({
    decode,
    apply,
    encodeResponse,
  }: MutationKind<Wire, Request, Answer, Response>): handleUnaryCall<Wire, Response> => {
    const answer = async (request: Request) => encodeResponse(await apply(ledger, request), request);
    return unary({ decode, answer }, onFault);
  };
  const read = <Wire extends object, Response>(
    call: (ledger: Ledger, wire: Wire) => Promise<Response>,
  ): handleUnaryCall<Wire, Response> =>
    unary({ decode: (wire: Wire) => wire, answer: (wire) => call(ledger, wire) }, onFault);

  return {
    CreateWallet: mutation(MUTATIONS.createWallet),
    SetWalletState: mutation(MUTATIONS.setWalletState),
    CreateHold: mutation(MUTATIONS.createHold),
    ExtendHold: mutation(MUTATIONS.extendHold),
    SettleHold: mutation(MUTATIONS.settleHold),
    ReleaseHold: mutation(MUTATIONS.releaseHold),
    CreateTopUp: mutation(MUTATIONS.createTopUp),
    CreateCharge: mutation(MUTATIONS.createCharge),
    CreateRefund: mutation(MUTATIONS.createRefund),
    SetSpendLimit: mutation(MUTATIONS.setSpendLimit),
    DeleteSpendLimit: mutation(MUTATIONS.deleteSpendLimit),
    GetWallet: read(READS.GetWallet),
    ListWallets: read(READS.ListWallets),
    GetHold: read(READS.GetHold),
    ListHolds: read(READS.ListHolds),
    ListTransfers: read(READS.ListTransfers),
    ListSpendLimits: read(READS.ListSpendLimits),
    QueryUsage: read(READS.QueryUsage),
    Ping: read(READS.Ping),
    BatchMutate: unary(batchMutate(runner), onFault),
    StreamMutations: (call) => streams.handle(call),
  };
}

function batchMutate(runner: Runner) {
  return {
    decode({ mutations }: BatchMutateRequest__Output, span: Span) {
      if (mutations.length > MUTATIONS_MAX) throw new InvalidField("mutations", "invalid_request");
      return { mutations, span };
    },
    async answer({ mutations, span }: Pick<BatchMutateRequest__Output, "mutations"> & { span: Span }) {
      return { results: await runMutations(runner, mutations, span) };
    },
  };
}

/** The calls that change nothing. Each throws LedgerError or InvalidField. */
export const READS = {
  async GetWallet(ledger: Ledger, { walletId }: GetWalletRequest__Output): Promise<GetWalletResponse> {
    const wallet = await ledger.wallet(walletId);
    if (!wallet) throw new LedgerError("wallet_not_found");
    return { balances: encodeBalances(wallet.balances), wallet: encodeWallet(wallet) };
  },
  async ListWallets(ledger: Ledger, wire: ListWalletsRequest__Output): Promise<ListWalletsResponse> {
    const { items, nextToken } = await ledger.wallets(decodePage(wire));
    return { wallets: items.map(encodeWallet), nextPageToken: nextToken ?? "" };
  },
  async GetHold(ledger: Ledger, { walletId, holdId }: GetHoldRequest__Output): Promise<GetHoldResponse> {
    const receipt = await ledger.receipt(walletId, holdId);
    if (!receipt) throw new LedgerError("hold_not_found");
    return { hold: encodeReceipt(receipt) };
  },
  async ListHolds(ledger: Ledger, wire: ListHoldsRequest__Output): Promise<ListHoldsResponse> {
    const { items, nextToken } = await ledger.receipts(decodeReceiptFilter(wire.filter), decodePage(wire));
    return { holds: items.map(encodeReceipt), nextPageToken: nextToken ?? "" };
  },
  async ListTransfers(ledger: Ledger, wire: ListTransfersRequest__Output): Promise<ListTransfersResponse> {
    const { items, nextToken } = await ledger.transfers(wire.walletId, decodePage(wire));
    return { transfers: items.map(encodeTransfer), nextPageToken: nextToken ?? "" };
  },
  async ListSpendLimits(
    ledger: Ledger,
    { walletId, keyId }: ListSpendLimitsRequest__Output,
  ): Promise<ListSpendLimitsResponse> {
    const limits = await ledger.spendLimits(walletId, keyId || undefined);
    return { limits: limits.map(encodeSpendLimitUsage) };
  },
  async QueryUsage(ledger: Ledger, wire: QueryUsageRequest__Output): Promise<QueryUsageResponse> {
    const query = decodeUsageQuery(wire);
    const rows = await ledger.usage(query);
    return { rows: rows.map((row) => encodeUsageRow(row, query.groupBy)) };
  },
  async Ping(ledger: Ledger): Promise<PingResponse> {
    await ledger.ping();
    return {};
  },
};

/** How long a call may take whose caller set no deadline. */
const DEADLINE_DEFAULT_MS = 30_000;

/** What one kind of call does. Both may throw anything. */
export interface Call<Wire, Request, Response> {
  decode(wire: Wire, span: Span): Request;
  answer(request: Request): Promise<Response>;
}

/** Makes a handler of a call: it answers once, in time, and whatever is thrown as a status. */
export function unary<Wire extends object, Request extends object, Response>(
  { decode, answer }: Call<Wire, Request, Response>,
  onFault: (fault: unknown) => void,
): handleUnaryCall<Wire, Response> {
  return (call, callback) => {
    const respond = once(callback);
    let request: Request | undefined;
    const fail = (error: unknown) => {
      const { reason, about } = explain(error, request);
      if (reason === "internal") onFault(error);
      respond(encodeCallRefusal(reason, about));
    };
    const run = async (span: Span) => {
      if (isUnreadable(call.request)) throw new InvalidField("", "invalid_request");
      if (span.deadlineMs <= span.arrivedAtMs) throw new LedgerError("deadline_exceeded");
      request = decode(call.request, span);
      return answer(request);
    };
    const span = spanOf(call);
    const waitMs = Math.min(span.deadlineMs - span.arrivedAtMs, TIMER_MAX_MS);
    const timer = setTimeout(() => fail(new LedgerError("deadline_exceeded")), waitMs);
    void run(span)
      .then((response) => respond(null, response), fail)
      .finally(() => clearTimeout(timer));
  };
}

const TIMER_MAX_MS = 2 ** 31 - 1;

function spanOf(call: ServerUnaryCall<unknown, unknown>): Span {
  const arrivedAtMs = Date.now();
  const deadlineMs = Number(call.getDeadline());
  const isSet = Number.isFinite(deadlineMs);
  return { arrivedAtMs, deadlineMs: isSet ? deadlineMs : arrivedAtMs + DEADLINE_DEFAULT_MS };
}

function once<Response>(callback: sendUnaryData<Response>): sendUnaryData<Response> {
  let isAnswered = false;
  return (...answer) => {
    if (isAnswered) return;
    isAnswered = true;
    callback(...answer);
  };
}
