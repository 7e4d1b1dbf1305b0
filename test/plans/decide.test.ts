import { describe, expect, test } from "bun:test";
import { parseUsd, printUsd } from "../../src/domain/money.ts";
import type { Plan } from "../../src/domain/plan.ts";
import { advance, type Decision, decide, type PlanCommand } from "../../src/plans/decide.ts";
import { previewOf } from "../../src/plans/preview.ts";
import type { Subscription } from "../../src/plans/subscription.ts";
import { DRAFT, PRO, START } from "./samples.ts";

const at = (text: string) => Date.parse(`${text}T10:00Z`);
const day = (ms: number | undefined) =>
  ms === undefined ? undefined : new Date(ms).toISOString().slice(0, 16);
const plan = (more: Partial<Plan>): Plan => ({ ...PRO, ...more });
const MAX: Plan = plan({ id: "max", name: "Max", grant: parseUsd("50") });
const MINI: Plan = plan({ id: "mini", name: "Mini", grant: parseUsd("5") });
const WEEKLY: Plan = plan({ id: "weekly", name: "Weekly", period: "7d", grant: parseUsd("6") });

/** Prints grants as "id amount end". */
const shown = ({ grants }: Pick<Decision, "grants">) =>
  grants.map(({ id, amount, expiresAtMs }) => `${id} ${printUsd(amount)} ${day(expiresAtMs)}`);

/** A subscription of 31 January in the given month, with the periods before granted. */
const begun = (text: string, of: Partial<Subscription> = {}) => advance({ ...DRAFT, ...of }, at(text)).after;

describe("time", () => {
  test("begins each period once, with credit until its end", () => {
    const first = advance(DRAFT, START);
    expect(shown(first)).toEqual(["plan-s-0 20.00 2026-02-28T10:00"]);
    expect(shown(advance(first.after, at("2026-02-28") - 1))).toEqual([]);
    const second = advance(first.after, at("2026-02-28"));
    expect(shown(second)).toEqual(["plan-s-1 20.00 2026-03-31T10:00"]);
    expect(advance(second.after, at("2026-02-28"))).toEqual({ after: second.after, grants: [] });
  });

  test("begins no period again after a clock was set back", () => {
    const { after } = advance(DRAFT, at("2026-06-15"));
    expect(after.nextPeriod).toBe(5);
    for (const text of ["2026-01-01", "2026-03-01", "2026-06-14"]) {
      expect(advance(after, at(text))).toEqual({ after, grants: [] });
    }
    expect(shown(advance(after, at("2026-06-30")))).toEqual(["plan-s-5 20.00 2026-07-31T10:00"]);
  });

  test("carries the credit of a period over into the periods that the plan says", () => {
    expect(shown(advance({ ...DRAFT, plan: plan({ carryOver: 2 }) }, START))).toEqual([
      "plan-s-0 20.00 2026-04-30T10:00",
    ]);
  });

  test("grants every period of a standstill, those that are over with a day or the days of the plan to be spent", () => {
    const now = at("2026-04-29");
    expect(shown(advance(DRAFT, now))).toEqual([
      "plan-s-0 20.00 2026-04-30T10:00",
      "plan-s-1 20.00 2026-04-30T10:00",
      "plan-s-2 20.00 2026-04-30T10:00",
    ]);
    expect(shown(advance({ ...DRAFT, plan: plan({ lateDays: 7 }) }, now))).toEqual([
      "plan-s-0 20.00 2026-05-06T10:00",
      "plan-s-1 20.00 2026-05-06T10:00",
      "plan-s-2 20.00 2026-05-06T10:00",
    ]);
  });

  test("begins at most 100 periods at once, and the others afterwards", () => {
    const daily = { ...DRAFT, plan: plan({ period: "1d" }) };
    const now = START + 250 * 86_400_000;
    const passes: number[] = [];
    let subscription = daily;
    for (let grants = -1; grants !== 0; passes.push(grants)) {
      const decision = advance(subscription, now);
      subscription = decision.after;
      grants = decision.grants.length;
    }
    expect(passes).toEqual([100, 100, 51, 0]);
    expect(() => decide(daily, { kind: "pause" }, now)).toThrow("conflict");
  });

  test("a plan that grants nothing has its periods too", () => {
    expect(shown(advance({ ...DRAFT, plan: plan({ grant: 0n }) }, START))).toEqual([
      "plan-s-0 0.00 2026-02-28T10:00",
    ]);
  });
});

