import type * as Proto from "../../gen/messages.ts";
import type {
  ChargePosting,
  ChargeRequest,
  ExtendRequest,
  HoldGrant,
  HoldRequest,
  Posting,
  ReleaseRequest,
  Settlement,
  SettleRequest,
} from "../../ledger/ledger.ts";
import type { Balances } from "../../ledger/records.ts";
import { holdStates } from "./enums.ts";
import {
  decodeOutcome,
  decodeRequestFacts,
  decodeTakenHold,
  encodeOutcome,
  encodeRequestFacts,
  encodeTakenHold,
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
import { decodeScopes, encodeScopes } from "./scopes.ts";
import { decodeBalances, encodeBalances } from "./wallets.ts";

/** `timeoutMs` bounds how long the hold may wait to be decided, from now; `undefined` sets no bound. */
export function encodeHoldRequest(request: HoldRequest, timeoutMs?: number): Proto.CreateHoldRequest {
  return sparse<Proto.CreateHoldRequest>({
    walletId: encodeId(request.walletId),
    holdId: encodeId(request.holdId),
    keyId: encodeId(request.keyId),
    scopes: encodeScopes(request.scopes),
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
    scopes: decodeScopes(wire.scopes),
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
    taken: request.taken && encodeTakenHold(request.taken),
  });
}

export function decodeSettleRequest(wire: Proto.SettleHoldRequest__Output): SettleRequest {
  return {
    walletId: wire.walletId,
    holdId: wire.holdId,
    amount: decodeNanos(required(wire.amountNanos, "amount_nanos", "invalid_amount")),
    facts: decodeOutcome(wire.outcome, SETTLED_OUTCOME),
    metadata: decodeMetadata(wire.metadata),
    taken: wire.taken ? decodeTakenHold(wire.taken) : undefined,
  };
}

export function encodeReleaseRequest(request: ReleaseRequest): Proto.ReleaseHoldRequest {
  return sparse<Proto.ReleaseHoldRequest>({
    walletId: encodeId(request.walletId),
    holdId: encodeId(request.holdId),
    outcome: encodeOutcome(request.facts),
    metadata: encodeMetadata(request.metadata),
    taken: request.taken && encodeTakenHold(request.taken),
  });
}

export function decodeReleaseRequest(wire: Proto.ReleaseHoldRequest__Output): ReleaseRequest {
  return {
    walletId: wire.walletId,
    holdId: wire.holdId,
    facts: decodeOutcome(wire.outcome, RELEASED_OUTCOME),
    metadata: decodeMetadata(wire.metadata),
    taken: wire.taken ? decodeTakenHold(wire.taken) : undefined,
  };
}

export function encodeChargeRequest(request: ChargeRequest): Proto.CreateChargeRequest {
  return sparse<Proto.CreateChargeRequest>({
    walletId: encodeId(request.walletId),
    chargeId: encodeId(request.chargeId),
    keyId: encodeId(request.keyId),
    scopes: encodeScopes(request.scopes),
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
    scopes: decodeScopes(wire.scopes),
    amount: decodeNanos(required(wire.amountNanos, "amount_nanos", "invalid_amount")),
    facts: decodeRequestFacts(wire.facts),
    outcome: decodeOutcome(wire.outcome, SETTLED_OUTCOME),
    metadata: decodeMetadata(wire.metadata),
  };
}

/** Encodes the result of a mutation without an answer. */
export function encodeDoneResult(): Proto.MutationResult {
  return {};
}

export function encodeBalancesResult(balances: Balances): Proto.MutationResult {
  return { balances: encodeBalances(balances) };
}

export function decodeBalancesResult({ balances }: Proto.MutationResult__Output): Balances {
  return decodeBalances(balances);
}

export function encodeGrantResult({ granted, balances, replayed }: HoldGrant): Proto.MutationResult {
  return { grantedNanos: encodeNanos(granted), balances: encodeBalances(balances), replayed };
}

export function decodeGrantResult(wire: Proto.MutationResult__Output): HoldGrant {
  return {
    granted: decodeNanos(wire.grantedNanos),
    balances: decodeBalances(wire.balances),
    replayed: wire.replayed,
  };
}

export function encodeSettlementResult({
  state,
  captured,
  balances,
  replayed,
}: Settlement): Proto.MutationResult {
  return {
    holdState: holdStates.encode(state),
    capturedNanos: encodeNanos(captured),
    balances: encodeBalances(balances),
    replayed,
  };
}

export function decodeSettlementResult(wire: Proto.MutationResult__Output): Settlement {
  return {
    state: holdStates.decode(wire.holdState, "hold_state"),
    captured: decodeNanos(wire.capturedNanos),
    balances: decodeBalances(wire.balances),
    replayed: wire.replayed,
  };
}

export function encodePostingResult({ balances, replayed }: Posting): Proto.MutationResult {
  return { balances: encodeBalances(balances), replayed };
}

export function decodePostingResult({ balances, replayed }: Proto.MutationResult__Output): Posting {
  return { balances: decodeBalances(balances), replayed };
}

export function encodeChargeResult({ receiptId, ...posting }: ChargePosting): Proto.MutationResult {
  return { ...encodePostingResult(posting), receiptId };
}

export function decodeChargeResult(wire: Proto.MutationResult__Output): ChargePosting {
  return { ...decodePostingResult(wire), receiptId: wire.receiptId };
}
