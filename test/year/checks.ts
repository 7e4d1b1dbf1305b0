// What is compared when a month has ended.
import { expect } from "bun:test";
import { readMonth } from "../../src/domain/month.ts";
import { auditDatabase } from "../../src/ledger/audit/audit.ts";
import { listMonths, openStatement, printStatement } from "../../src/payments/statement.ts";
import { createNoteReader } from "../../src/payments/transfer-notes.ts";
import { findSubscription, listGrants } from "../../src/plans/reads.ts";
import type { TempStorage } from "../accounts/temp-storage.ts";
import type { AccountYear } from "./account-year.ts";
import { BilledReckoning } from "./billed-reckoning.ts";
import { checkSheet } from "./sheet-check.ts";
import type { ReckonedLine } from "./wallet-book.ts";

/** Compares each account's statements of some months, 0 for the running one. Returns how many statements there were. */
export async function checkStatements(
  storage: TempStorage,
  accounts: readonly AccountYear[],
  months: readonly [from: number, to: number],
): Promise<number> {
  const { ledger } = storage;
  let statements = 0;
  for (const account of accounts) {
    const { id } = account;
    const listed = await listMonths(ledger, id, storage.now());
    for (const { month: name, opening, closing, lines } of listed.slice(...months)) {
      const month = readMonth(name);
      const reckoned = account.book.lines.filter(({ atMs }) => atMs >= month.fromMs && atMs < month.toMs);
      const [before = 0n, after] = balancesOf(account, reckoned, month.fromMs);
      expect([id, name, opening, closing, lines]).toEqual([
        id,
        name,
        before,
        after ?? before,
        reckoned.length,
      ]);
      const statement = await openStatement(ledger, id, month);
      const noteOf = createNoteReader(storage, id);
      const printed: string[] = [];
      for await (const part of printStatement(month, statement, { nowMs: storage.now(), noteOf }))
        printed.push(...part.split("\r\n").filter((row) => row !== ""));
      const rows = reckoned.map((line) => rowOf(account, line));
      expect([id, name, printed.slice(2, -1)]).toEqual([id, name, rows]);
      await checkSheet(storage, account, month, reckoned);
      statements += 1;
    }
    const balances = await ledger.balances(id);
    const { posted, held } = account.book.money;
    expect([id, balances.posted, balances.held]).toEqual([id, posted, held]);
    expect([id, balances.available]).toEqual([id, account.book.availableAt(storage.now())]);
  }
  return statements;
}

/** Audits the ledger. */
export async function checkBooks({ database, now }: TempStorage): Promise<void> {
  const { findings } = await auditDatabase(database, now());
  expect(findings).toEqual([]);
}

function balancesOf(
  { book }: AccountYear,
  reckoned: readonly ReckonedLine[],
  fromMs: number,
): readonly [opening: bigint, closing: bigint | undefined] {
  const opening = book.lines.findLast(({ atMs }) => atMs < fromMs)?.balance ?? 0n;
  return [opening, reckoned.at(-1)?.balance];
}

/** A row of the file, printed apart from the program. */
function rowOf(account: AccountYear, { atMs, kind, id, holdId, amount, balance }: ReckonedLine): string {
  const time = new Date(atMs).toISOString();
  const cells = [time, kind, id, holdId ?? "", usd(amount), usd(balance), quoted(noteOn(account, id))];
  return cells.join(",");
}

/** The reason of a line, or of the end of a credit its id. */
function noteOn({ book, reasons }: AccountYear, id: string): string {
  const [, seq] = /^expiry-(\d+)-/.exec(id) ?? [];
  return seq === undefined ? (reasons.get(id) ?? "") : (book.lines[Number(seq) - 1]?.id ?? "");
}

function quoted(cell: string): string {
  return cell.includes(",") ? `"${cell}"` : cell;
}

function usd(nanos: bigint): string {
  const digits = String(nanos < 0n ? -nanos : nanos).padStart(10, "0");
  const cents = digits.slice(-9).replace(/0{1,7}$/, "");
  return `${nanos < 0n ? "-" : ""}${digits.slice(0, -9)}.${cents}`;
}

/** Compares the credits of each subscription: every period once, and none missing. */
export async function checkPeriods(
  { database }: TempStorage,
  accounts: readonly AccountYear[],
): Promise<void> {
  for (const { subscriptions } of accounts) {
    for (const { id, reckoning } of subscriptions) {
      const grants = await listGrants(database, id, 10_000);
      const shown = grants.map(({ id: grantId, amount, expiresAtMs, bookedAtMs }) => ({
        ...{ name: grantId.slice(`plan-${id}-`.length), amount, expiresAtMs },
        isBooked: bookedAtMs !== undefined,
      }));
      const expected = reckoning.credits.map((credit) => ({ ...credit, isBooked: true }));
      expect([id, sorted(shown)]).toEqual([id, sorted(expected)]);
      const { state, isCancelling } = (await findSubscription(database, id)) ?? {};
      if (reckoning instanceof BilledReckoning)
        expect([id, state, isCancelling]).toEqual([id, reckoning.state, reckoning.isCancelling]);
      else expect([id, state === "ended"]).toEqual([id, reckoning.isOver]);
    }
  }
}

function sorted<Item extends { readonly name: string }>(items: readonly Item[]): readonly Item[] {
  return items.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
