import type { handleUnaryCall, ServerUnaryCall, sendUnaryData } from "@grpc/grpc-js";
import type * as Proto from "../../gen/messages.ts";
import { type Ledger, LedgerError } from "../../ledger/ledger.ts";
import { platform } from "../../platform.ts";
import { decodeCreditTotalsQuery, encodeCreditTotal } from "../codec/credit-totals.ts";
import { encodeCredit } from "../codec/credits.ts";
import { InvalidField } from "../codec/fields.ts";
import { decodeFullLimitsQuery, encodeFullLimits, encodeSpendLimitUsage } from "../codec/limits.ts";
import {
  decodeBound,
  decodePage,
  decodeReceiptFilter,
  encodeReceipt,
  encodeReceiptPage,
  encodeRunningHold,
  encodeRunningTotals,
} from "../codec/receipts.ts";
import { decodeScopes } from "../codec/scopes.ts";
import { encodeCallError } from "../codec/status.ts";
import { decodeTransferTotalsQuery, encodeTransferTotal } from "../codec/transfer-totals.ts";
import { decodeUsageQuery, encodeRollUps, encodeUsageReport } from "../codec/usage.ts";
import {
  decodeTransferRange,
  encodeBalances,
  encodeJournalTotals,
  encodeTransfer,
  encodeWallet,
} from "../codec/wallets.ts";
import { isUndecodable } from "../service.ts";
import { describeFailure } from "./failure.ts";
import {
  applyMutations,
  MUTATIONS,
  MUTATIONS_MAX,
  type MutationKind,
  type MutationTarget,
  startCall,
  type TimeSpan,
} from "./mutations.ts";
import type { MutationStreams } from "./stream.ts";

/** Returns the handler of every call of the service. */
export function createHandlers(
  target: MutationTarget,
  streams: MutationStreams,
): Proto.LedgerServiceHandlers {
  const { ledger } = target;

  const mutation = <Wire extends object, Request extends object, Answer, Response>({
    decode,
    apply,
    encodeResponse,
  }: MutationKind<Wire, Request, Answer, Response>): handleUnaryCall<Wire, Response> => {
    const answer = async (request: Request) => encodeResponse(await apply(ledger, request), request);
    return unary({ decode, answer }, target);
  };
  const read = <Wire extends object, Response>(
    answer: (wire: Wire) => Promise<Response>,
  ): handleUnaryCall<Wire, Response> => unary({ decode: (wire: Wire) => wire, answer }, target);

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
    BatchMutate: unary(batchMutate(target), target),
    StreamMutations: (call) => streams.handle(call),
    ...createReadHandlers(ledger, read),
  };
}

function batchMutate(target: MutationTarget) {
  return {
    decode({ mutations }: Proto.BatchMutateRequest__Output, span: TimeSpan) {
      if (mutations.length > MUTATIONS_MAX) throw new InvalidField("mutations", "invalid_request");
      return { mutations, span };
    },
    async answer({
      mutations,
      span,
    }: Pick<Proto.BatchMutateRequest__Output, "mutations"> & { span: TimeSpan }) {
      return { results: await applyMutations(target, mutations, span) };
    },
  };
}

/** The two steps of a unary call. Both may throw any value. */
interface UnaryCall<Wire, Request, Response> {
  decode(wire: Wire, span: TimeSpan): Request;
  answer(request: Request): Promise<Response>;
}

/** How long a call without a deadline of its caller may take. */
const DEADLINE_DEFAULT_MS = 30_000;

/** Makes a handler that answers once and before the deadline, and reports every thrown value as a status. */
function unary<Wire extends object, Request extends object, Response>(
  { decode, answer }: UnaryCall<Wire, Request, Response>,
  { onFault, tracing }: MutationTarget,
): handleUnaryCall<Wire, Response> {
  return (call, callback) => {
    const respond = once(callback);
    const trace = startCall(tracing, { metadata: call.metadata, path: call.getPath() });
    let request: Request | undefined;
    const fail = (error: unknown) => {
      const { reason, subject } = describeFailure(error, request);
      if (reason === "internal") onFault(error);
      trace?.end(reason);
      respond(encodeCallError(reason, subject));
    };
    const run = async (span: TimeSpan) => {
      if (isUndecodable(call.request)) throw new InvalidField("", "invalid_request");
      if (span.deadlineMs <= span.arrivedAtMs) throw new LedgerError("deadline_exceeded");
      request = decode(call.request, span);
      return answer(request);
    };
    const span = spanOf(call);
    const waitMs = Math.min(span.deadlineMs - span.arrivedAtMs, TIMER_MAX_MS);
    const timer = platform.setTimeout(() => fail(new LedgerError("deadline_exceeded")), waitMs);
    void run(span)
      .then((response) => {
        trace?.end();
        respond(null, response);
      }, fail)
      .finally(() => platform.clearTimeout(timer));
  };
}