describe("a pause", () => {
  const paused = decide(begun("2026-02-10"), { kind: "pause" }, at("2026-02-10")).after;

  test("keeps what was granted, and begins no period", () => {
    expect(paused).toMatchObject({ state: "paused", pausedAtMs: at("2026-02-10"), version: 2 });
    expect(advance(paused, at("2027-01-01"))).toEqual({ after: paused, grants: [] });
  });

  test("that ends within the period changes no date", () => {
    const resumed = decide(paused, { kind: "resume" }, at("2026-02-20"));
    expect(resumed.grants).toEqual([]);
    expect(shown(advance(resumed.after, at("2026-02-28")))).toEqual(["plan-s-1 20.00 2026-03-31T10:00"]);
  });

  test("that outlasts the period is followed by a whole one from now on", () => {
    const resumed = decide(paused, { kind: "resume" }, at("2026-05-05"));
    expect(shown(resumed)).toEqual(["plan-s-1 20.00 2026-06-05T10:00"]);
    expect(shown(advance(resumed.after, at("2026-06-05")))).toEqual(["plan-s-2 20.00 2026-07-05T10:00"]);
  });

  test("of an instant grants no second credit, however often", () => {
    let subscription = begun("2026-02-10");
    for (let i = 0; i < 10; i++) {
      const now = at("2026-02-10") + i;
      subscription = decide(subscription, { kind: "pause" }, now).after;
      const resumed = decide(subscription, { kind: "resume" }, now);
      expect(resumed.grants).toEqual([]);
      subscription = resumed.after;
    }
    expect(subscription).toMatchObject({ state: "active", nextPeriod: 1, anchorMs: START });
  });

  test("begins the periods that were due before it", () => {
    const late = decide(begun("2026-02-10"), { kind: "pause" }, at("2026-03-05"));
    expect(shown(late)).toEqual(["plan-s-1 20.00 2026-03-31T10:00"]);
    expect(late.after).toMatchObject({ state: "paused", nextPeriod: 2 });
  });
});

