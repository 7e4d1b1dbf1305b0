import { Elysia, t } from "elysia";
import type { Account } from "../../../accounts/accounts.ts";
import { markupOf } from "../../../accounts/markup.ts";
import { type Cell, printCsv } from "../../../domain/csv.ts";
import { printTime } from "../../../domain/id-time.ts";
import { GatewayError } from "../../../errors.ts";
import { HISTOGRAM_BOUNDS_MS } from "../../../ledger/usage-records.ts";
import { KEPT_MS } from "../../../refusals/refusal.ts";
import { listAnomalies } from "../../../usage/anomalies.ts";
import { GROUPS_MAX, OTHER, reportUsage, type UsageReport } from "../../../usage/report.ts";
import { percentilesOf, printMargin, printSums, type Sums } from "../../../usage/sums.ts";
import { isDaily, readRange, readView, type UsageView } from "../../../usage/view.ts";
import { comparePrices } from "../../../usage/what-if.ts";
import type { PartsOf } from "../console-parts.ts";
import { createGuard } from "../guard.ts";
import { writeRefusals } from "../requests/refusals.ts";
import { csvHeaders } from "../text-stream.ts";
import {
  anomaliesAnswer,
  type OperatorUsageAnswer,
  type OperatorUsageQueryText,
  type OperatorUsageRowJson,
  operatorUsageAnswer,
  operatorUsageQuery,
  printAnomalies,
  printComparison,
  type UsageAnswer,
  type UsageQueryText,
  type UsageRowJson,
  type UsageTotal,
  usageAnswer,
  usageQuery,
  whatIfAnswer,
  whatIfBody,
} from "./shapes.ts";

type Parts = PartsOf<"ledger" | "gateway">;

/** The usage of one account, and for operators that of all. */
export function usageRoutes(parts: Parts) {
  return new Elysia().use(accountUsageRoutes(parts)).use(operatorUsageRoutes(parts));
}

function accountUsageRoutes(parts: Parts) {
  return new Elysia()
    .use(createGuard(parts, "Usage"))
    .get(
      "/accounts/:account/usage",
      async ({ account, query }) =>
        printUsage(await readUsage(parts, account.id, query, groupsMaxOf(query.group))),
      {
        summary: "Read the usage of a range, grouped",
        needs: "usage.read",
        query: usageQuery,
        response: usageAnswer,
      },
    )
    .get(
      "/accounts/:account/usage.csv",
      async ({ account, query, set }) => {
        const csv = printUsageCsv(await readUsage(parts, account.id, query));
        Object.assign(set.headers, csvHeaders(`usage-${account.name}`));
        return csv;
      },
      {
        summary: "Export the usage of a range",
        needs: "usage.read",
        query: usageQuery,
        response: t.String(),
      },
    )
    .get(
      "/accounts/:account/usage/anomalies",
      async ({ account }) => printAnomalies(await listAnomalies(parts, account.id)),
      { summary: "List days that cost much more than usual", needs: "usage.read", response: anomaliesAnswer },
    )
    .post(
      "/accounts/:account/what-if",
      async ({ account, body }) => printComparison(await compareModel(parts, account, body)),
      {
        summary: "Price the usage of a range as another model",
        needs: "usage.read",
        body: whatIfBody,
        response: whatIfAnswer,
      },
    );
}

function operatorUsageRoutes(parts: Parts) {
  return new Elysia()
    .use(createGuard(parts, "Operators"))
    .get(
      "/operator/usage",
      async ({ query }) => printOperatorUsage(await readUsage(parts, undefined, query)),
      {
        summary: "Read the usage of all accounts",
        needsOperator: true,
        query: operatorUsageQuery,
        response: operatorUsageAnswer,
      },
    )
    .get(
      "/operator/usage.csv",
      async ({ query, set }) => {
        const csv = printOperatorUsageCsv(await readUsage(parts, undefined, query));
        Object.assign(set.headers, csvHeaders("usage"));
        return csv;
      },
      {
        summary: "Export the usage of all accounts",
        needsOperator: true,
        query: operatorUsageQuery,
        response: t.String(),
      },
    );
}

/** Groups with histograms are large: of end users, runs and tags, an answer has the dearest only. CSV has more. */
function groupsMaxOf(group: UsageQueryText["group"]): number {
  return group === "end_user" || group === "run" || group === "tag" ? 1_000 : GROUPS_MAX;
}

/** Reads the usage of one account or of all, refused requests of this moment included. */
async function readUsage(
  parts: Parts,
  accountId: string | undefined,
  query: UsageQueryText | OperatorUsageQueryText,
  groupsMax?: number,
): Promise<ShownUsage> {
  const nowMs = parts.now();
  const view = readView(accountId, query, nowMs);
  await writeRefusals(parts);
  return { view, nowMs, report: await reportUsage(parts, view, nowMs, { groupsMax }) };
}

/** Compares charges with the prices of another model, as shown to clients. Throws `unknown_model`. */
function compareModel(parts: Parts, account: Account, body: typeof whatIfBody.static) {
  const accountId = account.id;
  const model = parts.gateway().catalog.find(body.model, markupOf(account));
  if (!model) throw new GatewayError("unknown_model");
  const range = readRange(body, { nowMs: parts.now(), defaultMs: 0 });
  return comparePrices(parts, { accountId, keyId: body.key, range }, model.price);
}

/** A view with its report. */
interface ShownUsage {
  readonly view: UsageView;
  readonly nowMs: number;
  readonly report: UsageReport;
}

/** Prints usage as members see it: without upstream costs. */
function printUsage(usage: ShownUsage): UsageAnswer {
  return printReport(usage, { sums: printSums, total: printTotal });
}

/** Prints usage as operators see it: every sum with its margin. */
function printOperatorUsage(usage: ShownUsage): OperatorUsageAnswer {
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
  const nameGroup = (group: string | null) => ({
    group: group === OTHER ? "(other)" : group,
    group_name: group === null ? null : (report.names.get(group) ?? null),
  });
  return {
    from: printTime(fromMs),
    to: printTime(toMs),
    resolution: isDaily(view) ? ("day" as const) : ("hour" as const),
    refused_since: new Date(Math.max(fromMs, nowMs - KEPT_MS)).toISOString(),
    rows: report.points.map(({ timeMs, group = null, sums }) => ({
      time: timeMs === undefined ? null : printTime(timeMs),
      ...nameGroup(group),
      ...print.sums(sums),
    })),
    total: print.total(report.total),
    groups: report.groups.map(({ group, sums }) => ({
      ...nameGroup(group),
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

function printUsageCsv(usage: ShownUsage): string {
  return printRows(printUsage(usage), COLUMNS);
}

function printOperatorUsageCsv(usage: ShownUsage): string {
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