const TIMER_MAX_MS = 2 ** 31 - 1;

function spanOf(call: ServerUnaryCall<unknown, unknown>): TimeSpan {
  const arrivedAtMs = platform.now();
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

/** Makes the handler of a read. A thrown value becomes the call's status. */
type CreateRead = <Wire extends object, Response>(
  answer: (wire: Wire) => Promise<Response>,
) => handleUnaryCall<Wire, Response>;

type ReadName =
  | "GetWallet"
  | "ListWallets"
  | "GetHold"
  | "ListHolds"
  | "FindHolds"
  | "ListRunningHolds"
  | "SumRunningHolds"
  | "ListCredits"
  | "SumCredits"
  | "ListTransfers"
  | "SumTransfers"
  | "SumTransfersByScope"
  | "ListSpendLimits"
  | "ListFullLimits"
  | "QueryUsage"
  | "GetRollUps"
  | "Ping";

/** Returns the handlers of the calls that change nothing. */
function createReadHandlers(ledger: Ledger, read: CreateRead): Pick<Proto.LedgerServiceHandlers, ReadName> {
  return {
    GetWallet: read(async ({ walletId }) => {
      const wallet = await ledger.wallet(walletId);
      if (!wallet) throw new LedgerError("wallet_not_found");
      return { balances: encodeBalances(wallet.balances), wallet: encodeWallet(wallet) };
    }),
    ListWallets: read(async (wire) => {
      const { items, nextToken } = await ledger.wallets(decodePage(wire), {
        endsBeforeMs: decodeBound(wire.endsBefore, "ends_before"),
      });
      return { wallets: items.map(encodeWallet), nextPageToken: nextToken ?? "" };
    }),
    GetHold: read(async ({ walletId, holdId }) => {
      const receipt = await ledger.receipt(walletId, holdId);
      if (!receipt) throw new LedgerError("hold_not_found");
      return { hold: encodeReceipt(receipt) };
    }),
    ListHolds: read(async (wire) => {
      return encodeReceiptPage(await ledger.receipts(decodeReceiptFilter(wire.filter), decodePage(wire)));
    }),
    FindHolds: read(async ({ holdId }) => {
      return { holds: (await ledger.receiptsById(holdId)).map(encodeReceipt) };
    }),
    ListRunningHolds: read(async (wire) => {
      const { items, nextToken } = await ledger.runningHolds(wire.walletId, decodePage(wire));
      return { holds: items.map(encodeRunningHold), nextPageToken: nextToken ?? "" };
    }),
    SumRunningHolds: read(async ({ walletId }) => {
      return { totals: (await ledger.runningTotals(walletId)).map(encodeRunningTotals) };
    }),
    ListCredits: read(async (wire) => {
      const filter = { isLive: wire.isLive };
      const { items, nextToken } = await ledger.credits(wire.walletId, decodePage(wire), filter);
      return { credits: items.map(encodeCredit), nextPageToken: nextToken ?? "" };
    }),
    SumCredits: read(async (wire) => {
      const totals = await ledger.creditTotals(decodeCreditTotalsQuery(wire));
      return { totals: totals.map(encodeCreditTotal) };
    }),
    ListTransfers: read(async (wire) => {
      const { items, nextToken } = await ledger.transfers(
        wire.walletId,
        decodePage(wire),
        decodeTransferRange(wire),
      );
      return { transfers: items.map(encodeTransfer), nextPageToken: nextToken ?? "" };
    }),
    ListSpendLimits: read(async ({ walletId, keyId, scopes, omitsRuns }) => {
      const options = { omitsRuns };
      const limits = await ledger.spendLimits(walletId, keyId || undefined, decodeScopes(scopes), options);
      return { limits: limits.map(encodeSpendLimitUsage) };
    }),
    ListFullLimits: read(async (wire) => {
      return encodeFullLimits(await ledger.fullLimits(wire.walletId, decodeFullLimitsQuery(wire)));
    }),
    QueryUsage: read(async (wire) => {
      const query = decodeUsageQuery(wire);
      return encodeUsageReport(await ledger.usage(query), query.groupBy);
    }),
    SumTransfers: read(async ({ walletId, derivesCharged }) => {
      return encodeJournalTotals(await ledger.journalTotals(walletId, { derivesCharged }));
    }),
    SumTransfersByScope: read(async (wire) => {
      const totals = await ledger.transferTotals(wire.walletId, decodeTransferTotalsQuery(wire));
      return { totals: totals.map(encodeTransferTotal) };
    }),
    GetRollUps: read(async () => encodeRollUps(await ledger.rollUps())),
    Ping: read(async () => {
      await ledger.ping();
      return {};
    }),
  };
}
