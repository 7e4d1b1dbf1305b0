import { expect, test } from "bun:test";
import fc from "fast-check";
import { DAY_MS } from "../../src/domain/id-time.ts";
import type { Plan } from "../../src/domain/plan.ts";
import { GatewayError } from "../../src/errors.ts";
import { advance, type Decision, decide, type PlanCommand } from "../../src/plans/decide.ts";
import { nextAtMsOf, type Subscription } from "../../src/plans/subscription.ts";
import { DRAFT, PRO, START } from "./samples.ts";

const plans = fc
  .record({
    period: fc.constantFrom<Plan["period"]>("month", "month", "7d", "30d"),
    grant: fc.bigInt({ min: 0n, max: 100n }).map((usd) => usd * 1_000_000_000n),
    carryOver: fc.integer({ min: 0, max: 2 }),
  })
  .map((terms): Plan => ({ ...PRO, ...terms }));

const when = fc.constantFrom("now", "period_end");
const commands = fc.oneof(
  { weight: 4, arbitrary: fc.constant<PlanCommand | undefined>(undefined) },
  fc.constant<PlanCommand>({ kind: "pause" }),
  fc.constant<PlanCommand>({ kind: "resume" }),
  fc.record({ kind: fc.constant("change"), plan: plans, when: fc.option(when, { nil: undefined }) }),
  fc.record({ kind: fc.constant("cancel"), when: fc.constant("period_end") }),
);
const steps = fc.array(
  // Clocks are set back at times.
  fc.record({ waitMs: fc.integer({ min: -5 * DAY_MS, max: 40 * DAY_MS }), command: commands }),
  { maxLength: 40 },
);
const zones = fc.constantFrom("UTC", "Europe/Berlin", "Australia/Lord_Howe");

test("every period is granted once, in order and without a gap, and no credit ends before it is decided", () => {
  fc.assert(
    fc.property(plans, zones, steps, (plan, timeZone, script) => {
      let subscription: Subscription = { ...DRAFT, plan, timeZone };
      let nowMs = START;
      const granted: Decision["grants"][number][] = [];
      const keep = ({ after, grants }: Decision) => {
        subscription = after;
        granted.push(...grants);
      };
      keep(advance(subscription, nowMs));
      for (const { waitMs, command } of script) {
        nowMs = Math.max(nowMs + waitMs, START);
        try {
          keep(command ? decide(subscription, command as PlanCommand, nowMs) : advance(subscription, nowMs));
        } catch (thrown) {
          if (!(thrown instanceof GatewayError)) throw thrown;
          keep(advance(subscription, nowMs));
        }
        expect(advance(subscription, nowMs).grants).toEqual([]);
        expect(nextAtMsOf(subscription) ?? Number.POSITIVE_INFINITY).toBeGreaterThan(nowMs);
      }
      const periods = granted.filter(({ isRaise }) => !isRaise);
      expect(periods.map(({ id }) => id)).toEqual(periods.map((_, period) => `plan-s-${period}`));
      expect(subscription.nextPeriod).toBe(periods.length);
      expect(new Set(granted.map(({ id }) => id)).size).toBe(granted.length);
      for (const [index, { startsAtMs, endsAtMs }] of periods.entries()) {
        expect(endsAtMs).toBeGreaterThan(startsAtMs);
        const next = periods[index + 1];
        // A period follows at the end of the one before, or later after a pause.
        if (next) expect(next.startsAtMs).toBeGreaterThanOrEqual(endsAtMs);
      }
      for (const { expiresAtMs, decidedAtMs, endsAtMs } of granted) {
        expect(expiresAtMs).toBeGreaterThan(decidedAtMs);
        expect(expiresAtMs).toBeGreaterThanOrEqual(endsAtMs);
      }
    }),
    { numRuns: 300 },
  );
});

test("raises of a period never make it more than the best plan of its time", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(plans, fc.integer({ min: 0, max: DAY_MS })), { maxLength: 30 }),
      (changes) => {
        let { after } = advance(DRAFT, START);
        let nowMs = START;
        let total = PRO.grant;
        let best = PRO.grant;
        for (const [to, waitMs] of changes) {
          nowMs = Math.min(nowMs + waitMs, START + 27 * DAY_MS);
          const plan: Plan = { ...to, period: "month" };
          try {
            const decision = decide(after, { kind: "change", plan, when: "now" }, nowMs);
            after = decision.after;
            for (const { amount } of decision.grants) total += amount;
            if (plan.grant > best) best = plan.grant;
          } catch (thrown) {
            if (!(thrown instanceof GatewayError)) throw thrown;
          }
          expect(total).toBeLessThanOrEqual(best);
        }
      },
    ),
    { numRuns: 200 },
  );
});
