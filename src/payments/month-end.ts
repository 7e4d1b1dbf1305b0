import type { Nanos } from "../domain/money.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { TransferKindName } from "../ledger/records.ts";
import { type Month, openStatement } from "./statement.ts";

/** The sums of a wallet's month: `closing` = `opening` + `toppedUp` − `charged` + `refunded` + `other`. */
export interface MonthEnd {
  readonly opening: Nanos;
  readonly toppedUp: Nanos;
  /** Settlements, captures of expired holds, late settlements and charges. */
  readonly charged: Nanos;
  readonly refunded: Nanos;
  /** Transfers of every other kind. */
  readonly other: Nanos;
  readonly closing: Nanos;
  readonly transfers: number;
}

type Sum = "toppedUp" | "charged" | "refunded" | "other";

const SUMS: Readonly<Partial<Record<TransferKindName, Sum>>> = {
  top_up: "toppedUp",
  settlement: "charged",
  expiry_capture: "charged",
  late_settlement: "charged",
  charge: "charged",
  refund: "refunded",
};

/** Sums up the statement of a month. Reads every transfer of it, a page at a time. */
export async function sumMonth(
  ledger: Pick<Ledger, "transfers">,
  walletId: string,
  month: Month,
): Promise<MonthEnd> {
  const { opening, lines } = await openStatement(ledger, walletId, month);
  const sums: Record<Sum, Nanos> = { toppedUp: 0n, charged: 0n, refunded: 0n, other: 0n };
  let closing = opening;
  let transfers = 0;
  for await (const { line, balance } of lines()) {
    const sum = SUMS[line.kind] ?? "other";
    sums[sum] += sum === "charged" ? -line.amount : line.amount;
    closing = balance;
    transfers += 1;
  }
  return { opening, ...sums, closing, transfers };
}

/** Adds months of several wallets. */
export function addMonths(months: readonly MonthEnd[]): MonthEnd {
  const add = (value: (month: MonthEnd) => Nanos) => months.reduce((sum, month) => sum + value(month), 0n);
  return {
    opening: add(({ opening }) => opening),
    toppedUp: add(({ toppedUp }) => toppedUp),
    charged: add(({ charged }) => charged),
    refunded: add(({ refunded }) => refunded),
    other: add(({ other }) => other),
    closing: add(({ closing }) => closing),
    transfers: months.reduce((sum, { transfers }) => sum + transfers, 0),
  };
}
