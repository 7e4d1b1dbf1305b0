import type { Account } from "../accounts/accounts.ts";
import { loadCompany } from "../config/config.ts";
import type { Company } from "../domain/company.ts";
import type { Month } from "../domain/month.ts";
import { readMonthSheet } from "../payments/month-sheet.ts";
import { type PrintedSheet, printMonthSheet, printSheetCsv, sheetChanges } from "../payments/print-sheet.ts";
import { readStatementDigest, type StatementDigest } from "../payments/statement-digest.ts";
import type { CommandResult } from "./command.ts";
import { printTable } from "./printing.ts";
import type { Storage } from "./storage.ts";

interface SheetOptions {
  readonly account: Account;
  readonly month: Month;
  readonly csv: boolean;
  readonly now: () => number;
}

/** Shows the statement of an account's month as one page, with the digest of its transfers. */
export async function showSheet(
  storage: Storage,
  { account, month, csv, now }: SheetOptions,
  company: Company | undefined = loadCompany(),
): Promise<CommandResult> {
  const parts = { ...storage, now };
  const sheet = printMonthSheet(await readMonthSheet(parts, { account, month }), { account, company });
  const digest = await readStatementDigest(parts, account.id, month);
  const json = { ...sheet, digest: digest ?? null };
  return { json, text: csv ? printSheetCsv(sheet).trimEnd() : printText(sheet, digest) };
}

function printText(sheet: PrintedSheet, digest: StatementDigest | undefined): string {
  const { account, company, customer } = sheet;
  const parties = [
    ...(company ? [["From:", company.name, company.address, company.tax_id]] : []),
    ["For:", customer.name, customer.address, customer.tax_id],
  ];
  const changes = sheetChanges(sheet).map(([kind, source, , amount]) => [
    [kind, source].filter(Boolean).join(" "),
    String(amount),
  ]);
  const rows = [["opening", sheet.opening_usd], ...changes, ["closing", sheet.closing_usd]];
  return [
    `Statement of ${sheet.month} (${sheet.time_zone}) for account ${account.name} (${account.id})`,
    ...parties.map((lines) => lines.filter(Boolean).join("\n")),
    printTable(["", "USD"], rows),
    ...printParts("PROJECT", sheet.projects),
    ...printParts("KEY", sheet.keys),
    ...printMoves(sheet),
    digest
      ? `SHA-256 of the file of its ${digest.transfers} transfers: ${digest.sha256}`
      : "The month is not over: its closing is that of now.",
  ].join("\n\n");
}

function printParts(title: string, lines: PrintedSheet["projects"]): readonly string[] {
  if (lines.length === 0) return [];
  const rows = lines.map((line) => [
    line.name ?? line.kind,
    line.id ?? "-",
    line.charged_usd,
    line.refunded_usd,
  ]);
  return [printTable([title, "ID", "CHARGED USD", "REFUNDED USD"], rows)];
}

function printMoves({ moves }: PrintedSheet): readonly string[] {
  if (moves.length === 0) return [];
  const rows = moves.map(({ at, kind, id, amount_usd, reason }) => [at, kind, id, amount_usd, reason]);
  return [printTable(["TIME", "KIND", "ID", "USD", "REASON"], rows)];
}
