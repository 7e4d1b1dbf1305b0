import { Elysia, t } from "elysia";
import type { Account } from "../../../accounts/accounts.ts";
import { printUsd } from "../../../domain/money.ts";
import { type Month, readMonth } from "../../../domain/month.ts";
import { printChargeback, printChargebackCsv, readChargeback } from "../../../payments/chargeback.ts";
import { readMonthSheet } from "../../../payments/month-sheet.ts";
import { printMonthSheet, printSheetCsv } from "../../../payments/print-sheet.ts";
import { listMonths, type MonthSummary } from "../../../payments/statement.ts";
import { readStatementDigest, statementLines } from "../../../payments/statement-digest.ts";
import type { PartsOf } from "../console-parts.ts";
import { createGuard } from "../guard.ts";
import { csvHeaders, streamText } from "../text-stream.ts";
import { chargebackBy, chargebackShape, month, statementsShape } from "./shapes.ts";
import { digestShape, sheetShape } from "./sheet-shapes.ts";

type Parts = PartsOf<"ledger" | "settings">;

/** The statements of a wallet by month, whole or split by project, member or key. */
export function statementRoutes(parts: Parts) {
  const { ledger, now } = parts;
  return new Elysia({ prefix: "/accounts/:account/wallet" })
    .use(createGuard(parts, "Wallet"))
    .get(
      "/statements",
      async ({ account }) => ({
        items: (await listMonths(ledger, account.id, now())).map(printMonth),
      }),
      { summary: "List the months that have a statement", needs: "wallet.read", response: statementsShape },
    )
    .get(
      "/statements/:month",
      async ({ account, params, query: { by = "project" } }) => {
        const wanted = { account, month: readMonth(params.month), by };
        return printChargeback(await readChargeback(parts, wanted), now());
      },
      {
        summary: "Read the statement of a month, split by project, member or key",
        needs: "wallet.read",
        params: t.Object({ account: t.String(), month }),
        query: t.Object({ by: t.Optional(chargebackBy) }),
        response: chargebackShape,
      },
    )
    .get(
      "/statements/:month/sheet",
      ({ account, params }) => readSheet(parts, account, readMonth(params.month)),
      {
        summary: "Read the statement of a month as one page",
        needs: "wallet.read",
        params: t.Object({ account: t.String(), month }),
        response: sheetShape,
      },
    )
    .get(
      "/statements/:month/digest",
      async ({ account, params }) => ({
        digest: (await readStatementDigest(parts, account.id, readMonth(params.month))) ?? null,
      }),
      {
        summary: "Add up the transfers of a past month, and name the digest of their file",
        needs: "wallet.read",
        params: t.Object({ account: t.String(), month }),
        response: digestShape,
      },
    )
    .get(
      "/statement.csv",
      async ({ account, query, query: { by, sheet } }) => {
        const chosen = readMonth(query.month);
        if (by) {
          const split = await readChargeback(parts, { account, month: chosen, by });
          const headers = csvHeaders(`statement-${chosen.name}-by-${by}`);
          return new Response(printChargebackCsv(printChargeback(split, now())), { headers });
        }
        if (sheet) {
          const printed = await readSheet(parts, account, chosen);
          return new Response(printSheetCsv(printed), {
            headers: csvHeaders(`statement-${chosen.name}-sheet`),
          });
        }
        const csv = await statementLines(parts, account.id, chosen);
        return streamText(csv, csvHeaders(`statement-${chosen.name}`));
      },
      {
        summary: "Export the statement of a month: its transfers, split, or its sums on one page",
        needs: "wallet.read",
        query: t.Object({ month, by: t.Optional(chargebackBy), sheet: t.Optional(t.Boolean()) }),
      },
    );
}

async function readSheet(parts: Parts, account: Account, chosen: Month) {
  const sheet = await readMonthSheet(parts, { account, month: chosen });
  return printMonthSheet(sheet, { account, company: parts.settings.company });
}

function printMonth({ month: name, opening, closing, lines }: MonthSummary) {
  return { month: name, opening_usd: printUsd(opening), closing_usd: printUsd(closing), lines };
}
