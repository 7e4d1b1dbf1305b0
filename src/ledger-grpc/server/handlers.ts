import type { handleUnaryCall } from "@grpc/grpc-js";
import type { BatchMutateRequest__Output } from "../../gen/tollgate/ledger/v1/BatchMutateRequest.ts";
import type { LedgerServiceHandlers } from "../../gen/tollgate/ledger/v1/LedgerService.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { InvalidField } from "../codec/invalid-field.ts";
import { MUTATIONS, type MutationKind, type Span } from "./mutations.ts";
import { READS } from "./reads.ts";
import { MUTATIONS_MAX, type Runner, runMutations } from "./run-mutations.ts";
import type { MutationStreams } from "./stream.ts";
import { unary } from "./unary.ts";

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
