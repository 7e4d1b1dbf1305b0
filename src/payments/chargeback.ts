import { findNames } from "../accounts/find-items.ts";
import { listProjects } from "../accounts/projects.ts";
import type { Database } from "../db/database.ts";
import { type Cell, printCsv } from "../domain/csv.ts";
import { DAY_MS } from "../domain/id-time.ts";
import { type Nanos, printUsd } from "../domain/money.ts";
import type { Month } from "../domain/month.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { TransferTotal, TransferTotalsQuery } from "../ledger/records.ts";
import { addTransfers, changeOf, NO_TRANSFERS, type TransferSums } from "./month-end.ts";
import { openStatement } from "./statement.ts";

/** What a statement can be split by. */
export type ChargebackKind = "project" | "member" | "key";

/**
 * What a line sums up: a project, member or key, receipts without one, receipts that are no longer kept, or what came
 * into the wallet, was taken off it or expired without a receipt.
 */
type LineKind = ChargebackKind | "none" | "dropped_receipts" | "wallet";

export interface ChargebackLine extends TransferSums {
  readonly kind: LineKind;
  readonly id: string | undefined;
  /** `undefined` for what is no project, member or key of the account. */
  readonly name: string | undefined;
}

/** The statement of a month, split. `closing` = `opening` and the changes of all lines, and that of the account. */
export interface Chargeback {
  readonly month: Month;
  readonly by: ChargebackKind;
  readonly opening: Nanos;
  readonly closing: Nanos;
  /** The dearest first; then receipts without a scope, dropped ones, and the wallet's own. */
  readonly lines: readonly ChargebackLine[];
  readonly total: TransferSums;
}

interface Parts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "transfers" | "transferTotals">;
}

interface ChargebackRequest {
  readonly account: { readonly id: string; readonly createdAtMs: number };
  readonly month: Month;
  readonly by: ChargebackKind;
}

/**
 * Splits the statement of a month. A transfer belongs to the month of its own time, and to the project, member or key of
 * its receipt: a refund or a late charge too. A project without a transfer has a line unless it is archived.
 */
export async function readChargeback(parts: Parts, request: ChargebackRequest): Promise<Chargeback> {
  return split(parts, { ...request, ...(await readSums(parts, request)) });
}

/** Splits the statement of a month by project and by key, and reads each receipt once for both. */
export async function readProjectsAndKeys(parts: Parts, request: Omit<ChargebackRequest, "by">) {
  const { opening, totals } = await readSums(parts, { ...request, by: "project", splitsKeys: true });
  const ofKeys = totals.map((total) => ({ ...total, scopeId: total.keyId }));
  const [byProject, byKey] = await Promise.all([
    split(parts, { ...request, by: "project", opening, totals }),
    split(parts, { ...request, by: "key", opening, totals: ofKeys }),
  ]);
  return { byProject, byKey };
}

async function readSums(
  { ledger }: Parts,
  { account, month, ...how }: ChargebackRequest & Pick<TransferTotalsQuery, "splitsKeys">,
): Promise<{ readonly opening: Nanos; readonly totals: readonly TransferTotal[] }> {
  const { opening } = await openStatement(ledger, account.id, month);
  const totals: TransferTotal[] = [];
  for (const range of splitMonth(month)) {
    totals.push(...(await ledger.transferTotals(account.id, { ...range, ...how })));
  }
  return { opening, totals };
}

async function split(
  { database }: Parts,
  { account, month, by, opening, totals }: ChargebackRequest & Awaited<ReturnType<typeof readSums>>,
): Promise<Chargeback> {
  const sums = new Map<string, Omit<ChargebackLine, "name">>();
  if (by === "project") {
    const projects = (await listProjects(database, account)).filter(
      ({ archivedAtMs }) => archivedAtMs === undefined,
    );
    for (const { id } of projects) sums.set(placeOf({ kind: by, id }), { kind: by, id, ...NO_TRANSFERS });
  }
  for (const each of totals) {
    const line = lineOf(each, by);
    const known = sums.get(placeOf(line)) ?? { ...line, ...NO_TRANSFERS };
    sums.set(placeOf(line), { ...known, ...addTransfers(known, each) });
  }
  const scopes = [...sums.values()].flatMap(({ id }) => (id === undefined ? [] : [{ kind: by, id }]));
  const names = await findNames(database, account.id, scopes);
  const lines = [...sums.values()]
    .map((line) => ({ ...line, name: line.id === undefined ? undefined : names.get(line.id) }))
    .toSorted(compareLines);
  const total = totals.reduce(addTransfers, NO_TRANSFERS);
  return { month, by, opening, closing: opening + changeOf(total), lines, total };
}

