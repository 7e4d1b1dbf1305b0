import { describe, expect, test } from "bun:test";
import { COMMAND_LINE } from "../../src/accounts/audit-trail.ts";
import { parseUsd } from "../../src/domain/money.ts";
import type { Plan } from "../../src/domain/plan.ts";
import { runPlanPass } from "../../src/plans/pass.ts";
import { subscribe } from "../../src/plans/plans.ts";
import { findSubscription, listGrants } from "../../src/plans/reads.ts";
import { DIALECTS, storageForTests } from "../accounts/temp-storage.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { createDraw, drawInteger } from "../support/seeded-random.ts";
import { type FastClock, readClock } from "./fast-clock.ts";
import { Reckoning } from "./reckoning.ts";
import { PRO } from "./samples.ts";

const GATEWAYS = 3;
const ACCOUNTS = 9;
const KILLS = 6;
/** A day passes in so many milliseconds. */
const DAY_MS = 15;
const WEEKLY: Plan = { ...PRO, id: "weekly", period: "7d", grant: parseUsd("6.000000001") };

describe.each(DIALECTS)("three gateways that are killed in %s", (dialect) => {
  const storage = storageForTests(dialect);

  test("grant every period once, and none not at all", async () => {
    const draw = createDraw(11);
    const begun: { readonly id: string; readonly accountId: string; readonly plan: Plan }[] = [];
    for (let i = 0; i < ACCOUNTS; i++) {
      const { id: accountId } = await storage.newAccount();
      const plan = i % 2 === 0 ? WEEKLY : PRO;
      begun.push({ ...(await subscribe(storage, COMMAND_LINE, { accountId, plan })), plan });
    }
    const startMs = storage.now();
    const clock: FastClock = { startMs, begunAtMs: Date.now(), dayMs: DAY_MS };
    const given = JSON.stringify({ location: storage.location, clock });
    const start = () =>
      Bun.spawn([process.execPath, `${import.meta.dir}/pass-child.ts`, given], { stderr: "ignore" });
    const children = Array.from({ length: GATEWAYS }, start);
    for (let killed = 0; killed < KILLS; killed++) {
      await Bun.sleep(drawInteger(draw, 200, 700));
      const at = killed % GATEWAYS;
      children[at]?.kill("SIGKILL");
      await children[at]?.exited;
      children[at] = start();
    }
    for (const child of children) child.kill("SIGKILL");
    await Promise.all(children.map(({ exited }) => exited));
    storage.clock.nowMs = readClock(clock);
    // Limits of a killed process wait for its lease; credits wait for nothing but a lock of a connection that ends.
    let log = createCapturedLog();
    for (let pass = 0; pass < 3; pass++) {
      log = createCapturedLog();
      await runPlanPass({ ...storage, log });
    }
    expect(log.text()).toBe("");

    for (const { id, accountId, plan } of begun) {
      const reckoning = new Reckoning({ ...plan, days: plan === WEEKLY ? 7 : 0 }, startMs);
      reckoning.pass(storage.now());
      const expected = reckoning.credits.map(({ name }) => `plan-${id}-${name}`).toSorted();
      const grants = await listGrants(storage.database, id, 10_000);
      expect(grants.map((grant) => grant.id).toSorted()).toEqual(expected);
      expect((await findSubscription(storage.database, id))?.nextPeriod).toBe(expected.length);
      const { items } = await storage.ledger.transfers(accountId, { size: 1_000 });
      const booked = items.filter(({ kind }) => kind === "top_up").map(({ transferId }) => transferId);
      expect(booked.toSorted()).toEqual(expected);
      const { toppedUp } = await storage.ledger.journalTotals(accountId);
      expect(toppedUp).toBe(BigInt(expected.length) * plan.grant);
    }
  });
});
