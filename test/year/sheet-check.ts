import { expect } from "bun:test";
import type { Month } from "../../src/domain/month.ts";
import { readMonthSheet } from "../../src/payments/month-sheet.ts";
import type { TempStorage } from "../accounts/temp-storage.ts";
import type { AccountYear } from "./account-year.ts";
import type { ReckonedLine } from "./wallet-book.ts";

const REVERSAL = /^(re|du)_|^reversal:/;
const RETURN = /:returned$/;

/** Compares the page of a month with its lines, summed up by what each was for. */
export async function checkSheet(
  storage: TempStorage,
  account: AccountYear,
  month: Month,
  lines: readonly ReckonedLine[],
): Promise<void> {
  const sheet = await readMonthSheet(storage, { account: { id: account.id, createdAtMs: 0 }, month });
  const granted = new Map<string, bigint>();
  const expired = new Map<string, bigint>();
  const sums = { charged: 0n, refunded: 0n, reversed: 0n, returned: 0n, corrected: 0n };
  for (const { kind, id, amount } of lines) {
    if (kind === "credit_expiry") add(expired, sourceOf(account, id), -amount);
    else if (kind === "refund") sums.refunded += amount;
    else if (kind === "correction") sums[REVERSAL.test(id) ? "reversed" : "corrected"] -= amount;
    else if (kind !== "top_up") sums.charged -= amount;
    else if (RETURN.test(id)) sums.returned += amount;
    else add(granted, account.sourceOf(id), amount);
  }
  const { charged, refunded, reversed, returned, corrected, transfers } = sheet;
  expect([account.id, month.name, { charged, refunded, reversed, returned, corrected }, transfers]).toEqual([
    ...[account.id, month.name],
    sums,
    lines.length,
  ]);
  const shown = (rows: typeof sheet.granted) => new Map(rows.map(({ source, amount }) => [source, amount]));
  expect([account.id, shown(sheet.granted), shown(sheet.expired)] as unknown[]).toEqual([
    account.id,
    granted,
    expired,
  ]);
}

/** The source of the credit whose end a line is. */
function sourceOf(account: AccountYear, expiryId: string): string {
  const seq = Number(expiryId.split("-")[1]);
  return account.sourceOf(account.book.lines[seq - 1]?.id ?? "");
}

function add(sums: Map<string, bigint>, source: string, amount: bigint): void {
  sums.set(source, (sums.get(source) ?? 0n) + amount);
}
