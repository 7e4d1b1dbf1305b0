import type * as Proto from "../../gen/messages.ts";
import type { ChargeRequest, RefundRequest, TopUpRequest } from "../../ledger/ledger.ts";
import {
  decodeOutcome,
  decodeRequestFacts,
  encodeOutcome,
  encodeRequestFacts,
  SETTLED_OUTCOME,
} from "./facts.ts";
import { decodeNanos, encodeId, encodeNanos, required, sparse } from "./fields.ts";
import { decodeMetadata, encodeMetadata } from "./metadata.ts";

export function encodeTopUpRequest({ walletId, topUpId, amount }: TopUpRequest): Proto.CreateTopUpRequest {
  return { walletId: encodeId(walletId), topUpId: encodeId(topUpId), amountNanos: encodeNanos(amount) };
}

export function decodeTopUpRequest(wire: Proto.CreateTopUpRequest__Output): TopUpRequest {
  return { walletId: wire.walletId, topUpId: wire.topUpId, amount: decodeNanos(wire.amountNanos) };
}

export function encodeChargeRequest(request: ChargeRequest): Proto.CreateChargeRequest {
  return sparse<Proto.CreateChargeRequest>({
    walletId: encodeId(request.walletId),
    chargeId: encodeId(request.chargeId),
    keyId: encodeId(request.keyId),
    amountNanos: encodeNanos(request.amount),
    facts: encodeRequestFacts(request.facts),
    outcome: encodeOutcome(request.outcome),
    metadata: encodeMetadata(request.metadata),
  });
}

export function decodeChargeRequest(wire: Proto.CreateChargeRequest__Output): ChargeRequest {
  return {
    walletId: wire.walletId,
    chargeId: wire.chargeId,
    keyId: wire.keyId,
    amount: decodeNanos(required(wire.amountNanos, "amount_nanos", "invalid_amount")),
    facts: decodeRequestFacts(wire.facts),
    outcome: decodeOutcome(wire.outcome, SETTLED_OUTCOME),
    metadata: decodeMetadata(wire.metadata),
  };
}

export function encodeRefundRequest(request: RefundRequest): Proto.CreateRefundRequest {
  return {
    walletId: encodeId(request.walletId),
    refundId: encodeId(request.refundId),
    holdId: encodeId(request.holdId),
    amountNanos: encodeNanos(request.amount),
  };
}

export function decodeRefundRequest(wire: Proto.CreateRefundRequest__Output): RefundRequest {
  return {
    walletId: wire.walletId,
    refundId: wire.refundId,
    holdId: wire.holdId,
    amount: decodeNanos(wire.amountNanos),
  };
}
