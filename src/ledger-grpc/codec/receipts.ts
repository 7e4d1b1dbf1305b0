import type * as Proto from "../../gen/messages.ts";
import type {
  PageRequest,
  Receipt,
  ReceiptFilter,
  ReceiptPage,
  RunningHold,
  RunningTotals,
} from "../../ledger/records.ts";
import { holdStates } from "./enums.ts";
import {
  decodeOutcome,
  decodeRequestFacts,
  encodeOutcome,
  encodeRequestFacts,
  SETTLED_OUTCOME,
} from "./facts.ts";
import {
  decodeNanos,
  decodeNumber,
  decodeTime,
  encodeCount,
  encodeInt32,
  encodeNanos,
  encodeText,
  encodeTime,
  InvalidField,
  required,
  sparse,
} from "./fields.ts";
import { decodeMetadata, encodeStoredMetadata } from "./metadata.ts";
import { decodeFilterScopes, decodeStoredScopes, encodeFilterScopes, encodeScopes } from "./scopes.ts";

const PAGE_SIZE_DEFAULT = 100;

export function encodeReceipt(receipt: Receipt): Proto.Hold {
  return sparse<Proto.Hold>({
    walletId: receipt.walletId,
    holdId: receipt.holdId,
    keyId: receipt.keyId,
    scopes: encodeScopes(receipt.scopes),
    state: holdStates.encode(receipt.state),
    grantedNanos: encodeNanos(receipt.granted),
    capturedNanos: encodeNanos(receipt.captured),
    refundedNanos: encodeNanos(receipt.refunded),
    late: receipt.late,
    createTime: encodeTime(receipt.createdAtMs),
    resolveTime: receipt.resolvedAtMs === undefined ? undefined : encodeTime(receipt.resolvedAtMs),
    request: encodeRequestFacts(receipt.request),
    outcome: receipt.outcome && encodeOutcome(receipt.outcome),
    metadata: encodeStoredMetadata(receipt.metadata),
  });
}

export function decodeReceipt(wire: Proto.Hold__Output | null): Receipt {
  const hold = required(wire, "hold");
  return {
    walletId: hold.walletId,
    holdId: hold.holdId,
    keyId: hold.keyId,
    scopes: decodeStoredScopes(hold.scopes),
    state: holdStates.decode(hold.state, "hold.state"),
    late: hold.late,
    granted: decodeNanos(hold.grantedNanos),
    captured: decodeNanos(hold.capturedNanos),
    refunded: decodeNanos(hold.refundedNanos),
    createdAtMs: decodeTime(required(hold.createTime, "hold.create_time"), "hold.create_time"),
    resolvedAtMs: hold.resolveTime ? decodeTime(hold.resolveTime, "hold.resolve_time") : undefined,
    request: decodeRequestFacts(hold.request),
    outcome: hold.outcome ? decodeOutcome(hold.outcome, SETTLED_OUTCOME) : undefined,
    metadata: decodeMetadata(hold.metadata),
  };
}

export function encodeReceiptFilter(filter: ReceiptFilter): Proto.HoldFilter {
  const text = (each: string | undefined) => (each === undefined ? undefined : encodeText(each));
  return sparse<Proto.HoldFilter>({
    walletId: filter.walletId === undefined ? "" : encodeText(filter.walletId),
    allWallets: filter.walletId === undefined || undefined,
    startTime: encodeBound(filter.fromMs),
    endTime: encodeBound(filter.toMs),
    keyId: text(filter.keyId),
    surface: text(filter.surface),
    model: text(filter.model),
    upstream: text(filter.upstream),
    state: filter.state && holdStates.encode(filter.state),
    outcome: text(filter.outcome),
    failed: filter.failed || undefined,
    metadata: filter.metadata && {
      name: encodeText(filter.metadata.name),
      value: encodeText(filter.metadata.value),
    },
    ...encodeFilterScopes(filter.scopes),
  });
}

/** Encodes a bound of time, of 48 bits as in hold ids. Any other number becomes -1 ms, which is declined. */
export function encodeBound(ms: number | undefined): Proto.Timestamp | undefined {
  if (ms === undefined) return undefined;
  return encodeTime(Number.isInteger(ms) && ms >= 0 && ms < 2 ** 48 ? ms : -1);
}

