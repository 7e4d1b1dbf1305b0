import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DAY_MS } from "../../src/domain/id-time.ts";
import { parseUsd, printUsd } from "../../src/domain/money.ts";
import type { Plan } from "../../src/domain/plan.ts";
import { chooseAtRisk, findAtRisk } from "../../src/figures/at-risk.ts";
import { createFigures } from "../../src/figures/figures.ts";
import { monthlyOf } from "../../src/figures/revenue.ts";
import type { RiskKind } from "../../src/figures/risks.ts";
import { command, subscribe } from "../../src/plans/plans.ts";
import { DIALECTS, storageForTests } from "../accounts/temp-storage.ts";
import { MoneyHistory, step } from "../payments/money-history.ts";
import { PRO } from "../plans/samples.ts";

const OPERATOR = { kind: "person", id: "o", name: "operator@example.com" } as const;
const SOLD: Plan = { ...PRO, price: parseUsd("25") };
const WEEKS: Plan = { ...PRO, id: "weeks", name: "Weeks", period: "7d", price: parseUsd("7"), grant: 5n };

test("prices are normalised to a month exactly, and rounded down to the nano once", () => {
  expect(monthlyOf(parseUsd("25"), "month")).toBe(parseUsd("25"));
  // 30.436875 / 7 = 4.348125 periods of 7 days in a month.
  expect(printUsd(monthlyOf(parseUsd("7"), "7d"))).toBe("30.436875");
  expect(monthlyOf(1n, "366d")).toBe(0n);
});

describe.each(DIALECTS)("the operator's figures in %s", (dialect) => {
  const storage = storageForTests(dialect);
  const startHistory = async () => new MoneyHistory(storage, await storage.newAccount());
  const subscribeTo = (accountId: string, plan: Plan) => subscribe(storage, OPERATOR, { accountId, plan });

  /** Reckons granted and expired credit, and charges, from every transfer of every wallet. */
  async function reckon(histories: readonly MoneyHistory[]) {
    const sums = new Map<string, bigint>();
    const add = (name: string, amount: bigint) => sums.set(name, (sums.get(name) ?? 0n) + amount);
    for (const { account } of histories) {
      const { items } = await storage.ledger.transfers(account.id, { size: 1_000 });
      for (const { kind, amount, createdAtMs } of items) {
        const month = new Date(createdAtMs).toISOString().slice(0, 7);
        if (kind === "top_up") add(`${month} granted`, amount);
        if (kind === "credit_expiry") add(`${month} expired`, -amount);
      }
    }
    return sums;
  }

  test("sum up credit to the nano, and charges by plan, over random histories", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { maxLength: 12 }), { minLength: 3, maxLength: 3 }),
        async (all) => {
          const histories: MoneyHistory[] = [];
          for (const steps of all) {
            const history = await startHistory();
            histories.push(history);
            for (const each of steps)
              await history.run({ ...each, waitMs: each.waitMs / 8 - ((each.waitMs / 8) % 1) });
          }
          const { credit, margins } = await createFigures(storage).read();
          const sums = await reckon(await everyHistory(histories));
          for (const { month, granted_usd, expired_usd, sources } of credit) {
            expect(granted_usd).toBe(printUsd(sums.get(`${month} granted`) ?? 0n));
            expect(expired_usd).toBe(printUsd(sums.get(`${month} expired`) ?? 0n));
            expect(sources.reduce((sum, each) => sum + parseUsd(each.granted_usd), 0n)).toBe(
              parseUsd(granted_usd),
            );
          }
          expect(margins.at(-1)).toMatchObject({ plan: null });
        },
      ),
      { numRuns: dialect === "sqlite" ? 8 : 3 },
    );
  });

  /** All histories of the database: those of earlier runs too. */
  const known: MoneyHistory[] = [];
  const everyHistory = async (more: readonly MoneyHistory[]) => {
    known.push(...more.filter(({ storage: its }) => its === storage));
    return known;
  };

  test("show revenue by plan, and the margin of each plan's accounts beside those without one", async () => {
    known.length = 0;
    const [one, two, free] = [await startHistory(), await startHistory(), await startHistory()];
    await subscribeTo(one.account.id, SOLD);
    const paused = await subscribeTo(two.account.id, WEEKS);
    for (const history of [one, two, free])
      await history.run({ kind: "request", pick: 1, amount: 900n, waitMs: 0 });
    const before = await createFigures(storage).read();
    expect(before.revenue).toMatchObject({
      monthly_usd: "55.436875",
      plans: [
        { plan: "weeks", active: 1, paused: 0, monthly_usd: "30.436875" },
        { plan: SOLD.id, active: 1, monthly_usd: "25.00" },
      ],
    });
    expect(before.margins.toSorted((a, b) => String(a.plan).localeCompare(String(b.plan)))).toMatchObject([
      { plan: null, charged_usd: "0.0000009", upstream_cost_usd: "0.0000003", margin_usd: "0.0000006" },
      { plan: SOLD.id, accounts: 1, charged_usd: "0.0000009", margin_usd: "0.0000006" },
      { plan: "weeks", accounts: 1, charged_usd: "0.0000009" },
    ]);
    await command(storage, OPERATOR, { subscriptionId: paused.id, command: { kind: "pause" } });
    expect((await createFigures(storage).read()).revenue.monthly_usd).toBe("25.00");
  });

  test("name accounts at risk with one sentence for each reason", async () => {
    const history = await startHistory();
    const { id } = history.account;
    const { id: subscriptionId } = await subscribeTo(id, SOLD);
    const kinds = async () => {
      const { accounts } = await chooseAtRisk(storage.database, await findAtRisk(storage), { size: 10 });
      return accounts.flatMap(({ risks }) => risks.map(({ kind, text }) => [kind, text] as const));
    };
    expect(await kinds()).toEqual([]);
    await history.run({ kind: "request", pick: 1, amount: parseUsd("8"), waitMs: 0 });
    expect(await kinds()).toEqual([
      [
        "runs_out",
        "At the rate of the last 7 days, $12.00 last until 2026-06-11, and the period until 2026-07-01.",
      ],
    ]);
    storage.clock.nowMs += 24 * DAY_MS;
    await command(storage, OPERATOR, { subscriptionId, command: { kind: "cancel", when: "period_end" } });
    expect(await kinds()).toEqual([
      ["cancelling", `The subscription to ${SOLD.name} ends on 2026-07-01.`],
      ["silent", "The last request was 24 days ago."],
      [
        "unused_credit",
        "$12.00 of credit end within 7 days, and at the rate of the last 7, $12.00 of it would be unused.",
      ],
    ]);
    const chosen = { kind: "silent" as RiskKind, size: 10 };
    expect((await chooseAtRisk(storage.database, await findAtRisk(storage), chosen)).total).toBe(1);
    await history.run({ kind: "reversal", pick: 0, amount: parseUsd("20"), waitMs: 0 });
    expect((await kinds())[0]).toEqual(["below_zero", "The wallet owes $8.00."]);
  });
});
