import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createProject } from "../../src/accounts/project-changes.ts";
import { readMonth } from "../../src/domain/month.ts";
import type { Scope } from "../../src/domain/scope.ts";
import { LedgerError } from "../../src/ledger/ledger.ts";
import type { JournalLine } from "../../src/ledger/records.ts";
import { printChargeback, printChargebackCsv, readChargeback } from "../../src/payments/chargeback.ts";
import { changeOf, sumMonth } from "../../src/payments/month-end.ts";
import { listMonths } from "../../src/payments/statement.ts";
import { DIALECTS, storageForTests } from "../accounts/temp-storage.ts";

const DAY_MS = 86_400_000;
const ENDED = { outcome: "ok", source: "reported", attempts: [] } as const;
const FACTS = { surface: "chat", model: "m" };

/** What happens to a wallet. `pick` chooses a project, or a request from before. */
interface Step {
  readonly kind:
    | "top_up"
    | "ending"
    | "correction"
    | "request"
    | "charge"
    | "refund"
    | "expire"
    | "late"
    | "drop";
  readonly pick: number;
  readonly amount: bigint;
  readonly waitMs: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(
    "top_up",
    "ending",
    "correction",
    "request",
    "request",
    "charge",
    "refund",
    "expire",
    "late",
    "drop",
  ),
  pick: fc.nat({ max: 99 }),
  amount: fc.bigInt({ min: 1n, max: 9_000_000_000_123n }),
  waitMs: fc.oneof(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 0, max: 40 * DAY_MS })),
});

