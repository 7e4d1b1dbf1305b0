import { Elysia, t } from "elysia";
import { findAccountNames, findKeyNames } from "../../accounts/names.ts";
import { type Cell, printCsv } from "../../domain/csv.ts";
import { KEPT_MS } from "../../refusals/refusal.ts";
import { printTime } from "../../time.ts";
import { listAnomalies } from "./anomalies.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";
import { writeRefusals } from "./refusals.ts";
import { csvHeaders } from "./text-stream.ts";
import { OTHER, reportUsage, type UsageReport } from "./usage-report.ts";
import {
  anomaliesAnswer,
  type OperatorUsageAnswer,
  type OperatorUsageQueryText,
  type OperatorUsageRowJson,
  operatorUsageAnswer,
  operatorUsageQuery,
  type UsageAnswer,
  type UsageRowJson,
  usageAnswer,
  usageQuery,
  whatIfAnswer,
  whatIfBody,
} from "./usage-shapes.ts";
import { NO_SUMS, printMargin, printSums, printTotal, type Sums } from "./usage-sums.ts";
import { isDaily, readView, type UsageView } from "./usage-view.ts";
import { compareModel } from "./what-if.ts";

export function usageRoutes(parts: ConsoleParts) {
  return new Elysia()
    .use(createGuard(parts))
    .get("/accounts/:account/usage", ({ account, query }) => answerUsage(parts, account.id, query), {
      needs: "usage.read",
      query: usageQuery,
      response: usageAnswer,
    })
    .get(
      "/accounts/:account/usage.csv",
      async ({ account, query, set }) => {
        const csv = printUsageCsv(await answerUsage(parts, account.id, query), COLUMNS);
        Object.assign(set.headers, csvHeaders(`usage-${account.name}`));
        return csv;
      },
      { needs: "usage.read", query: usageQuery, response: t.String() },
    )
    .get("/accounts/:account/usage/anomalies", ({ account }) => listAnomalies(parts, account.id), {
      needs: "usage.read",
      response: anomaliesAnswer,
    })
    .post("/accounts/:account/what-if", ({ account, body }) => compareModel(parts, account, body), {
      needs: "usage.read",
      body: whatIfBody,
      response: whatIfAnswer,
    })
    .get("/operator/usage", ({ query }) => answerOperator(parts, query), {
      needsOperator: true,
      query: operatorUsageQuery,
      response: operatorUsageAnswer,
    })
    .get(
      "/operator/usage.csv",
      async ({ query, set }) => {
        const csv = printUsageCsv(await answerOperator(parts, query), OPERATOR_COLUMNS);
        Object.assign(set.headers, csvHeaders("usage"));
        return csv;
      },
      { needsOperator: true, query: operatorUsageQuery, response: t.String() },
    );
}

/** The usage of one account, as its members see it: without upstream costs. */
async function answerUsage(
  parts: ConsoleParts,
  accountId: string,
  query: OperatorUsageQueryText,
): Promise<UsageAnswer> {
  return printReport(await readReport(parts, accountId, query), printTotal);
}

function printOperatorTotal(sums: Sums) {
  return { ...printTotal(sums), ...printMargin(sums) };
}

/** The usage of all accounts, with its margin. */
async function answerOperator(
  parts: ConsoleParts,
  query: OperatorUsageQueryText,
): Promise<OperatorUsageAnswer> {
  const read = await readReport(parts, undefined, query);
  const { rows, ...answer } = printReport(read, printOperatorTotal);
  const points = read.report.points.map(({ sums }) => printMargin(sums));
  const none = printMargin(NO_SUMS);
  return { ...answer, rows: rows.map((row, index) => ({ ...row, ...(points[index] ?? none) })) };
}

async function readReport(parts: ConsoleParts, accountId: string | undefined, query: OperatorUsageQueryText) {
  const nowMs = parts.now();
  const view = readView(accountId, query, nowMs);
  await writeRefusals(parts);
  const report = await reportUsage(parts, view, nowMs);
  return { view, nowMs, report, names: await findGroupNames(parts, view, report) };
}

/** Prints a report; `print` converts the sums of a range. */
function printReport<Total>(
  { view, nowMs, report, names }: Awaited<ReturnType<typeof readReport>>,
  print: (sums: Sums) => Total,
) {
  const { fromMs, toMs } = view.range;
  const nameOf = (group: string | null | undefined) =>
    typeof group === "string" ? (names.get(group) ?? null) : null;
  return {
    from: printTime(fromMs),
    to: printTime(toMs),
    resolution: isDaily(view) ? ("day" as const) : ("hour" as const),
    refused_since: new Date(Math.max(fromMs, nowMs - KEPT_MS)).toISOString(),
    rows: report.points.map(({ timeMs, group = null, sums }) => ({
      time: timeMs === undefined ? null : printTime(timeMs),
      group,
      group_name: nameOf(group),
      ...printSums(sums),
    })),
    total: print(report.total),
    groups: report.groups.map(({ group, sums }) => ({
      group,
      group_name: nameOf(group),
      ...print(sums),
    })),
    previous: print(report.previous),
  };
}

/** Finds the names of the groups that have one: keys and accounts have, others are their own name. */
async function findGroupNames(
  { database }: ConsoleParts,
  { accountId, group }: UsageView,
  { groups }: UsageReport,
): Promise<ReadonlyMap<string, string>> {
  const ids = groups.flatMap(({ group: id }) => (id === null ? [] : [id]));
  const others = [[OTHER, "Others"]] as const;
  if (group === "key") return new Map([...(await findKeyNames(database, accountId, ids)), ...others]);
  if (group === "account") return new Map([...(await findAccountNames(database, ids)), ...others]);
  return new Map([...ids.map((id) => [id, id] as const), ...others]);
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

function printUsageCsv<Column extends string>(
  { rows }: { readonly rows: readonly Readonly<Record<Column, Cell>>[] },
  columns: readonly Column[],
): string {
  return printCsv(
    columns,
    rows.map((row) => columns.map((column) => row[column])),
  );
}