describe("a change of plan", () => {
  const change = (to: Plan, now: string, when?: "now" | "period_end") =>
    decide(begun(now), { kind: "change", plan: to, when }, at(now));

  test("to more credit is at once, with the difference for the rest of the period", () => {
    // 14 of 28 days are left, of 30 USD more.
    const upgraded = change(MAX, "2026-02-14");
    expect(shown(upgraded)).toEqual(["plan-s-0-raise-2 15.00 2026-02-28T10:00"]);
    expect(upgraded.after).toMatchObject({ plan: MAX, nextPlan: undefined, anchorMs: START });
    expect(shown(advance(upgraded.after, at("2026-02-28")))).toEqual(["plan-s-1 50.00 2026-03-31T10:00"]);
  });

  test("to less credit follows with the next period", () => {
    const downgraded = change(MINI, "2026-02-14");
    expect(downgraded).toMatchObject({ after: { plan: PRO, nextPlan: MINI }, grants: [] });
    const next = advance(downgraded.after, at("2026-02-28"));
    expect(shown(next)).toEqual(["plan-s-1 5.00 2026-03-31T10:00"]);
    expect(next.after).toMatchObject({ plan: MINI, nextPlan: undefined });
  });

  test("to less credit at once takes nothing back", () => {
    const downgraded = change(MINI, "2026-02-14", "now");
    expect(downgraded).toMatchObject({ after: { plan: MINI }, grants: [] });
  });

  test("down and up again within a period grants no more than the best plan", () => {
    let subscription = begun("2026-02-14");
    let granted = 0n;
    for (let i = 0; i < 10; i++) {
      for (const to of [MINI, PRO, MAX]) {
        const decision = decide(subscription, { kind: "change", plan: to, when: "now" }, at("2026-02-14"));
        for (const { amount } of decision.grants) granted += amount;
        subscription = decision.after;
      }
    }
    expect(printUsd(granted)).toBe("15.00");
  });

  test("to periods of another length begins them when the running period ends", () => {
    const changed = change(WEEKLY, "2026-02-14");
    expect(changed).toMatchObject({ after: { plan: PRO, nextPlan: WEEKLY }, grants: [] });
    expect(shown(advance(changed.after, at("2026-03-07")))).toEqual([
      // The one of 28 February was granted late, on its last day.
      "plan-s-1 6.00 2026-03-08T10:00",
      "plan-s-2 6.00 2026-03-14T10:00",
    ]);
    expect(() => change(WEEKLY, "2026-02-14", "now")).toThrow("conflict");
  });

  test("back to a month after weeks returns to the day on which it began", () => {
    const weekly = advance(change(WEEKLY, "2026-02-14").after, at("2026-03-07")).after;
    const back = decide(weekly, { kind: "change", plan: PRO }, at("2026-03-08")).after;
    expect(shown(advance(back, at("2026-03-14")))).toEqual(["plan-s-3 20.00 2026-04-14T10:00"]);
  });

  test("that is taken back before the next period leaves everything as it was", () => {
    const pending = change(MINI, "2026-02-14").after;
    const back = decide(pending, { kind: "change", plan: PRO }, at("2026-02-15"));
    expect(back).toMatchObject({ after: { plan: PRO, nextPlan: undefined, version: 3 }, grants: [] });
  });

  test("that is sent twice is declined the second time", () => {
    const once = change(MAX, "2026-02-14").after;
    expect(() => decide(once, { kind: "change", plan: MAX }, at("2026-02-14"))).toThrow("conflict");
  });

  test("to new terms of the plan that it has is an upgrade or a downgrade like any other", () => {
    expect(shown(change(plan({ grant: parseUsd("48") }), "2026-02-14"))).toEqual([
      "plan-s-0-raise-2 14.00 2026-02-28T10:00",
    ]);
  });

  test("at a clock before the period raises by at most the whole difference", () => {
    const decision = decide(begun("2026-02-14"), { kind: "change", plan: MAX }, at("2025-12-24"));
    expect(shown(decision)).toEqual(["plan-s-0-raise-2 30.00 2026-02-28T10:00"]);
  });

  test("of a subscription whose pause outlasts its period raises nothing", () => {
    const paused = decide(begun("2026-02-14"), { kind: "pause" }, at("2026-02-14")).after;
    const changed = decide(paused, { kind: "change", plan: MAX }, at("2026-04-01"));
    expect(changed).toMatchObject({ after: { state: "paused", plan: MAX }, grants: [] });
    expect(shown(decide(changed.after, { kind: "resume" }, at("2026-04-02")))).toEqual([
      "plan-s-1 50.00 2026-05-02T10:00",
    ]);
  });
});

describe("a cancellation", () => {
  const cancel = (when: "now" | "period_end", of = begun("2026-02-14")) =>
    decide(of, { kind: "cancel", when }, at("2026-02-14"));

  test("at the end of the period ends it there, without another credit", () => {
    const cancelled = cancel("period_end");
    expect(cancelled).toMatchObject({ after: { state: "active", isCancelling: true }, grants: [] });
    const ended = advance(cancelled.after, at("2026-07-01"));
    expect(ended).toMatchObject({
      after: { state: "ended", endedAtMs: at("2026-02-28"), isCancelling: false },
      grants: [],
    });
  });

  test("at once keeps the credit that was granted", () => {
    expect(cancel("now")).toMatchObject({
      after: { state: "ended", endedAtMs: at("2026-02-14") },
      grants: [],
    });
  });

  test("is taken back by a resume before the period ends", () => {
    const kept = decide(cancel("period_end").after, { kind: "resume" }, at("2026-02-20"));
    expect(kept).toMatchObject({ after: { state: "active", isCancelling: false }, grants: [] });
    expect(shown(advance(kept.after, at("2026-02-28")))).toEqual(["plan-s-1 20.00 2026-03-31T10:00"]);
  });

  test("drops a change of plan that was to follow", () => {
    const pending = decide(begun("2026-02-14"), { kind: "change", plan: MINI }, at("2026-02-14")).after;
    expect(cancel("period_end", pending).after.nextPlan).toBeUndefined();
  });

  test("of a paused subscription ends with the period, or at once when that is over", () => {
    const paused = decide(begun("2026-02-14"), { kind: "pause" }, at("2026-02-14")).after;
    const cancelled = cancel("period_end", paused).after;
    expect(advance(cancelled, at("2026-03-01")).after).toMatchObject({
      state: "ended",
      endedAtMs: at("2026-02-28"),
    });
    const later = decide(paused, { kind: "cancel", when: "period_end" }, at("2026-05-01")).after;
    expect(later).toMatchObject({ state: "ended", endedAtMs: at("2026-05-01") });
  });
});

