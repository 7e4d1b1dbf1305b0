import { describe, expect, test } from "bun:test";
import { COMMAND_LINE } from "../../src/accounts/audit-trail.ts";
import { parseUsd } from "../../src/domain/money.ts";
import type { Plan } from "../../src/domain/plan.ts";
import { GatewayError } from "../../src/errors.ts";
import { LedgerError } from "../../src/ledger/ledger.ts";
import type { PlanParts } from "../../src/plans/booking.ts";
import type { PlanCommand } from "../../src/plans/decide.ts";
import { runPlanPass } from "../../src/plans/pass.ts";
import { command, subscribe } from "../../src/plans/plans.ts";
import { findSubscription, listGrants } from "../../src/plans/reads.ts";
import { DIALECTS, storageForTests } from "../accounts/temp-storage.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { createDraw, drawOne } from "../support/seeded-random.ts";
import { type ReckonedCommand, type ReckonedPlan, Reckoning } from "./reckoning.ts";
import { PRO } from "./samples.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS = 366;
/** A week in which no gateway runs. */
const STANDSTILL = { fromDay: 200, toDay: 207 };

const plan = (id: string, period: Plan["period"], usd: string, carryOver = 0): Plan => ({
  ...PRO,
  id,
  period,
  grant: parseUsd(usd),
  carryOver,
});
const PLANS = [
  plan("free", "month", "0"),
  plan("pro", "month", "20"),
  plan("max", "month", "49.99", 2),
  plan("weekly", "7d", "6.123456789", 1),
  plan("thirty", "30d", "21"),
];
const reckoned = ({ id, period, grant, carryOver }: Plan): ReckonedPlan => ({
  id,
  days: period === "month" ? 0 : Number.parseInt(period, 10),
  grant,
  carryOver,
});

/** Subscriptions at once, and the time between two passes. A pass on PostgreSQL costs ten times the CPU. */
const SIZES = {
  sqlite: { accounts: 20, stepMs: 12 * HOUR_MS },
  postgres: { accounts: 4, stepMs: 36 * HOUR_MS },
};

describe.each(DIALECTS)("a year of subscriptions in %s", (dialect) => {
  const storage = storageForTests(dialect);
  const { accounts, stepMs } = SIZES[dialect];

  test("grants what a reckoning of its own says, to the nano", async () => {
    const draw = createDraw(7);
    const pick = <Item>(items: readonly Item[]) => drawOne(draw, items);
    const log = createCapturedLog();
    /** The ledger is away, or its answers are lost after it has booked. */
    let fault: "away" | "lost" | "none" = "none";
    const { spendLimits, setSpendLimit, deleteSpendLimit } = storage.ledger;
    const topUp: PlanParts["ledger"]["topUp"] = async (request) => {
      if (fault === "away") throw new LedgerError("unavailable");
      const posting = await storage.ledger.topUp(request);
      if (fault === "lost") throw new LedgerError("unavailable");
      return posting;
    };
    const parts = { ...storage, ledger: { topUp, spendLimits, setSpendLimit, deleteSpendLimit }, log };
    const past = new Set<Reckoning>();
    const subjects: { id: string; accountId: string; reckoning: Reckoning }[] = [];
    const begin = async (accountId: string) => {
      const chosen = pick(PLANS);
      const { id } = await subscribe(parts, COMMAND_LINE, { accountId, plan: chosen });
      subjects.push({ id, accountId, reckoning: new Reckoning(reckoned(chosen), storage.now()) });
    };
    const drawCommand = (): [PlanCommand, ReckonedCommand] => {
      const kind = pick([
        "pause",
        "resume",
        "resume",
        ...Array<"change">(8).fill("change"),
        "cancel",
      ] as const);
      const when = pick(["now", "period_end", "period_end", "period_end"] as const);
      const chosen = pick(PLANS);
      if (kind === "change") {
        const at = pick(["now", "period_end", "either", "either"] as const);
        const asked = at === "either" ? {} : { when: at };
        return [
          { kind, plan: chosen, ...asked },
          { kind, plan: reckoned(chosen), ...asked },
        ];
      }
      return kind === "cancel"
        ? [
            { kind, when },
            { kind, when },
          ]
        : [{ kind }, { kind }];
    };
    const send = async () => {
      const { id, reckoning } = pick(subjects);
      const [wanted, expected] = drawCommand();
      const version = (await findSubscription(storage.database, id))?.version ?? 0;
      const isAccepted = await command(parts, COMMAND_LINE, { subscriptionId: id, command: wanted }).then(
        () => true,
        (thrown: unknown) => {
          if (thrown instanceof GatewayError && thrown.kind === "conflict") return false;
          throw thrown;
        },
      );
      expect([id, wanted.kind, isAccepted]).toEqual([
        id,
        wanted.kind,
        reckoning.command(expected, version, storage.now()),
      ]);
    };

    /** Accounts whose subscription has ended begin another one. */
    const beginAgain = async () => {
      for (const { accountId, reckoning } of [...subjects]) {
        if (!reckoning.isOver || past.has(reckoning)) continue;
        past.add(reckoning);
        await begin(accountId);
      }
    };
    for (let step = 0; step * stepMs < DAYS * DAY_MS; step++) {
      storage.clock.nowMs += stepMs;
      const day = (step * stepMs) / DAY_MS;
      if (day >= STANDSTILL.fromDay && day < STANDSTILL.toDay) continue;
      const nowMs = storage.now();
      if (subjects.length - past.size < accounts && step % 3 === 0)
        await begin((await storage.newAccount()).id);
      if (step % 40 === 0) fault = pick(["away", "lost", "none"] as const);
      if (step % 40 === 1) fault = "none";
      // A clock that is set back for the time of a pass.
      if (step % 101 === 0) storage.clock.nowMs -= 36 * HOUR_MS;
      await Promise.all([runPlanPass(parts), runPlanPass(parts)]);
      storage.clock.nowMs = nowMs;
      await runPlanPass(parts);
      for (const { reckoning } of subjects) reckoning.pass(nowMs);
      for (let i = 0; i < 4; i++) await send();
      await beginAgain();
    }
    fault = "none";
    await runPlanPass(parts);
    const sums = new Map<string, bigint>();
    for (const { id, accountId, reckoning } of subjects) {
      const grants = await listGrants(storage.database, id, 10_000);
      expect(grants.every(({ bookedAtMs }) => bookedAtMs !== undefined)).toBe(true);
      const shown = grants.map(({ id: name, amount, expiresAtMs }) => ({
        name: name.slice(`plan-${id}-`.length),
        amount,
        expiresAtMs,
      }));
      const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1);
      expect(shown.toSorted(byName)).toEqual(reckoning.credits.toSorted(byName));
      const granted = reckoning.credits.reduce((sum, { amount }) => sum + amount, 0n);
      sums.set(accountId, (sums.get(accountId) ?? 0n) + granted);
      const isOver = (await findSubscription(storage.database, id))?.state === "ended";
      expect(isOver).toBe(reckoning.isOver);
    }
    for (const [accountId, granted] of sums)
      expect((await storage.ledger.journalTotals(accountId)).toppedUp).toBe(granted);
    expect([sums.size, past.size > 0]).toEqual([accounts, true]);
  });
});
