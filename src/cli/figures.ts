import { chooseAtRisk, findAtRisk, printAtRisk } from "../figures/at-risk.ts";
import { createFigures } from "../figures/figures.ts";
import type { CommandResult } from "./command.ts";
import { printTable } from "./printing.ts";
import type { Storage } from "./storage.ts";

/** Accounts at risk that are shown. */
const SHOWN_MAX = 20;

/** Shows recurring revenue, granted and expired credit, margins of plans, and accounts at risk. */
export async function runFigures(
  storage: Storage,
  _options: object = {},
  now: () => number = Date.now,
): Promise<CommandResult> {
  const parts = { ...storage, now };
  const figures = await createFigures(parts).read();
  const chosen = await chooseAtRisk(storage.database, await findAtRisk(parts), { size: SHOWN_MAX });
  const risks = printAtRisk(chosen);
  const { revenue, credit, margins } = figures;
  return {
    json: { ...figures, at_risk: risks },
    text: [
      `Recurring revenue: ${revenue.monthly_usd} USD a month`,
      printTable(
        ["PLAN", "ACTIVE", "PAUSED", "ENDING", "USD A MONTH"],
        revenue.plans.map((each) => [
          each.plan,
          String(each.active),
          String(each.paused),
          String(each.cancelling),
          each.monthly_usd,
        ]),
      ),
      printTable(
        ["MONTH", "REVENUE AT ITS BEGIN", "GRANTED USD", "EXPIRED USD"],
        credit.map(({ month, granted_usd, expired_usd }) => [
          month,
          revenue.months.find((each) => each.month === month)?.monthly_usd ?? "-",
          granted_usd,
          expired_usd,
        ]),
      ),
      printTable(
        ["PLAN", "ACCOUNTS", "CHARGED USD", "OF KNOWN COST USD", "UPSTREAM USD", "MARGIN USD"],
        margins.map((each) => [
          each.plan ?? "without a plan",
          String(each.accounts ?? "-"),
          each.charged_usd,
          each.costed_usd,
          each.upstream_cost_usd,
          each.margin_usd,
        ]),
      ),
      `${risks.total} accounts at risk`,
      ...risks.items.map(({ account_name, risks: reasons }) =>
        [account_name, ...reasons.map(({ text }) => `  ${text}`)].join("\n"),
      ),
    ].join("\n\n"),
  };
}
