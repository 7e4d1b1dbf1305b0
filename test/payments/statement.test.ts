import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseUsd } from "../../src/domain/money.ts";
import { readMonth } from "../../src/domain/month.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { CLOCK_SLACK_MS } from "../../src/ledger/queries/transfers.ts";
import { listMonths, openStatement, printStatement } from "../../src/payments/statement.ts";
import { DIALECTS, storageForTests, type TempStorage } from "../accounts/temp-storage.ts";

const DAY_MS = 86_400_000;

/** What happens to a wallet: an amount, and how far the clock moves before it. */
interface Step {
  readonly kind: "top_up" | "request" | "refund" | "open";
  readonly amount: bigint;
  readonly waitMs: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom("top_up", "top_up", "request", "request", "refund", "open"),
  amount: fc.bigInt({ min: 1n, max: 9_000_000_000_123n }),
  // Clocks of replicas differ: time may go back by a day, and by two in all.
  waitMs: fc.oneof(
    fc.integer({ min: 0, max: 5_000 }),
    fc.integer({ min: -DAY_MS, max: DAY_MS }),
    fc.integer({ min: 0, max: 40 * DAY_MS }),
  ),
});

describe.each(DIALECTS)("statements in %s", (dialect) => {
  const storage = storageForTests(dialect);

  async function readCsv(walletId: string, name: string, ledger: Pick<Ledger, "transfers"> = storage.ledger) {
    const month = readMonth(name);
    let text = "";
    const statement = await openStatement(ledger, walletId, month);
    const options = { nowMs: storage.clock.nowMs, noteOf: async () => undefined };
    for await (const piece of printStatement(month, statement, options)) text += piece;
    return text;
  }

  async function topUpOften(walletId: string, count: number): Promise<void> {
    const one = (at: number) => storage.ledger.topUp({ walletId, topUpId: `t${at}`, amount: 1n });
    await Promise.all(Array.from({ length: count }, (_, at) => one(at)));
  }

  test("lines of every month sum to the change of the balance, over random histories", async () => {
    const histories = fc.array(step, { minLength: 1, maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(histories, async (steps) => {
        const { id } = await storage.newAccount();
        await storage.ledger.topUp({ walletId: id, topUpId: "first", amount: 1_000_000_000_000_000n });
        let latestMs = storage.clock.nowMs;
        for (const [index, each] of steps.entries()) {
          const nowMs = Math.max(storage.clock.nowMs + each.waitMs, latestMs - CLOCK_SLACK_MS);
          storage.clock.nowMs = nowMs;
          latestMs = Math.max(latestMs, nowMs);
          await play(storage, id, { ...each, id: `s${index}` });
        }
        await checkMonths(id);
      }),
      { numRuns: dialect === "sqlite" ? 60 : 20 },
    );
  });

  test("the statement of the running month closes now, not at the end of the month", async () => {
    const { id } = await storage.newAccount();
    await topUpOften(id, 1);
    const now = new Date(storage.clock.nowMs).toISOString();
    const rows = parseCsv(await readCsv(id, now.slice(0, 7)));
    expect(rows.at(-1)).toMatchObject({ time: now, kind: "closing" });
  });

  async function checkMonths(walletId: string): Promise<void> {
    const { posted } = await storage.ledger.balances(walletId);
    const { items: all } = await storage.ledger.transfers(walletId, { size: 1_000 });
    const latest = Math.max(storage.clock.nowMs, ...all.map(({ createdAtMs }) => createdAtMs));
    const months = await listMonths(storage.ledger, walletId, latest);
    expect(months.reduce((sum, { lines }) => sum + lines, 0)).toBe(all.length);
    if (months.length > 0) expect(months[0]?.closing).toBe(posted);
    let opening = 0n;
    for (const month of months.toReversed()) {
      expect(month.opening).toBe(opening);
      const rows = parseCsv(await readCsv(walletId, month.month));
      const sum = rows.reduce((total, row) => total + readUsd(row.amount_usd ?? ""), 0n);
      expect(rows.length - 2).toBe(month.lines);
      expect(readUsd(rows[0]?.balance_usd ?? "")).toBe(month.opening);
      expect(readUsd(rows.at(-1)?.balance_usd ?? "")).toBe(month.closing);
      expect(month.opening + sum).toBe(month.closing);
      for (const row of rows.slice(1, -1)) expect(row.time?.slice(0, 7)).toBe(month.month);
      opening = month.closing;
    }
  }

  test("a transfer that is booked while a statement streams changes nothing in it", async () => {
    const { id } = await storage.newAccount();
    await topUpOften(id, 2_500);
    const month = readMonth("2026-06");
    const statement = await openStatement(storage.ledger, id, month);
    let count = 0;
    let last = 0n;
    for await (const { balance } of statement.lines()) {
      count += 1;
      last = balance;
      if (count % 500 === 0) {
        await storage.ledger.topUp({ walletId: id, topUpId: `late${count}`, amount: 7n });
      }
    }
    expect([count, last]).toEqual([2_500, 2_500n]);
  });

  test("a month belongs to UTC, from its first millisecond to its last", async () => {
    const { id } = await storage.newAccount();
    const times = ["2026-06-30T23:59:59.999Z", "2026-07-01T00:00:00.000Z", "2026-07-31T23:59:59.999Z"];
    for (const [index, time] of [...times, "2026-08-01T00:00:00.000Z"].entries()) {
      storage.clock.nowMs = Date.parse(time);
      await storage.ledger.topUp({ walletId: id, topUpId: `t${index}`, amount: 1n });
    }
    const rows = parseCsv(await readCsv(id, "2026-07"));
    expect(rows.map(({ kind, id: transfer }) => `${kind} ${transfer}`)).toEqual([
      "opening ",
      "top_up t1",
      "top_up t2",
      "closing ",
    ]);
    expect(rows.map(({ balance_usd: balance }) => balance)).toEqual([
      "0.000000001",
      "0.000000002",
      "0.000000003",
      "0.000000003",
    ]);
  });

  test("a month before the first transfer, and one of an empty wallet, is empty", async () => {
    const { id } = await storage.newAccount();
    expect(await listMonths(storage.ledger, id, storage.clock.nowMs)).toEqual([]);
    expect(parseCsv(await readCsv(id, "2020-02"))).toHaveLength(2);
    await storage.ledger.topUp({ walletId: id, topUpId: "t", amount: 5n });
    const rows = parseCsv(await readCsv(id, "2020-02"));
    expect(rows.map(({ balance_usd: balance }) => balance)).toEqual(["0.00", "0.00"]);
  });

  test("the id of a top-up is no formula and breaks out of no cell", async () => {
    const { id } = await storage.newAccount();
    const ids = ["=1+1", "@x", "+1+1", "-1+1", 'a"b,c', " =2"];
    for (const topUpId of ids) await storage.ledger.topUp({ walletId: id, topUpId, amount: 1n });
    const rows = parseCsv(await readCsv(id, "2026-06"));
    expect(rows.slice(1, -1).map((row) => row.id)).toEqual([
      "'=1+1",
      "'@x",
      "'+1+1",
      "'-1+1",
      'a"b,c',
      "' =2",
    ]);
  });

  test("a statement whose ledger fails midway has no closing line", async () => {
    const { id } = await storage.newAccount();
    await topUpOften(id, 1_200);
    const transfers: Ledger["transfers"] = async (walletId, page, range) => {
      if (page.token !== undefined) throw new Error("away");
      return storage.ledger.transfers(walletId, page, range);
    };
    await expect(readCsv(id, "2026-06", { transfers })).rejects.toThrow("away");
  });
});

async function play(
  { ledger, clock }: TempStorage,
  walletId: string,
  { kind, amount, id }: Step & { id: string },
) {
  if (kind === "top_up") return void (await ledger.topUp({ walletId, topUpId: id, amount }));
  const holdId = Bun.randomUUIDv7("hex", clock.nowMs);
  const facts = { surface: "chat", model: "m" };
  const hold = { walletId, holdId, keyId: "k", amount: 0n, minimum: 0n, ttlMs: 60_000, facts };
  await ledger.hold(hold);
  const outcome = { outcome: "ok", source: "reported", attempts: [] } as const;
  if (kind === "open") return;
  await ledger.settle({ walletId, holdId, amount, facts: outcome });
  if (kind === "refund") await ledger.refund({ walletId, refundId: id, holdId, amount: (amount + 1n) / 2n });
}

/** Parses CSV with titles, as RFC 4180 has it. */
function parseCsv(text: string): Record<string, string>[] {
  const lines = text.split("\r\n");
  expect(lines.pop()).toBe("");
  const cells = lines.map((line) =>
    [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(
      ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? "",
    ),
  );
  const [titles = [], ...rows] = cells;
  return rows.map((row) => Object.fromEntries(titles.map((title, at) => [title, row[at] ?? ""])));
}

function readUsd(text: string): bigint {
  if (text === "") return 0n;
  return text.startsWith("-") ? -parseUsd(text.slice(1)) : parseUsd(text);
}
