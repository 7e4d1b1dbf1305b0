import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseUsd } from "../../src/domain/money.ts";
import { readMonth } from "../../src/domain/month.ts";
import type { JournalLine } from "../../src/ledger/records.ts";
import { type MonthSheet, readMonthSheet } from "../../src/payments/month-sheet.ts";
import { printMonthSheet, printSheetCsv } from "../../src/payments/print-sheet.ts";
import { listMonths } from "../../src/payments/statement.ts";
import { readStatementDigest, statementLines } from "../../src/payments/statement-digest.ts";
import { DIALECTS, storageForTests } from "../accounts/temp-storage.ts";
import { MoneyHistory, step } from "./money-history.ts";

const DAY_MS = 86_400_000;
const COMPANY = { name: "Example, Inc.", address: "1 Main St\nSpringfield", taxId: "XX 123" };

describe.each(DIALECTS)("the statement of a month as one page in %s", (dialect) => {
  const storage = storageForTests(dialect);
  const startHistory = async () => new MoneyHistory(storage, await storage.newAccount());

  /** Every transfer with what it was for, by the history alone: "granted plan", "charged p1 k2" and so on. */
  async function describeTransfers({ account, sources, reversals, projectOf, keyOf }: MoneyHistory) {
    const { items } = await storage.ledger.transfers(account.id, { size: 1_000 });
    const bySeq = new Map(items.map((line) => [line.seq, line]));
    const placeOf = ({ kind, transferId, holdId = "" }: JournalLine): string => {
      if (kind === "top_up")
        return transferId.endsWith(":returned") ? "returned" : `granted ${sources.get(transferId)}`;
      if (kind === "correction") return reversals.has(transferId) ? "reversed" : "corrected";
      if (kind === "credit_expiry") {
        const grant = bySeq.get(Number(transferId.split("-")[1]));
        const source = grant?.kind === "refund" ? "refund" : sources.get(grant?.transferId ?? "");
        return `expired ${source ?? "purchase"}`;
      }
      const what = kind === "refund" ? "refunded" : "charged";
      return `${what} ${projectOf.get(holdId)} ${keyOf.get(holdId)}`;
    };
    return items.map((line) => ({ line, place: placeOf(line) }));
  }

  /** Every sum that a statement must show, from the transfers of its month. */
  function reckon(transfers: Awaited<ReturnType<typeof describeTransfers>>, fromMs: number, toMs: number) {
    const sums = new Map<string, bigint>();
    const add = (name: string, amount: bigint) => sums.set(name, (sums.get(name) ?? 0n) + amount);
    for (const { line, place } of transfers) {
      if (line.createdAtMs < toMs) add("closing", line.amount);
      if (line.createdAtMs < fromMs) add("opening", line.amount);
      if (line.createdAtMs < fromMs || line.createdAtMs >= toMs) continue;
      const [what = "", project = "", key = ""] = place.split(" ");
      const isOfRequest = what === "charged" || what === "refunded";
      add(isOfRequest ? what : place, line.amount);
      if (isOfRequest) add(`${what} project ${project}`, line.amount);
      if (isOfRequest) add(`${what} key ${key}`, line.amount);
    }
    return sums;
  }

  function sumsIn(sheet: MonthSheet): Map<string, bigint> {
    const parts = [...sheet.projects, ...sheet.keys].flatMap(({ kind, id, charged, refunded }) => [
      [`charged ${kind} ${id}`, -charged] as const,
      [`refunded ${kind} ${id}`, refunded] as const,
    ]);
    return new Map<string, bigint>([
      ["opening", sheet.opening],
      ["closing", sheet.closing],
      ...sheet.granted.map(({ source, amount }) => [`granted ${source}`, amount] as const),
      ...sheet.expired.map(({ source, amount }) => [`expired ${source}`, -amount] as const),
      ["charged", -sheet.charged],
      ["refunded", sheet.refunded],
      ["reversed", -sheet.reversed],
      ["returned", sheet.returned],
      ["corrected", -sheet.corrected],
      ...parts,
    ]);
  }

  const withoutZeros = (sums: Map<string, bigint>) =>
    [...sums].filter(([, amount]) => amount !== 0n).toSorted(([one], [other]) => (one < other ? -1 : 1));

  async function checkMonths(history: MoneyHistory): Promise<void> {
    const { account } = history;
    const transfers = await describeTransfers(history);
    for (const { month: name, opening, closing } of await listMonths(
      storage.ledger,
      account.id,
      storage.now(),
    )) {
      const month = readMonth(name);
      const sheet = await readMonthSheet(storage, { account, month });
      expect(sheet).toMatchObject({ opening, closing });
      expect(withoutZeros(sumsIn(sheet))).toEqual(withoutZeros(reckon(transfers, month.fromMs, month.toMs)));
      checkCsv(sheet, account);
    }
  }

  /** The rows between opening and closing sum to the difference; the parts to the charges, by project and by key. */
  function checkCsv(sheet: MonthSheet, account: { readonly id: string; readonly name: string }): void {
    const csv = printSheetCsv(printMonthSheet(sheet, { account, company: undefined }));
    const rows = csv.split("\r\n").map((row) => row.replaceAll(/"[^"]*"/g, "text").split(","));
    const at = (kind: string) => rows.findIndex(([first]) => first === kind);
    const usd = (row: readonly string[] | undefined) => {
      const text = row?.[3] || "0";
      return text.startsWith("-") ? -parseUsd(text.slice(1)) : parseUsd(text);
    };
    const sum = (some: readonly string[][]) => some.reduce((total, row) => total + usd(row), 0n);
    const changes = rows.slice(at("opening") + 1, at("closing"));
    expect(usd(rows[at("opening")]) + sum(changes)).toBe(usd(rows[at("closing")]));
    expect(usd(rows[at("closing")])).toBe(sheet.closing);
    const ofKind = (kind: string) => sum(rows.filter(([first]) => first === kind));
    for (const by of ["project", "key"]) {
      expect(ofKind(`charged_by_${by}`)).toBe(-sheet.charged);
      expect(ofKind(`refunded_by_${by}`)).toBe(sheet.refunded);
    }
    expect(ofKind("reversal")).toBe(-sheet.reversed);
    expect(ofKind("correction")).toBe(-sheet.corrected);
    expect(ofKind("return")).toBe(sheet.returned);
  }

  test("equals the transfers to the nano, over random histories", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), async (steps) => {
        const history = await startHistory();
        for (const each of steps) await history.run(each);
        await checkMonths(history);
      }),
      { numRuns: dialect === "sqlite" ? 25 : 6 },
    );
  });

  test("names whom it is from and for, and why money was taken off", async () => {
    const history = await startHistory();
    const { account } = history;
    await history.run({ kind: "top_up", pick: 1, amount: 5_000_000_000n, waitMs: 0 });
    await history.run({ kind: "request", pick: 4, amount: 7n, waitMs: 0 });
    await history.run({ kind: "reversal", pick: 0, amount: 2_000_000_000n, waitMs: 0 });
    const sheet = await readMonthSheet(storage, { account, month: readMonth("2026-06") });
    const printed = printMonthSheet(sheet, { account, company: COMPANY });
    expect(printed).toMatchObject({
      is_running: true,
      from: "2026-06-01T00:00:00.000Z",
      company: { name: "Example, Inc.", tax_id: "XX 123" },
      granted: [{ source: "plan", amount_usd: "5.00", transfers: 1 }],
      reversed_usd: "2.00",
      closing_usd: "2.999999993",
      projects: [{ kind: "project", id: "p2", charged_usd: "0.000000007" }],
      keys: [{ kind: "key", id: "k0" }],
      moves: [{ kind: "reversal", id: expect.stringMatching(/^dp_s3/), reason: "dispute of payment pi_1" }],
    });
    const csv = printSheetCsv(printed).split("\r\n");
    expect(csv[1]).toBe('company,XX 123,"Example, Inc.",,');
    expect(csv).toContain("opening,,,0.00,");
    expect(csv).toContain("granted,plan,,5.00,1");
    expect(csv).toContain("charged,,,-0.000000007,");
    expect(csv).toContain("charged_by_project,p2,,-0.000000007,");
    expect(csv.at(-2)).toEndWith(",dispute of payment pi_1,-2.00,");
  });

  test("has a file of its transfers, which names the credit that an end took", async () => {
    const history = await startHistory();
    const { account } = history;
    await history.run({ kind: "ending", pick: 0, amount: 100n, waitMs: 0 });
    await history.run({ kind: "top_up", pick: 3, amount: 1n, waitMs: DAY_MS });
    const month = readMonth("2026-06");
    const file = async () =>
      (await Array.fromAsync(await statementLines(storage, account.id, month))).join("");
    const row = (await file()).split("\r\n").find((each) => each.includes("credit_expiry"));
    expect(row).toEndWith("credit_expiry,expiry-1-2,,-0.0000001,0.00,s1");
    expect(await readStatementDigest(storage, account.id, month)).toBeUndefined();
    storage.clock.nowMs += 60 * DAY_MS;
    const sha256 = Bun.CryptoHasher.hash("sha256", await file(), "hex");
    const digest = await readStatementDigest(storage, account.id, month);
    expect(digest).toEqual({ sha256, transfers: 3, closing_usd: "0.000000001" });
  });

  test("of a past month is not changed by what follows", async () => {
    const history = await startHistory();
    const { account } = history;
    await history.run({ kind: "ending", pick: 3, amount: 100n, waitMs: 0 });
    await history.run({ kind: "request", pick: 3, amount: 30n, waitMs: 0 });
    await history.run({ kind: "top_up", pick: 3, amount: 1n, waitMs: 40 * DAY_MS });
    const read = () => readMonthSheet(storage, { account, month: readMonth("2026-06") });
    const first = await read();
    expect(first).toMatchObject({ isRunning: false, closing: 70n, expired: [] });
    await history.run({ kind: "refund", pick: 0, amount: 9n, waitMs: 0 });
    expect(await read()).toEqual(first);
  });
});