/** The time that one read of the ledger sums up, so that it ends within the time that a remote one has for it. */
const PIECE_MS = 5 * DAY_MS;

function splitMonth({ fromMs, toMs }: Month): readonly { readonly fromMs: number; readonly toMs: number }[] {
  const count = Math.ceil((toMs - fromMs) / PIECE_MS);
  return Array.from({ length: count }, (_, index) => ({
    fromMs: fromMs + index * PIECE_MS,
    toMs: Math.min(fromMs + (index + 1) * PIECE_MS, toMs),
  }));
}

type Place = Pick<ChargebackLine, "kind" | "id">;

const OF_WALLET: ReadonlySet<TransferTotal["kind"]> = new Set(["top_up", "correction", "credit_expiry"]);

function lineOf({ kind, scopeId, isDropped }: TransferTotal, by: ChargebackKind): Place {
  if (isDropped) return { kind: "dropped_receipts", id: undefined };
  if (scopeId !== undefined) return { kind: by, id: scopeId };
  const isOfWallet = OF_WALLET.has(kind);
  return { kind: isOfWallet ? "wallet" : "none", id: undefined };
}

function placeOf({ kind, id = "" }: Place): string {
  return `${kind} ${id}`;
}

const LAST: readonly LineKind[] = ["none", "dropped_receipts", "wallet"];

function compareLines(one: ChargebackLine, other: ChargebackLine): number {
  const rank = LAST.indexOf(one.kind) - LAST.indexOf(other.kind);
  const [change, more] = [changeOf(one), changeOf(other)];
  if (rank !== 0 || change === more) return rank || (placeOf(one) < placeOf(other) ? -1 : 1);
  return change < more ? -1 : 1;
}

/** Prints a split statement for the console and the command line. */
export function printChargeback({ month, by, opening, closing, lines, total }: Chargeback, nowMs: number) {
  return {
    month: month.name,
    is_running: nowMs < month.toMs,
    by,
    opening_usd: printUsd(opening),
    closing_usd: printUsd(closing),
    lines: lines.map((line) => ({
      kind: line.kind,
      id: line.id ?? null,
      name: line.name ?? null,
      ...printTransferSums(line),
    })),
    total: printTransferSums(total),
  };
}

type PrintedChargeback = ReturnType<typeof printChargeback>;

function printTransferSums(sums: TransferSums) {
  return {
    charged_usd: printUsd(sums.charged),
    refunded_usd: printUsd(sums.refunded),
    topped_up_usd: printUsd(sums.toppedUp),
    expired_usd: printUsd(sums.expired),
    other_usd: printUsd(sums.other),
    change_usd: printUsd(changeOf(sums)),
    transfers: sums.transfers,
  };
}

/** Returns the rows of a split statement: the opening balance, its lines, and the closing balance. */
export function chargebackRows(
  printed: Pick<PrintedChargeback, "opening_usd" | "lines" | "closing_usd">,
): readonly (readonly Cell[])[] {
  const balance = (kind: string, usd: string) => [kind, "", "", "", "", "", "", "", "", "", usd];
  return [
    balance("opening", printed.opening_usd),
    ...printed.lines.map((line) => [...Object.values(line), ""]),
    balance("closing", printed.closing_usd),
  ];
}

export const CHARGEBACK_COLUMNS = [
  "kind",
  "id",
  "name",
  "charged_usd",
  "refunded_usd",
  "topped_up_usd",
  "expired_usd",
  "other_usd",
  "change_usd",
  "transfers",
  "balance_usd",
] as const;

/** Prints a split statement as CSV. The changes sum to closing − opening. */
export function printChargebackCsv(printed: PrintedChargeback): string {
  return printCsv(CHARGEBACK_COLUMNS, chargebackRows(printed));
}
