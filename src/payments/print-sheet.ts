// The statement of a month as one page, in JSON and as CSV.
import type { BillingDetails, Company } from "../domain/company.ts";
import { type Cell, printCsv } from "../domain/csv.ts";
import { printTime } from "../domain/id-time.ts";
import { type Nanos, printUsd } from "../domain/money.ts";
import type { ChargebackLine } from "./chargeback.ts";
import { type MonthSheet, type SourceSum, sumOf } from "./month-sheet.ts";

/** Whom a statement is from and for. */
interface SheetParties {
  readonly account: {
    readonly id: string;
    readonly name: string;
    readonly email?: string | undefined;
    readonly billing?: BillingDetails | undefined;
  };
  /** `undefined` where the operator has not configured it. */
  readonly company: Company | undefined;
}

/** Converts the statement of a month to JSON, for the console and the command line. */
export function printMonthSheet(sheet: MonthSheet, { account, company }: SheetParties) {
  const { month, granted, expired, projects, keys, moves } = sheet;
  return {
    month: month.name,
    is_running: sheet.isRunning,
    from: printTime(month.fromMs),
    to: printTime(sheet.toMs),
    time_zone: "UTC",
    company: company
      ? { name: company.name, address: company.address ?? null, tax_id: company.taxId ?? null }
      : null,
    account: { id: account.id, name: account.name, email: account.email ?? null },
    customer: {
      name: account.billing?.name ?? account.name,
      address: account.billing?.address ?? null,
      tax_id: account.billing?.taxId ?? null,
    },
    opening_usd: printUsd(sheet.opening),
    granted: granted.map(printSource),
    granted_usd: printUsd(sumOf(granted, amountOf)),
    returned_usd: printUsd(sheet.returned),
    charged_usd: printUsd(sheet.charged),
    refunded_usd: printUsd(sheet.refunded),
    expired: expired.map(printSource),
    expired_usd: printUsd(sumOf(expired, amountOf)),
    reversed_usd: printUsd(sheet.reversed),
    corrected_usd: printUsd(sheet.corrected),
    closing_usd: printUsd(sheet.closing),
    transfers: sheet.transfers,
    projects: projects.map(printLine),
    keys: keys.map(printLine),
    moves: moves.map(({ kind, line, reason }) => ({
      at: printTime(line.createdAtMs),
      kind,
      id: line.transferId,
      amount_usd: printUsd(line.amount),
      reason,
    })),
  };
}

export type PrintedSheet = ReturnType<typeof printMonthSheet>;

const amountOf = ({ amount }: { readonly amount: Nanos }) => amount;

function printSource({ source, amount, transfers }: SourceSum) {
  return { source, amount_usd: printUsd(amount), transfers };
}

function printLine({ kind, id, name, charged, refunded }: ChargebackLine) {
  return {
    kind,
    id: id ?? null,
    name: name ?? null,
    charged_usd: printUsd(charged),
    refunded_usd: printUsd(refunded),
  };
}

const SHEET_COLUMNS = ["kind", "id", "name", "amount_usd", "transfers"] as const;

/** The rows whose amounts lead from the opening to the closing balance. */
export function sheetChanges(sheet: PrintedSheet): readonly (readonly Cell[])[] {
  const sum = (kind: string, usd: string) => (usd === "0.00" ? [] : [[kind, "", "", usd, ""]]);
  return [
    ...sheet.granted.map((each) => ["granted", each.source, "", each.amount_usd, each.transfers]),
    ...sum("returned", sheet.returned_usd),
    ["charged", "", "", negate(sheet.charged_usd), ""],
    ...sum("refunded", sheet.refunded_usd),
    ...sheet.expired.map((each) => ["expired", each.source, "", negate(each.amount_usd), each.transfers]),
    ...sum("reversed", negate(sheet.reversed_usd)),
    ...sum("corrected", negate(sheet.corrected_usd)),
  ];
}

/** Prints an amount with the other sign. */
function negate(usd: string): string {
  if (/^-?[0.]+$/.test(usd)) return usd;
  return usd.startsWith("-") ? usd.slice(1) : `-${usd}`;
}

/**
 * Prints the statement of a month as CSV: whom it is from and for, the rows from opening to closing, and then what the
 * charges were for and why money was taken off.
 */
export function printSheetCsv(sheet: PrintedSheet): string {
  const { account, company, customer } = sheet;
  const text = (kind: string, id: string, name: string): readonly Cell[] => [kind, id, name, "", ""];
  const balance = (kind: string, usd: string): readonly Cell[] => [kind, "", "", usd, ""];
  return printCsv(SHEET_COLUMNS, [
    ...(company ? [text("company", company.tax_id ?? "", company.name)] : []),
    ...(company?.address ? [text("company_address", "", company.address)] : []),
    text("account", account.id, account.name),
    text("customer", customer.tax_id ?? "", customer.name),
    ...(customer.address ? [text("customer_address", "", customer.address)] : []),
    text("period", sheet.month, `${sheet.from} to ${sheet.to} ${sheet.time_zone}`),
    balance("opening", sheet.opening_usd),
    ...sheetChanges(sheet),
    balance("closing", sheet.closing_usd),
    ...partRows("project", sheet.projects),
    ...partRows("key", sheet.keys),
    ...sheet.moves.map(({ kind, id, amount_usd, reason }): readonly Cell[] => [
      kind,
      id,
      reason,
      amount_usd,
      "",
    ]),
  ]);
}

/** What parts of the charges and refunds were for. A part without an id is named by what it is. */
function partRows(by: "project" | "key", lines: PrintedSheet["projects"]): readonly (readonly Cell[])[] {
  return lines.flatMap(({ kind, id, name, charged_usd: charged, refunded_usd: refunded }) => {
    const who = [id ?? "", name ?? (id === null ? kind : "")];
    return [
      ...(charged === "0.00" ? [] : [[`charged_by_${by}`, ...who, negate(charged), ""]]),
      ...(refunded === "0.00" ? [] : [[`refunded_by_${by}`, ...who, refunded, ""]]),
    ];
  });
}
