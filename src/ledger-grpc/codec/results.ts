import type * as Proto from "../../gen/messages.ts";
import type { ChargePosting, HoldGrant, Posting, Settlement } from "../../ledger/ledger.ts";
import type { Balances } from "../../ledger/records.ts";
import { holdStates } from "./enums.ts";
import { decodeNanos, encodeNanos } from "./fields.ts";
import { decodeBalances, encodeBalances } from "./wallets.ts";

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
