import { Elysia, t } from "elysia";
import type { Account } from "../../../accounts/accounts.ts";
import { GatewayError } from "../../../errors.ts";
import { listAnomalies } from "../../../usage/anomalies.ts";
import { readRange } from "../../../usage/range.ts";
import { reportUsage } from "../../../usage/report.ts";
import { readView } from "../../../usage/view.ts";
import { comparePrices } from "../../../usage/what-if.ts";
import type { ConsoleParts } from "../console-parts.ts";
import { createGuard } from "../guard.ts";
import { writeRefusals } from "../refusals.ts";
import { csvHeaders } from "../text-stream.ts";
import {
  printAnomalies,
  printComparison,
  printOperatorUsage,
  printOperatorUsageCsv,
  printUsage,
  printUsageCsv,
  type ShownUsage,
} from "./print.ts";
import {
  anomaliesAnswer,
  type OperatorUsageQueryText,
  operatorUsageAnswer,
  operatorUsageQuery,
  usageAnswer,
  usageQuery,
  whatIfAnswer,
  whatIfBody,
} from "./shapes.ts";

export function usageRoutes(parts: ConsoleParts) {
  return new Elysia()
    .use(createGuard(parts))
    .get(
      "/accounts/:account/usage",
      async ({ account, query }) => printUsage(await readUsage(parts, account.id, query)),
      { needs: "usage.read", query: usageQuery, response: usageAnswer },
    )
    .get(
      "/accounts/:account/usage.csv",
      async ({ account, query, set }) => {
        const csv = printUsageCsv(await readUsage(parts, account.id, query));
        Object.assign(set.headers, csvHeaders(`usage-${account.name}`));
        return csv;
      },
      { needs: "usage.read", query: usageQuery, response: t.String() },
    )
    .get(
      "/accounts/:account/usage/anomalies",
      async ({ account }) => printAnomalies(await listAnomalies(parts, account.id)),
      { needs: "usage.read", response: anomaliesAnswer },
    )
    .post(
      "/accounts/:account/what-if",
      async ({ account, body }) => printComparison(await compareModel(parts, account, body)),
      { needs: "usage.read", body: whatIfBody, response: whatIfAnswer },
    )
    .get(
      "/operator/usage",
      async ({ query }) => printOperatorUsage(await readUsage(parts, undefined, query)),
      { needsOperator: true, query: operatorUsageQuery, response: operatorUsageAnswer },
    )
    .get(
      "/operator/usage.csv",
      async ({ query, set }) => {
        const csv = printOperatorUsageCsv(await readUsage(parts, undefined, query));
        Object.assign(set.headers, csvHeaders("usage"));
        return csv;
      },
      { needsOperator: true, query: operatorUsageQuery, response: t.String() },
    );
}

/** Reads the usage of one account or of all, refused requests of this moment included. */
async function readUsage(
  parts: ConsoleParts,
  accountId: string | undefined,
  query: OperatorUsageQueryText,
): Promise<ShownUsage> {
  const nowMs = parts.now();
  const view = readView(accountId, query, nowMs);
  await writeRefusals(parts);
  return { view, nowMs, report: await reportUsage(parts, view, nowMs) };
}

/** Compares charges with the prices of another model, as shown to clients. Throws `unknown_model`. */
function compareModel(
  parts: ConsoleParts,
  { id: accountId, markup }: Account,
  body: typeof whatIfBody.static,
) {
  const model = parts.gateway().catalog.find(body.model, markup);
  if (!model) throw new GatewayError("unknown_model");
  const range = readRange(body, { nowMs: parts.now(), defaultMs: 0 });
  return comparePrices(parts, { accountId, keyId: body.key, range }, model.price);
}
