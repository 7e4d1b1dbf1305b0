import type { Timestamp, Timestamp__Output } from "../../gen/google/protobuf/Timestamp.ts";
import type { Hold, Hold__Output } from "../../gen/tollgate/ledger/v1/Hold.ts";
import type { HoldFilter, HoldFilter__Output } from "../../gen/tollgate/ledger/v1/HoldFilter.ts";
import type {
  QueryUsageRequest,
  QueryUsageRequest__Output,
} from "../../gen/tollgate/ledger/v1/QueryUsageRequest.ts";
import type { UsageGroup, UsageGroup__Output } from "../../gen/tollgate/ledger/v1/UsageGroup.ts";
import type { UsageRow__Output, UsageRow as WireUsageRow } from "../../gen/tollgate/ledger/v1/UsageRow.ts";
import type {
  PageRequest,
  Receipt,
  ReceiptFilter,
  UsageDimension,
  UsageQuery,
  UsageRow,
} from "../../ledger/records.ts";
import { holdStates, usageDimensions } from "./enums.ts";
import {
  decodeOutcome,
  decodeRequestFacts,
  decodeUsage,
  encodeOutcome,
  encodeRequestFacts,
  encodeUsage,
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
  required,
  sparse,
} from "./fields.ts";
import { decodeMetadata, encodeStoredMetadata } from "./metadata.ts";

const PAGE_SIZE_DEFAULT = 100;

export function encodeReceipt(receipt: Receipt): Hold {
  return sparse<Hold>({
    walletId: receipt.walletId,
    holdId: receipt.holdId,
    keyId: receipt.keyId,
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

export function decodeReceipt(wire: Hold__Output | null): Receipt {
  const hold = required(wire, "hold");
  return {
    walletId: hold.walletId,
    holdId: hold.holdId,
    keyId: hold.keyId,
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

export function encodeReceiptFilter(filter: ReceiptFilter): HoldFilter {
  const text = (each: string | undefined) => (each === undefined ? undefined : encodeText(each));
  return sparse<HoldFilter>({
    walletId: encodeText(filter.walletId),
    startTime: encodeBound(filter.fromMs),
    endTime: encodeBound(filter.toMs),
    keyId: text(filter.keyId),
    surface: text(filter.surface),
    model: text(filter.model),
    upstream: text(filter.upstream),
    state: filter.state && holdStates.encode(filter.state),
    outcome: text(filter.outcome),
  });
}

/** Encodes a bound of the time in hold ids. One outside of its 48 bits becomes -1 ms, which is declined. */
function encodeBound(ms: number | undefined): Timestamp | undefined {
  if (ms === undefined) return undefined;
  return encodeTime(Number.isInteger(ms) && ms >= 0 && ms < 2 ** 48 ? ms : -1);
}

export function decodeReceiptFilter(wire: HoldFilter__Output | null): ReceiptFilter {
  const filter = required(wire, "filter", "invalid_query");
  return {
    walletId: filter.walletId,
    fromMs: decodeBound(filter.startTime, "filter.start_time"),
    toMs: decodeBound(filter.endTime, "filter.end_time"),
    keyId: filter.keyId,
    surface: filter.surface,
    model: filter.model,
    upstream: filter.upstream,
    state: holdStates.decodeOptional(filter.state, "filter.state", "invalid_query"),
    outcome: filter.outcome,
  };
}

function decodeBound(wire: Timestamp__Output | null, field: string): number | undefined {
  return wire ? decodeTime(wire, field, "invalid_query") : undefined;
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

export function encodeUsageQuery(query: UsageQuery): QueryUsageRequest {
  return { filter: encodeReceiptFilter(query), groupBy: query.groupBy.map(usageDimensions.encode) };
}

export function decodeUsageQuery(wire: QueryUsageRequest__Output): UsageQuery {
  return {
    ...decodeReceiptFilter(wire.filter),
    groupBy: wire.groupBy.map((each) => usageDimensions.decode(each, "group_by", "invalid_query")),
  };
}

/** Encodes a row; its groups are in the order of `groupBy`. */
export function encodeUsageRow(row: UsageRow, groupBy: readonly UsageDimension[]): WireUsageRow {
  return {
    group: groupBy.map((dimension) => encodeGroup(dimension, row.group[dimension] ?? null)),
    requests: encodeCount(row.requests),
    capturedNanos: encodeNanos(row.captured),
    refundedNanos: encodeNanos(row.refunded),
    usage: encodeUsage(row.usage),
  };
}

export function decodeUsageRow(wire: UsageRow__Output): UsageRow {
  return {
    group: Object.fromEntries(wire.group.map(decodeGroup)),
    requests: decodeNumber(wire.requests),
    captured: decodeNanos(wire.capturedNanos),
    refunded: decodeNanos(wire.refundedNanos),
    usage: decodeUsage(required(wire.usage, "row.usage")),
  };
}

function encodeGroup(dimension: UsageDimension, value: string | number | null): UsageGroup {
  const wire = usageDimensions.encode(dimension);
  if (value === null) return { dimension: wire };
  if (typeof value === "number") return { dimension: wire, time: encodeTime(value) };
  return { dimension: wire, text: value };
}

function decodeGroup({
  dimension,
  time,
  text,
}: UsageGroup__Output): [UsageDimension, string | number | null] {
  const value = time ? decodeTime(time, "row.group.time") : (text ?? null);
  return [usageDimensions.decode(dimension, "row.group.dimension"), value];
}
