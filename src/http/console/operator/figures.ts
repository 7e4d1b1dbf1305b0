import { Elysia, t } from "elysia";
import { findAccount } from "../../../accounts/accounts.ts";
import { readMonth } from "../../../domain/month.ts";
import { GatewayError } from "../../../errors.ts";
import { chooseAtRisk, findAtRisk, printAtRisk } from "../../../figures/at-risk.ts";
import { createFigures } from "../../../figures/figures.ts";
import { keepFresh } from "../../../figures/kept.ts";
import { RISKS } from "../../../figures/risks.ts";
import { readMonthSheet } from "../../../payments/month-sheet.ts";
import { printMonthSheet, printSheetCsv } from "../../../payments/print-sheet.ts";
import type { PartsOf } from "../console-parts.ts";
import { createGuard } from "../guard.ts";
import { id, oneOf, time, usd } from "../shapes.ts";
import { csvHeaders } from "../text-stream.ts";
import { creditSource, month } from "../wallet/shapes.ts";
import { sheetShape } from "../wallet/sheet-shapes.ts";

type Parts = PartsOf<"ledger" | "settings">;

const riskKind = oneOf(RISKS);

const figures = t.Object({
  at: time,
  revenue: t.Object({
    monthly_usd: t.String({ description: "prices of the active subscriptions, as of a month" }),
    plans: t.Array(
      t.Object({
        plan: t.String(),
        name: t.String(),
        active: t.Integer(),
        paused: t.Integer(),
        cancelling: t.Integer({ description: "of the active ones, those that end with their period" }),
        monthly_usd: usd,
      }),
    ),
    months: t.Array(
      t.Object({ month, monthly_usd: t.String({ description: "at its beginning, at present terms" }) }),
    ),
  }),
  credit: t.Array(
    t.Object({
      month,
      granted_usd: usd,
      expired_usd: usd,
      sources: t.Array(t.Object({ source: creditSource, granted_usd: usd, expired_usd: usd })),
    }),
  ),
  margins: t.Array(
    t.Object({
      plan: t.Nullable(t.String({ description: "null: accounts without a plan" })),
      accounts: t.Nullable(t.Integer()),
      requests: t.Integer(),
      charged_usd: t.String({ description: "charges less refunds of the running UTC month" }),
      costed_usd: t.String({ description: "of those whose upstream cost is known" }),
      upstream_cost_usd: usd,
      margin_usd: usd,
    }),
  ),
});

const atRisk = t.Object({
  at: time,
  total: t.Integer(),
  counts: t.Array(t.Object({ kind: riskKind, count: t.Integer() })),
  items: t.Array(
    t.Object({
      account_id: id,
      account_name: t.String(),
      plan: t.Nullable(t.Object({ id: t.String(), name: t.String(), price_usd: t.Nullable(usd) })),
      next_at: t.Nullable(t.String({ description: "when the next period begins, or the subscription ends" })),
      path: t.String({ description: "of the account's wallet in the console" }),
      risks: t.Array(t.Object({ kind: riskKind, text: t.String({ description: "why, in one sentence" }) })),
    }),
  ),
});

const SHOWN = 100;
const sheetPath = t.Object({ id, month });

/** Figures of the whole platform, and statements of accounts, for operators. */
export function operatorFiguresRoutes(parts: Parts) {
  const { database, now } = parts;
  const readFigures = keepFresh(createFigures(parts).read, now);
  const readRisks = keepFresh(() => findAtRisk(parts), now);
  return new Elysia()
    .use(createGuard(parts, "Operators"))
    .get("/operator/figures", () => readFigures(), {
      summary: "Read recurring revenue, granted and expired credit, and margins of plans",
      needsOperator: true,
      response: figures,
    })
    .get(
      "/operator/accounts-at-risk",
      async ({ query: { kind, size = SHOWN } }) =>
        printAtRisk(await chooseAtRisk(database, await readRisks(), { kind, size })),
      {
        summary: "List accounts at risk, the most urgent first, each with the reasons",
        needsOperator: true,
        query: t.Object({
          kind: t.Optional(riskKind),
          size: t.Optional(t.Integer({ minimum: 1, maximum: 500 })),
        }),
        response: atRisk,
      },
    )
    .get("/operator/accounts/:id/statements/:month", ({ params }) => readSheet(parts, params), {
      summary: "Read the statement of an account's month as one page",
      needsOperator: true,
      params: sheetPath,
      response: sheetShape,
    })
    .get(
      "/operator/accounts/:id/statements/:month/csv",
      async ({ params }) => {
        const headers = csvHeaders(`statement-${params.month}-sheet`);
        return new Response(printSheetCsv(await readSheet(parts, params)), { headers });
      },
      { summary: "Export the statement of an account's month", needsOperator: true, params: sheetPath },
    );
}

async function readSheet(parts: Parts, { id: accountId, month: name }: typeof sheetPath.static) {
  const account = await findAccount(parts.database, accountId);
  if (account?.id !== accountId) throw new GatewayError("unknown_item");
  const sheet = await readMonthSheet(parts, { account, month: readMonth(name) });
  return printMonthSheet(sheet, { account, company: parts.settings.company });
}
