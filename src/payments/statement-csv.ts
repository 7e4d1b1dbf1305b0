import { printCsvRow } from "../domain/csv.ts";
import { type Nanos, printUsd } from "../domain/money.ts";
import { printTime } from "../time.ts";
import type { Month, Statement, StatementLine } from "./statement.ts";

const TITLES = ["time", "kind", "id", "request_id", "amount_usd", "balance_usd", "reason"];

interface StatementOptions {
  readonly nowMs: number;
  /** The reason of a correction. */
  reasonOf(id: string): Promise<string | undefined>;
}

/**
 * Prints a statement as CSV, a piece per line: the opening balance, every transfer, the closing balance. The
 * amounts sum to closing − opening. A file without a closing line is incomplete.
 */
export async function* printStatement(
  month: Month,
  { opening, lines }: Statement,
  { nowMs, reasonOf }: StatementOptions,
): AsyncGenerator<string> {
  yield printCsvRow(TITLES) + printBalance("opening", month.fromMs, opening);
  let closing = opening;
  let lastMs = nowMs;
  for await (const line of lines()) {
    closing = line.balance;
    lastMs = Math.max(lastMs, line.line.createdAtMs);
    yield printLine(line, line.line.kind === "correction" ? await reasonOf(line.line.transferId) : undefined);
  }
  // A running month closes now; a line of another process's clock may be later.
  yield printBalance("closing", Math.min(month.toMs - 1, lastMs), closing);
}

function printBalance(kind: "opening" | "closing", atMs: number, balance: Nanos): string {
  return printCsvRow([printTime(atMs), kind, "", "", "", printUsd(balance), ""]);
}

function printLine({ line, balance }: StatementLine, reason = ""): string {
  const { createdAtMs, kind, transferId, holdId, amount } = line;
  const amounts = [printUsd(amount), printUsd(balance)];
  return printCsvRow([printTime(createdAtMs), kind, transferId, holdId ?? "", ...amounts, reason]);
}