describe("a command that the state forbids is declined", () => {
  const active = begun("2026-02-14");
  const paused = decide(active, { kind: "pause" }, at("2026-02-14")).after;
  const cancelling = decide(active, { kind: "cancel", when: "period_end" }, at("2026-02-14")).after;
  const ended = decide(active, { kind: "cancel", when: "now" }, at("2026-02-14")).after;
  const cases: readonly [string, Subscription, PlanCommand, string][] = [
    ["a pause of a pause", paused, { kind: "pause" }, "is paused already"],
    ["a resume of what runs", active, { kind: "resume" }, "neither paused nor cancelled"],
    ["a second cancellation", cancelling, { kind: "cancel", when: "period_end" }, "is cancelled already"],
    ["a change of what is cancelled", cancelling, { kind: "change", plan: MAX }, "resume it first"],
    ["a change to the same plan", active, { kind: "change", plan: { ...PRO } }, "has this plan already"],
    ["a pause of what has ended", ended, { kind: "pause" }, "has ended"],
    ["a resume of what has ended", ended, { kind: "resume" }, "has ended"],
  ];
  test.each(cases)("%s", (_, subscription, command, message) => {
    expect(() => decide(subscription, command, at("2026-02-14"))).toThrow(
      expect.objectContaining({ kind: "conflict", publicMessage: expect.stringContaining(message) }),
    );
  });
});

describe("a preview says in sentences", () => {
  const before = begun("2026-02-14");
  const sentences = (command: PlanCommand) =>
    previewOf(before, decide(before, command, at("2026-02-14"))).sentences;
  const KEPT = "Credit that was granted before is kept until its own end.";

  test("what an upgrade grants, binds and begins", () => {
    const rich = plan({
      ...MAX,
      models: ["m1", "m2"],
      limits: [{ amount: parseUsd("9"), period: "day" }],
      markup: 11_500n,
    });
    expect(sentences({ kind: "change", plan: rich })).toEqual([
      "15.00 USD are granted now for the rest of the running period, to be spent until 2026-02-28 10:00 UTC.",
      KEPT,
      "From now on, the plan's models (m1, m2), spending limit of 9.00 USD (day), markup bind the account.",
      "The next period begins on 2026-02-28 10:00 UTC with 50.00 USD of plan Max.",
    ]);
  });

  test("when a downgrade begins", () => {
    expect(sentences({ kind: "change", plan: MINI })).toEqual([
      KEPT,
      "The next period begins on 2026-02-28 10:00 UTC with 5.00 USD of plan Mini.",
    ]);
  });

  test("what a pause stops", () => {
    expect(sentences({ kind: "pause" })).toEqual([
      KEPT,
      "No period begins until the subscription is resumed; what binds the account stays.",
    ]);
  });

  test("when a cancellation ends it", () => {
    expect(sentences({ kind: "cancel", when: "period_end" })).toEqual([
      KEPT,
      "The subscription ends on 2026-02-28 10:00 UTC, with the plan's models, spending limits and markup.",
    ]);
    expect(sentences({ kind: "cancel", when: "now" })).toEqual([
      KEPT,
      "Models, spending limits and markup of the plan end now.",
      "No further period begins.",
    ]);
  });
});
