import { Elysia, t } from "elysia";
import { printUsd } from "../../../domain/money.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { printChargeback, printChargebackCsv, readChargeback } from "../../../payments/chargeback.ts";
import {
  listMonths,
  type MonthSummary,
  openStatement,
  printStatement,
  readMonth,
} from "../../../payments/statement.ts";
import { findReasons } from "../../../payments/transfer-notes.ts";
import { createGuard, type GuardParts } from "../guard.ts";
import { csvHeaders, streamText } from "../text-stream.ts";
import { chargebackBy, chargebackShape, month, statementsShape } from "./shapes.ts";

interface Parts extends GuardParts {
  readonly ledger: Ledger;
}

/** The statements of a wallet by month, whole or split by project, member or key. */
export function statementRoutes(parts: Parts) {
  const { database, ledger, now } = parts;
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
      "/statement.csv",
      async ({ account, query, query: { by } }) => {
        const chosen = readMonth(query.month);
        if (by) {
          const split = await readChargeback(parts, { account, month: chosen, by });
          const headers = csvHeaders(`statement-${chosen.name}-by-${by}`);
          return new Response(printChargebackCsv(printChargeback(split, now())), { headers });
        }
        const statement = await openStatement(ledger, account.id, chosen);
        const reasonOf = async (id: string) => (await findReasons(database, account.id, [id])).get(id);
        const csv = printStatement(chosen, statement, { nowMs: now(), reasonOf });
        return streamText(csv, csvHeaders(`statement-${chosen.name}`));
      },
      {
        summary: "Export the statement of a month, whole or split",
        needs: "wallet.read",
        query: t.Object({ month, by: t.Optional(chargebackBy) }),
      },
    );
}

function printMonth({ month: name, opening, closing, lines }: MonthSummary) {
  return { month: name, opening_usd: printUsd(opening), closing_usd: printUsd(closing), lines };
}
