import type {
  QueryUsageRequest,
  QueryUsageRequest__Output,
} from "../../gen/tollgate/ledger/v1/QueryUsageRequest.ts";
import type { UsageGroup, UsageGroup__Output } from "../../gen/tollgate/ledger/v1/UsageGroup.ts";
import type { UsageRow__Output, UsageRow as WireUsageRow } from "../../gen/tollgate/ledger/v1/UsageRow.ts";
import type { UsageDimension, UsageQuery, UsageRow } from "../../ledger/ledger.ts";
import { usageDimensions } from "./enums.ts";
import { decodeUsage, encodeUsage } from "./facts.ts";
import { decodeNanos, decodeNumber, encodeCount, encodeNanos } from "./fields.ts";
import { required } from "./invalid-field.ts";
import { decodeReceiptFilter, encodeReceiptFilter } from "./receipts.ts";
import { decodeTime, encodeTime } from "./times.ts";

export function encodeUsageQuery(query: UsageQuery): QueryUsageRequest {
  return { filter: encodeReceiptFilter(query), groupBy: query.groupBy.map(usageDimensions.encode) };
}

export function decodeUsageQuery(wire: QueryUsageRequest__Output): UsageQuery {
  return {
    ...decodeReceiptFilter(wire.filter),
    groupBy: wire.groupBy.map((each) => usageDimensions.decode(each, "group_by", "invalid_query")),
  };
}

/** The groups of a row travel in the order of the query. */
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
