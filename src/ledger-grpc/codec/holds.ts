import type * as Proto from "../../gen/messages.ts";
import type { ExtendRequest, HoldRequest, ReleaseRequest, SettleRequest } from "../../ledger/ledger.ts";
import {
  decodeOutcome,
  decodeRequestFacts,
  encodeOutcome,
  encodeRequestFacts,
  RELEASED_OUTCOME,
  SETTLED_OUTCOME,
} from "./facts.ts";
import {
  decodeDuration,
  decodeNanos,
  encodeDuration,
  encodeId,
  encodeNanos,
  required,
  sparse,
} from "./fields.ts";
import { decodeMetadata, encodeMetadata } from "./metadata.ts";

/** `timeoutMs` bounds how long the hold may wait to be decided, from now; `undefined` sets no bound. */
export function encodeHoldRequest(request: HoldRequest, timeoutMs?: number): Proto.CreateHoldRequest {
  return sparse<Proto.CreateHoldRequest>({
    walletId: encodeId(request.walletId),
    holdId: encodeId(request.holdId),
    keyId: encodeId(request.keyId),
    amountNanos: encodeNanos(request.amount),
    minimumNanos: encodeNanos(request.minimum),
    ttl: encodeDuration(request.ttlMs),
    facts: encodeRequestFacts(request.facts),
    metadata: encodeMetadata(request.metadata),
    timeout: timeoutMs === undefined ? undefined : encodeDuration(timeoutMs),
  });
}

export function decodeHoldRequest(wire: Proto.CreateHoldRequest__Output): HoldRequest {
  return {
    walletId: wire.walletId,
    holdId: wire.holdId,
    keyId: wire.keyId,
    amount: decodeNanos(wire.amountNanos),
    minimum: decodeNanos(wire.minimumNanos ?? wire.amountNanos),
    ttlMs: decodeDuration(wire.ttl, "ttl", "invalid_amount"),
    facts: decodeRequestFacts(wire.facts),
    metadata: decodeMetadata(wire.metadata),
  };
}

/** Returns how many milliseconds after its arrival the hold may still be decided. */
export function decodeHoldTimeout({ timeout }: Proto.CreateHoldRequest__Output): number | undefined {
  return timeout ? decodeDuration(timeout, "timeout", "invalid_request") : undefined;
}

export function encodeExtendRequest(request: ExtendRequest): Proto.ExtendHoldRequest {
  return {
    walletId: encodeId(request.walletId),
    holdId: encodeId(request.holdId),
    accruedNanos: encodeNanos(request.accrued),
    ttl: encodeDuration(request.ttlMs),
  };
}

export function decodeExtendRequest(wire: Proto.ExtendHoldRequest__Output): ExtendRequest {
  return {
    walletId: wire.walletId,
    holdId: wire.holdId,
    accrued: decodeNanos(wire.accruedNanos),
    ttlMs: decodeDuration(wire.ttl, "ttl", "invalid_amount"),
  };
}

export function encodeSettleRequest(request: SettleRequest): Proto.SettleHoldRequest {
  return sparse<Proto.SettleHoldRequest>({
    walletId: encodeId(request.walletId),
    holdId: encodeId(request.holdId),
    amountNanos: encodeNanos(request.amount),
    outcome: encodeOutcome(request.facts),
    metadata: encodeMetadata(request.metadata),
  });
}

export function decodeSettleRequest(wire: Proto.SettleHoldRequest__Output): SettleRequest {
  return {
    walletId: wire.walletId,
    holdId: wire.holdId,
    amount: decodeNanos(required(wire.amountNanos, "amount_nanos", "invalid_amount")),
    facts: decodeOutcome(wire.outcome, SETTLED_OUTCOME),
    metadata: decodeMetadata(wire.metadata),
  };
}

export function encodeReleaseRequest(request: ReleaseRequest): Proto.ReleaseHoldRequest {
  return sparse<Proto.ReleaseHoldRequest>({
    walletId: encodeId(request.walletId),
    holdId: encodeId(request.holdId),
    outcome: encodeOutcome(request.facts),
    metadata: encodeMetadata(request.metadata),
  });
}

export function decodeReleaseRequest(wire: Proto.ReleaseHoldRequest__Output): ReleaseRequest {
  return {
    walletId: wire.walletId,
    holdId: wire.holdId,
    facts: decodeOutcome(wire.outcome, RELEASED_OUTCOME),
    metadata: decodeMetadata(wire.metadata),
  };
}
