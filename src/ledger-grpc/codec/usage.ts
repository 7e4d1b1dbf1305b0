import type { Long } from "@grpc/proto-loader";
import type * as Proto from "../../gen/messages.ts";
import type { UsageQuery } from "../../ledger/records.ts";
import {
  type Histogram,
  OTHER_SCOPES,
  type RollUpState,
  type UsageDimension,
  type UsageReport,
  type UsageRow,
} from "../../ledger/usage-records.ts";
import { usageDimensions, usageResolutions } from "./enums.ts";
import { decodeUsage, encodeUsage } from "./facts.ts";
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
import { decodeReceiptFilter, encodeReceiptFilter } from "./receipts.ts";

/** An offset that no ledger accepts. */
const OFFSET_INVALID = 99;

export function encodeUsageQuery(query: UsageQuery): Proto.QueryUsageRequest {
  const { offsetHours = 0, walletIds = [] } = query;
  return sparse<Proto.QueryUsageRequest>({
    filter: encodeReceiptFilter(query),
    walletIds: walletIds.map(encodeText),
    groupBy: query.groupBy.map(usageDimensions.encode),
    tagKey: query.tagKey === undefined ? undefined : encodeText(query.tagKey),
    among: query.among?.map(encodeText) ?? [],
    moneyOnly: query.isMoneyOnly,
    dearestMax: query.dearestMax === undefined ? undefined : encodeInt32(query.dearestMax),
    offsetHours:
      Number.isInteger(offsetHours) && Math.abs(offsetHours) < OFFSET_INVALID ? offsetHours : OFFSET_INVALID,
  });
}

export function decodeUsageQuery(wire: Proto.QueryUsageRequest__Output): UsageQuery {
  return {
    ...decodeReceiptFilter(wire.filter),
    walletIds: wire.walletIds.length > 0 ? wire.walletIds : undefined,
    groupBy: wire.groupBy.map((each) => usageDimensions.decode(each, "group_by", "invalid_query")),
    tagKey: wire.tagKey,
    dearestMax: wire.dearestMax,
    isMoneyOnly: wire.moneyOnly,
    among: wire.among.length > 0 ? wire.among : undefined,
    offsetHours: wire.offsetHours,
  };
}

export function encodeUsageReport(
  report: UsageReport,
  groupBy: readonly UsageDimension[],
): Proto.QueryUsageResponse {
  return {
    rows: report.rows.map((row) => encodeUsageRow(row, groupBy)),
    resolution: usageResolutions.encode(report.resolution),
    offsetHours: report.offsetHours,
  };
}

export function decodeUsageReport(wire: Proto.QueryUsageResponse__Output): UsageReport {
  return {
    rows: wire.rows.map(decodeUsageRow),
    resolution: usageResolutions.decode(wire.resolution, "resolution"),
    offsetHours: wire.offsetHours,
  };
}

/** Encodes a row; its groups are in the order of `groupBy`. */
function encodeUsageRow(row: UsageRow, groupBy: readonly UsageDimension[]): Proto.UsageRow {
  return {
    group: groupBy.map((dimension) => encodeGroup(dimension, row.group[dimension] ?? null)),
    requests: encodeCount(row.requests),
    capturedNanos: encodeNanos(row.captured),
    refundedNanos: encodeNanos(row.refunded),
    upstreamCostNanos: encodeNanos(row.upstreamCost),
    costedNanos: encodeNanos(row.costed),
    usage: encodeUsage(row.usage),
    open: encodeCount(row.open),
    settled: encodeCount(row.settled),
    released: encodeCount(row.released),
    expired: encodeCount(row.expired),
    ...(row.ok === undefined ? {} : { ok: encodeCount(row.ok) }),
    firstOutputCounts: row.firstOutputMs.map(encodeCount),
    totalCounts: row.totalMs.map(encodeCount),
  };
}

function decodeUsageRow(wire: Proto.UsageRow__Output): UsageRow {
  return {
    group: Object.fromEntries(wire.group.map(decodeGroup)),
    requests: decodeNumber(wire.requests),
    captured: decodeNanos(wire.capturedNanos),
    refunded: decodeNanos(wire.refundedNanos),
    upstreamCost: decodeNanos(wire.upstreamCostNanos),
    costed: decodeNanos(wire.costedNanos),
    usage: decodeUsage(required(wire.usage, "row.usage")),
    open: decodeNumber(wire.open),
    settled: decodeNumber(wire.settled),
    released: decodeNumber(wire.released),
    expired: decodeNumber(wire.expired),
    ok: wire.ok === undefined ? undefined : decodeNumber(wire.ok),
    firstOutputMs: decodeHistogram(wire.firstOutputCounts),
    totalMs: decodeHistogram(wire.totalCounts),
  };
}

function decodeHistogram(counts: readonly Long[]): Histogram {
  return counts.map(decodeNumber);
}

function encodeGroup(dimension: UsageDimension, value: string | number | null): Proto.UsageGroup {
  const wire = usageDimensions.encode(dimension);
  if (value === null) return { dimension: wire };
  if (typeof value === "number") return { dimension: wire, time: encodeTime(value) };
  if (value === OTHER_SCOPES) return { dimension: wire, others: true };
  return { dimension: wire, text: value };
}

function decodeGroup({
  dimension,
  time,
  text,
  others,
}: Proto.UsageGroup__Output): [UsageDimension, string | number | null] {
  const value = time ? decodeTime(time, "row.group.time") : others ? OTHER_SCOPES : (text ?? null);
  return [usageDimensions.decode(dimension, "row.group.dimension"), value];
}

export function encodeRollUps(state: RollUpState): Proto.GetRollUpsResponse {
  const isEmpty = state.closedFromMs === state.closedToMs;
  return sparse<Proto.GetRollUpsResponse>({
    closedFromTime: isEmpty ? undefined : encodeTime(state.closedFromMs),
    closedToTime: isEmpty ? undefined : encodeTime(state.closedToMs),
    staleHours: encodeCount(state.staleHours),
    isBackfilling: state.isBackfilling,
  });
}

export function decodeRollUps(wire: Proto.GetRollUpsResponse__Output): RollUpState {
  const { closedFromTime, closedToTime } = wire;
  return {
    closedFromMs: closedFromTime ? decodeTime(closedFromTime, "closed_from_time") : 0,
    closedToMs: closedToTime ? decodeTime(closedToTime, "closed_to_time") : 0,
    staleHours: decodeNumber(wire.staleHours),
    isBackfilling: wire.isBackfilling,
  };
}