export function decodeReceiptFilter(wire: Proto.HoldFilter__Output | null): ReceiptFilter {
  const filter = required(wire, "filter", "invalid_query");
  const isAll = filter.allWallets;
  if (isAll && filter.walletId !== "") throw new InvalidField("filter.all_wallets", "invalid_query");
  return {
    walletId: isAll ? undefined : filter.walletId,
    fromMs: decodeBound(filter.startTime, "filter.start_time"),
    toMs: decodeBound(filter.endTime, "filter.end_time"),
    keyId: filter.keyId,
    surface: filter.surface,
    model: filter.model,
    upstream: filter.upstream,
    state: holdStates.decodeOptional(filter.state, "filter.state", "invalid_query"),
    outcome: filter.outcome,
    failed: filter.failed || undefined,
    metadata: filter.metadata ?? undefined,
    scopes: decodeFilterScopes(filter),
  };
}

export function decodeBound(wire: Proto.Timestamp__Output | null, field: string): number | undefined {
  return wire ? decodeTime(wire, field, "invalid_query") : undefined;
}

export function encodeReceiptPage({ items, nextToken, searchedToMs }: ReceiptPage): Proto.ListHoldsResponse {
  return sparse<Proto.ListHoldsResponse>({
    holds: items.map(encodeReceipt),
    nextPageToken: nextToken ?? "",
    searchedToTime: searchedToMs === undefined ? undefined : encodeTime(searchedToMs),
  });
}

export function decodeReceiptPage(wire: Proto.ListHoldsResponse__Output): ReceiptPage {
  const searched = wire.searchedToTime;
  return {
    items: wire.holds.map(decodeReceipt),
    nextToken: wire.nextPageToken || undefined,
    searchedToMs: searched ? decodeTime(searched, "searched_to_time") : undefined,
  };
}

/**
 * Encodes a page. A size outside int32 becomes 0, and an empty token a control character: both are declined.
 */
export function encodePage({ size, token }: PageRequest): { pageSize: number; pageToken: string } {
  // On the wire an empty token is the first page.
  return { pageSize: encodeInt32(size), pageToken: token === undefined ? "" : encodeText(token || "\0") };
}

export function decodePage(wire: { readonly pageSize?: number; readonly pageToken: string }): PageRequest {
  return { size: wire.pageSize ?? PAGE_SIZE_DEFAULT, token: wire.pageToken || undefined };
}

export function encodeRunningHold(hold: RunningHold): Proto.RunningHold {
  const { walletId, holdId, keyId, model, granted, accrued, createdAtMs, expiresAtMs } = hold;
  return {
    walletId,
    holdId,
    keyId,
    model,
    grantedNanos: encodeNanos(granted),
    accruedNanos: encodeNanos(accrued),
    createTime: encodeTime(createdAtMs),
    expireTime: encodeTime(expiresAtMs),
  };
}

export function decodeRunningHold(wire: Proto.RunningHold__Output): RunningHold {
  const { walletId, holdId, keyId, model, createTime, expireTime } = wire;
  return {
    walletId,
    holdId,
    keyId,
    model,
    granted: decodeNanos(wire.grantedNanos),
    accrued: decodeNanos(wire.accruedNanos),
    createdAtMs: decodeTime(required(createTime, "hold.create_time"), "hold.create_time"),
    expiresAtMs: decodeTime(required(expireTime, "hold.expire_time"), "hold.expire_time"),
  };
}

export function encodeRunningTotals(totals: RunningTotals): Proto.RunningTotals {
  return {
    walletId: totals.walletId,
    count: encodeCount(totals.count),
    grantedNanos: encodeNanos(totals.granted),
    oldestCreateTime: encodeTime(totals.oldestCreatedAtMs),
  };
}

export function decodeRunningTotals(wire: Proto.RunningTotals__Output): RunningTotals {
  const oldest = required(wire.oldestCreateTime, "totals.oldest_create_time");
  return {
    walletId: wire.walletId,
    count: decodeNumber(wire.count),
    granted: decodeNanos(wire.grantedNanos),
    oldestCreatedAtMs: decodeTime(oldest, "totals.oldest_create_time"),
  };
}