describe.each(DIALECTS)("a statement by project in %s", (dialect) => {
  const storage = storageForTests(dialect);

  /** A wallet with a history, and the project of each of its requests. */
  async function startHistory() {
    const account = await storage.newAccount();
    const { ledger, clock } = storage;
    const walletId = account.id;
    await ledger.topUp({ walletId, topUpId: "first", amount: 10n ** 17n });
    const projectOf = new Map<string, string | undefined>();
    const expired: string[] = [];
    let made = 0;
    const projects = [undefined, walletId, "p1", "p2", "=p3"];
    const scopesOf = (project: string | undefined): readonly Scope[] =>
      project === undefined ? [] : [{ kind: "project", id: project }];

    async function hold(pick: number): Promise<string> {
      const project = projects[pick % projects.length];
      const holdId = Bun.randomUUIDv7("hex", clock.nowMs);
      const scopes = scopesOf(project);
      const request = { walletId, holdId, keyId: "k", amount: 0n, minimum: 0n, ttlMs: 1_000, facts: FACTS };
      await ledger.hold({ ...request, scopes });
      projectOf.set(holdId, project);
      return holdId;
    }

    async function run({ kind, pick, amount, waitMs }: Step): Promise<void> {
      clock.nowMs += waitMs;
      const id = `s${++made}`;
      if (kind === "top_up") await ledger.topUp({ walletId, topUpId: id, amount });
      if (kind === "ending")
        await ledger.topUp({ walletId, topUpId: id, amount, expiresAtMs: clock.nowMs + (1 + pick) * 60_000 });
      if (kind === "correction") await ledger.topUp({ walletId, topUpId: id, amount: -amount });
      if (kind === "request")
        await ledger.settle({ walletId, holdId: await hold(pick), amount, facts: ENDED });
      if (kind === "charge") {
        const project = projects[pick % projects.length];
        const charge = { walletId, chargeId: id, keyId: "k", amount, facts: FACTS, outcome: ENDED };
        const { receiptId } = await ledger.charge({ ...charge, scopes: scopesOf(project) });
        projectOf.set(receiptId, project);
      }
      if (kind === "expire") {
        const holdId = await hold(pick);
        await ledger.extend({ walletId, holdId, accrued: amount, ttlMs: 1_000 });
        clock.nowMs += 2_000;
        while ((await ledger.sweep()) > 0);
        expired.push(holdId);
      }
      const holdId = [...projectOf.keys()][pick % Math.max(projectOf.size, 1)];
      if (kind === "refund" && holdId)
        await declinable(ledger.refund({ walletId, refundId: id, holdId, amount: 1n + amount / 9n }));
      const late = expired[pick % Math.max(expired.length, 1)];
      if (kind === "late" && late)
        await declinable(ledger.settle({ walletId, holdId: late, amount: amount * 2n, facts: ENDED }));
      if (kind === "drop") await drop();
    }
    /** After a jump of the clock, nothing is dropped for a day. */
    async function drop(): Promise<void> {
      await ledger.retain({ receiptsDays: 30 });
      clock.nowMs += 25 * 3_600_000;
      while ((await ledger.sweep()) > 0);
      while (await ledger.rollUp());
      while ((await ledger.retain({ receiptsDays: 30 })).isMore);
    }

    return { account, projectOf, run };
  }

  type History = Awaited<ReturnType<typeof startHistory>>;

  /** Reckons one by one where a transfer belongs. */
  async function placeOf({ account, projectOf }: History, { holdId, kind }: JournalLine): Promise<string> {
    if (["top_up", "correction", "credit_expiry"].includes(kind)) return "wallet";
    const receipt = await storage.ledger.receipt(account.id, holdId ?? "");
    return receipt ? `project ${projectOf.get(receipt.holdId) ?? account.id}` : "dropped_receipts";
  }

  async function checkMonths(history: History): Promise<void> {
    const { account } = history;
    const { items } = await storage.ledger.transfers(account.id, { size: 1_000 });
    for (const { month: name, opening, closing } of await listMonths(
      storage.ledger,
      account.id,
      storage.now(),
    )) {
      const month = readMonth(name);
      const expected = new Map<string, bigint>();
      for (const line of items.filter(({ createdAtMs: ms }) => ms >= month.fromMs && ms < month.toMs)) {
        const place = await placeOf(history, line);
        expected.set(place, (expected.get(place) ?? 0n) + line.amount);
      }
      const { lines, ...split } = await readChargeback(storage, { account, month, by: "project" });
      const found = new Map(
        lines
          .filter(({ transfers }) => transfers > 0)
          .map((line) => [line.id === undefined ? line.kind : `${line.kind} ${line.id}`, changeOf(line)]),
      );
      expect([...found].toSorted()).toEqual([...expected].toSorted());
      expect(split).toMatchObject({ opening, closing });
      const { opening: _, closing: __, ...sums } = await sumMonth(storage.ledger, account.id, month);
      expect(split.total).toEqual(sums);
      expect(lines.reduce((sum, line) => sum + changeOf(line), 0n)).toBe(closing - opening);
    }
  }

  test("has lines that sum to the account's statement, over random histories with dropped receipts", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const history = await startHistory();
        for (const each of steps) await history.run(each);
        await checkMonths(history);
      }),
      { numRuns: dialect === "sqlite" ? 40 : 12 },
    );
  });

  test("names projects, and has a line for one that spent nothing", async () => {
    const { account, run } = await startHistory();
    const made = await createProject(storage, { accountId: account.id, name: "Search, =1" });
    await run({ kind: "request", pick: 1, amount: 5n, waitMs: 0 });
    await run({ kind: "request", pick: 4, amount: 7n, waitMs: 0 });
    const split = await readChargeback(storage, { account, month: readMonth("2026-06"), by: "project" });
    const printed = printChargeback(split, storage.now());
    expect(printed).toMatchObject({
      is_running: true,
      lines: [
        { kind: "project", id: "=p3", name: null, change_usd: "-0.000000007", transfers: 1 },
        { kind: "project", id: account.id, name: "Default", charged_usd: "0.000000005" },
        { kind: "project", id: made.id, name: "Search, =1", transfers: 0 },
        { kind: "wallet", id: null, topped_up_usd: "100000000.00" },
      ],
    });
    const csv = printChargebackCsv(printed).split("\r\n");
    expect(csv[1]).toBe("opening,,,,,,,,,,0.00");
    expect(csv[2]).toBe("project,'=p3,,0.000000007,0.00,0.00,0.00,0.00,-0.000000007,1,");
    expect(csv[4]).toContain('"Search, =1"');
    expect(csv.at(-2)).toStartWith("closing,");
  });

  test("has a line for transfers whose receipts are dropped", async () => {
    const { account, run } = await startHistory();
    await run({ kind: "request", pick: 2, amount: 5n, waitMs: 0 });
    await run({ kind: "drop", pick: 0, amount: 1n, waitMs: 100 * DAY_MS });
    await run({ kind: "request", pick: 2, amount: 7n, waitMs: 0 });
    const lines = async (name: string) =>
      (await readChargeback(storage, { account, month: readMonth(name), by: "project" })).lines
        .filter(({ transfers }) => transfers > 0)
        .map(({ kind, charged }) => [kind, charged]);
    expect(await lines("2026-06")).toEqual([
      ["dropped_receipts", 5n],
      ["wallet", 0n],
    ]);
    expect(await lines("2026-09")).toEqual([["project", 7n]]);
  });

  test("by member and by key has a line for receipts without one", async () => {
    const { account, run } = await startHistory();
    await run({ kind: "request", pick: 2, amount: 5n, waitMs: 0 });
    const month = readMonth("2026-06");
    const kinds = async (by: "member" | "key") =>
      (await readChargeback(storage, { account, month, by })).lines.map(({ kind, id }) => `${kind} ${id}`);
    expect(await kinds("member")).toEqual(["none undefined", "wallet undefined"]);
    expect(await kinds("key")).toEqual(["key k", "wallet undefined"]);
  });
});

async function declinable(command: Promise<unknown>): Promise<void> {
  await command.catch((error) => {
    if (!(error instanceof LedgerError) || error.code === "unavailable") throw error;
  });
}
