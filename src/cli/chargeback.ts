import type { Account } from "../accounts/accounts.ts";
import { type Cell, printCsv } from "../domain/csv.ts";
import type { Month } from "../domain/month.ts";
import {
  CHARGEBACK_COLUMNS,
  type ChargebackKind,
  chargebackRows,
  printChargeback,
  readChargeback,
} from "../payments/chargeback.ts";
import type { CommandResult } from "./command.ts";
import { printTable } from "./printing.ts";
import type { Storage } from "./storage.ts";

interface SplitStatement {
  readonly accounts: readonly Account[];
  readonly month: Month;
  readonly by: ChargebackKind;
  readonly csv: boolean;
  readonly nowMs: number;
}

/** Shows the statements of a month, split by project, member or key. */
export async function showChargeback(
  storage: Storage,
  { accounts, month, by, csv, nowMs }: SplitStatement,
): Promise<CommandResult> {
  const statements = [];
  // One after the other: a month may have millions of transfers.
  for (const account of accounts) {
    const printed = printChargeback(await readChargeback(storage, { account, month, by }), nowMs);
    const { month: _, is_running: __, by: ___, ...sums } = printed;
    statements.push({ account_id: account.id, account: account.name, ...sums });
  }
  const is_running = nowMs < month.toMs;
  const json = { month: month.name, is_running, by, accounts: statements };
  const rows = statements.flatMap((each) =>
    chargebackRows(each).map((cells): readonly Cell[] => [each.account_id, each.account, ...cells]),
  );
  const titles = ["account_id", "account", ...CHARGEBACK_COLUMNS];
  if (csv) return { json, text: printCsv(titles, rows).trimEnd() };
  const running = is_running ? "\nThe month is not over: its closing is that of now." : "";
  const heads = titles.slice(1).map((title) => title.replaceAll("_", " ").toUpperCase());
  const table = rows.map((cells) => cells.slice(1).map((cell) => String(cell ?? "-")));
  return { json, text: `${printTable(heads, table)}${running}` };
}
