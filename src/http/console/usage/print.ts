import { type Cell, printCsv } from "../../../domain/csv.ts";
import { printUsd } from "../../../domain/money.ts";
import { HISTOGRAM_BOUNDS_MS } from "../../../ledger/usage-records.ts";
import { KEPT_MS } from "../../../refusals/refusal.ts";
import { printTime } from "../../../time.ts";
import type { AccountAnomaly } from "../../../usage/anomalies.ts";
import type { UsageReport } from "../../../usage/report.ts";
import { percentilesOf, printMargin, printSums, type Sums } from "../../../usage/sums.ts";
import { isDaily, type UsageView } from "../../../usage/view.ts";
import type { Compared, PriceComparison } from "../../../usage/what-if.ts";
import type {
  anomaliesAnswer,
  OperatorUsageAnswer,
  OperatorUsageRowJson,
  UsageAnswer,
  UsageRowJson,
  UsageTotal,
  whatIfAnswer,
} from "./shapes.ts";

/** A view with its report. */
export interface ShownUsage {
  readonly view: UsageView;
  readonly nowMs: number;
  readonly report: UsageReport;
}

/** Prints usage as members see it: without upstream costs. */
export function printUsage(usage: ShownUsage): UsageAnswer {
  return printReport(usage, { sums: printSums, total: printTotal });
}

/** Prints usage as operators see it: every sum with its margin. */
export function printOperatorUsage(usage: ShownUsage): OperatorUsageAnswer {
  return printReport(usage, {
    sums: (sums) => ({ ...printSums(sums), ...printMargin(sums) }),
    total: (sums) => ({ ...printTotal(sums), ...printMargin(sums) }),
  });
}

function printReport<Row, Total>(
  { view, nowMs, report }: ShownUsage,
  print: { readonly sums: (sums: Sums) => Row; readonly total: (sums: Sums) => Total },
) {
  const { fromMs, toMs } = view.range;
  const nameOf = (group: string | null) => (group === null ? null : (report.names.get(group) ?? null));
  return {
    from: printTime(fromMs),
    to: printTime(toMs),
    resolution: isDaily(view) ? ("day" as const) : ("hour" as const),
    refused_since: new Date(Math.max(fromMs, nowMs - KEPT_MS)).toISOString(),
    rows: report.points.map(({ timeMs, group = null, sums }) => ({
      time: timeMs === undefined ? null : printTime(timeMs),
      group,
      group_name: nameOf(group),
      ...print.sums(sums),
    })),
    total: print.total(report.total),
    groups: report.groups.map(({ group, sums }) => ({
      group,
      group_name: nameOf(group),
      ...print.total(sums),
    })),
    previous: print.total(report.previous),
  };
}

/** Prints sums with their percentiles and histograms. */
function printTotal(sums: Sums): UsageTotal {
  return {
    ...printSums(sums),
    first_output: percentilesOf(sums.firstOutputMs) ?? null,
    total_time: percentilesOf(sums.totalMs) ?? null,
    histograms: {
      bounds_ms: [...HISTOGRAM_BOUNDS_MS],
      first_output: [...sums.firstOutputMs],
      total_time: [...sums.totalMs],
    },
  };
}

const COLUMNS = [
  "time",
  "group",
  "group_name",
  "requests",
  "errors",
  "refused",
  "cost_usd",
  "input_tokens",
  "cached_input_tokens",
  "cache_write_tokens",
  "output_tokens",
] as const satisfies readonly (keyof UsageRowJson)[];

const OPERATOR_COLUMNS = [
  ...COLUMNS,
  "upstream_cost_usd",
  "margin_usd",
  "unknown_cost_usd",
] as const satisfies readonly (keyof OperatorUsageRowJson)[];

export function printUsageCsv(usage: ShownUsage): string {
  return printRows(printUsage(usage), COLUMNS);
}

export function printOperatorUsageCsv(usage: ShownUsage): string {
  return printRows(printOperatorUsage(usage), OPERATOR_COLUMNS);
}

function printRows<Column extends string>(
  { rows }: { readonly rows: readonly Readonly<Record<Column, Cell>>[] },
  columns: readonly Column[],
): string {
  return printCsv(
    columns,
    rows.map((row) => columns.map((column) => row[column])),
  );
}

export function printAnomalies(anomalies: readonly AccountAnomaly[]): typeof anomaliesAnswer.static {
  return {
    items: anomalies.map(({ dayMs, cost, usual, key }) => ({
      day: new Date(dayMs).toISOString().slice(0, 10),
      cost_usd: printUsd(cost),
      usual_usd: printUsd(usual),
      key_id: key?.id ?? null,
      key_name: key?.name ?? null,
    })),
  };
}

export function printComparison({ total, byKey }: PriceComparison): typeof whatIfAnswer.static {
  return {
    ...printCompared(total),
    by_key: byKey.map((key) => ({
      key_id: key.keyId,
      key_name: key.keyName ?? null,
      ...printCompared(key),
    })),
  };
}

function printCompared({ requests, actual, whatIf }: Compared) {
  return { requests, actual_usd: printUsd(actual), what_if_usd: printUsd(whatIf) };
}
