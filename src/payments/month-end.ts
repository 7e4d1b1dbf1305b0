import type { Nanos } from "../domain/money.ts";
import type { Month } from "../domain/month.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { TransferKindName, TransferTotal } from "../ledger/records.ts";
import { openStatement } from "./statement.ts";

/** Sums of transfers by what they were for. */
export interface TransferSums {
  readonly toppedUp: Nanos;
  /** Settlements, captures of expired holds, late settlements and charges. */
  readonly charged: Nanos;
  readonly refunded: Nanos;
  /** What credits lost at their ends. */
  readonly expired: Nanos;
  /** Transfers of every other kind: corrections. */
  readonly other: Nanos;
  readonly transfers: number;
}

/** The sums of a wallet's month: `closing` = `opening` + `toppedUp` − `charged` + `refunded` − `expired` + `other`. */
export interface MonthEnd extends TransferSums {
  readonly opening: Nanos;
  readonly closing: Nanos;
}

export const NO_TRANSFERS: TransferSums = Object.freeze({
  toppedUp: 0n,
  charged: 0n,
  refunded: 0n,
  expired: 0n,
  other: 0n,
  transfers: 0,
});

type Sum = "toppedUp" | "charged" | "refunded" | "expired" | "other";

const SUMS: Readonly<Partial<Record<TransferKindName, Sum>>> = {
  top_up: "toppedUp",
  settlement: "charged",
  expiry_capture: "charged",
  late_settlement: "charged",
  charge: "charged",
  refund: "refunded",
  credit_expiry: "expired",
};

/** Sums up the statement of a month. Reads every transfer of it, a page at a time. */
export async function sumMonth(
  ledger: Pick<Ledger, "transfers">,
  walletId: string,
  month: Month,
): Promise<MonthEnd> {
  const { opening, lines } = await openStatement(ledger, walletId, month);
  let sums = NO_TRANSFERS;
  let closing = opening;
  for await (const { line, balance } of lines()) {
    sums = addTransfers(sums, { ...line, transfers: 1 });
    closing = balance;
  }
  return { opening, ...sums, closing };
}

/** Transfers of one kind: how many, and their change of the balance. */
type TransferCount = Pick<TransferTotal, "kind" | "amount" | "transfers">;

/** Adds transfers of one kind to sums. */
export function addTransfers(sums: TransferSums, { kind, amount, transfers }: TransferCount): TransferSums {
  const sum = SUMS[kind] ?? "other";
  const more = sum === "charged" || sum === "expired" ? -amount : amount;
  return { ...sums, [sum]: sums[sum] + more, transfers: sums.transfers + transfers };
}

/** What transfers changed of the balance. */
export function changeOf({ toppedUp, charged, refunded, expired, other }: TransferSums): Nanos {
  return toppedUp - charged + refunded - expired + other;
}

/** Adds months of several wallets. */
export function addMonths(months: readonly MonthEnd[]): MonthEnd {
  const add = (value: (month: MonthEnd) => Nanos) => months.reduce((sum, month) => sum + value(month), 0n);
  return {
    opening: add(({ opening }) => opening),
    toppedUp: add(({ toppedUp }) => toppedUp),
    charged: add(({ charged }) => charged),
    refunded: add(({ refunded }) => refunded),
    expired: add(({ expired }) => expired),
    other: add(({ other }) => other),
    closing: add(({ closing }) => closing),
    transfers: months.reduce((sum, { transfers }) => sum + transfers, 0),
  };
}
