import { describe, expect, test } from "bun:test";
import type { AuditActor } from "../../../src/accounts/audit-trail.ts";
import { parseUsd } from "../../../src/domain/money.ts";
import type { Plan } from "../../../src/domain/plan.ts";
import { LedgerError } from "../../../src/ledger/ledger.ts";
import { commandBilled } from "../../../src/plans/billing/commands.ts";
import { orderPlan } from "../../../src/plans/billing/orders.ts";
import { reconcile } from "../../../src/plans/billing/reconcile.ts";
import { type BillingParts, syncBilled } from "../../../src/plans/billing/sync.ts";
import { runPlanPass } from "../../../src/plans/pass.ts";
import { findLive, listSubscriptions } from "../../../src/plans/reads.ts";
import { storageForTests } from "../../accounts/temp-storage.ts";
import { createCapturedLog } from "../../support/captured-log.ts";
import { createDraw, drawInteger } from "../../support/seeded-random.ts";
import type { StripeInvoice } from "../../support/stripe-subscriptions.ts";
import { PRO } from "../samples.ts";
import { type CallTrouble, stripeWithoutNetwork } from "./stripe-without-network.ts";

const ACTOR: AuditActor = { kind: "person", id: "o", name: "owner@example.com" };
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const GRACE_DAYS = 4;
const STEPS = 60;

/** What a price grants for what it costs, in cents and nanos. */
interface Terms {
  readonly id: string;
  readonly cents: bigint;
  readonly grant: bigint;
}

/** The credit of an invoice, reckoned from docs/plans.md alone. */
function creditOf({ lines, amount_paid: paid }: StripeInvoice, terms: ReadonlyMap<string, Terms>): bigint {
  const whole = lines.filter(({ proration }) => !proration);
  const line = whole.at(-1) ?? lines.filter(({ amount }) => amount >= 0).at(-1);
  const plan = terms.get(line?.price ?? "");
  if (!plan) throw new Error("an invoice of no plan");
  return BigInt(paid) >= plan.cents ? plan.grant : (BigInt(paid) * plan.grant) / plan.cents;
}

describe("events that come twice, late, in any order or not at all", () => {
  const storage = storageForTests("sqlite");

  test.each([1, 2, 3, 4])(
    "leave what Stripe has once it was read, and every paid invoice granted once (seed %i)",
    async (seed) => {
      const draw = createDraw(seed);
      const isDrawn = (percent: number) => drawInteger(draw, 1, 100) <= percent;
      const { id: accountId } = await storage.newAccount();
      let trouble: CallTrouble = "none";
      const { books, billing, stripe } = stripeWithoutNetwork(storage.now, () => trouble);
      const prices = [billing.addPrice(1800), billing.addPrice(5000), billing.addPrice(777)];
      const plans = prices.map(
        ({ id, unit_amount: cents }, index): Plan => ({
          ...PRO,
          id: `plan${index}`,
          grant: parseUsd(["20", "60.000000001", "7"][index] ?? "0"),
          price: BigInt(cents) * 10_000_000n,
          sale: { graceDays: GRACE_DAYS, stripePrice: id },
        }),
      );
      const terms = new Map(
        plans.map(({ id, grant }, index) => {
          const price = prices[index] ?? expect.unreachable();
          return [price.id, { id, grant, cents: BigInt(price.unit_amount) }] as const;
        }),
      );
      const log = createCapturedLog();
      const { spendLimits, setSpendLimit, deleteSpendLimit } = storage.ledger;
      const topUp: BillingParts["ledger"]["topUp"] = async (request) => {
        if (isDrawn(20)) throw new LedgerError("unavailable");
        return storage.ledger.topUp(request);
      };
      const parts: BillingParts = {
        ...storage,
        ledger: { topUp, spendLimits, setSpendLimit, deleteSpendLimit },
        stripe,
        plans: () => plans,
        log,
      };
      const events: string[] = [];
      const gather = () => {
        for (const { object } of books.takeEvents()) {
          const name = JSON.stringify(object).match(/sub_\w+/)?.[0];
          // A tenth is lost, a fifth comes twice.
          if (name && !isDrawn(10)) events.push(name, ...(isDrawn(20) ? [name] : []));
        }
      };
      /** Two gateways handle events at once, in a drawn order. */
      const handle = async () => {
        while (events.length > 0 && isDrawn(85)) {
          const taken = [0, 1].flatMap(() =>
            events.splice(drawInteger(draw, 0, Math.max(0, events.length - 1)), 1),
          );
          await Promise.allSettled(taken.map((stripeId) => syncBilled(parts, stripeId)));
        }
      };
      const advance = (toMs: number) => {
        billing.advance(toMs, (nowMs) => {
          storage.clock.nowMs = nowMs;
        });
        storage.clock.nowMs = toMs;
      };
      const liveThere = () => [...billing.subscriptions.values()].find(({ ended_at }) => ended_at === null);

      for (let step = 0; step < STEPS; step++) {
        trouble = isDrawn(15) ? (isDrawn(50) ? "lost_before" : "lost_after") : "none";
        const there = liveThere();
        if (!there) {
          const plan = plans[drawInteger(draw, 0, 2)] ?? expect.unreachable();
          const pages = { successUrl: "http://a", cancelUrl: "http://a", hasTax: false };
          const page = await orderPlan(parts, ACTOR, { accountId, plan, ...pages }).catch(() => undefined);
          if (page && isDrawn(90)) billing.buy(page.sessionId);
        } else {
          const price = prices[drawInteger(draw, 0, 2)] ?? expect.unreachable();
          const kind = drawInteger(draw, 1, 12);
          if (kind === 1) billing.behaviours.set(there.customer, "declined");
          if (kind <= 3 && kind > 1) billing.behaviours.set(there.customer, "ok");
          if (kind === 4) billing.changePrice(there.id, price.id, "none");
          if (kind === 5) billing.changePrice(there.id, price.id, "always_invoice");
          if (kind === 6) billing.changePrice(there.id, price.id, "create_prorations");
          if (kind === 7) billing.cancelAtPeriodEnd(there.id, isDrawn(40));
          if (kind === 8 && isDrawn(30)) billing.cancel(there.id);
          if (kind === 9 && isDrawn(30)) {
            const live = await findLive(storage.database, accountId);
            const command = { kind: "cancel", when: "now" } as const;
            if (live?.stripeId) {
              await commandBilled(parts, ACTOR, { subscriptionId: live.id, command }).catch(() => undefined);
            }
          }
          if (kind === 10) for (const invoice of billing.openInvoices(there.id)) billing.pay(invoice);
        }
        advance(storage.now() + drawInteger(draw, 1, 20) * DAY + drawInteger(draw, 0, 23) * HOUR);
        gather();
        await handle();
        await runPlanPass({ ...parts, log }).catch(() => undefined);
        if (isDrawn(20)) await reconcile(parts).catch(() => undefined);
      }

      // A day after the last trouble, all is read: no event is needed for it.
      trouble = "none";
      for (const day of [1, 2, 3]) {
        advance(storage.now() + day * DAY);
        await reconcile({ ...parts, ledger: storage.ledger });
        await runPlanPass({ ...storage, log });
      }

      const paid = [...billing.invoices.values()].filter(({ status }) => status === "paid");
      const expected = paid
        .map((invoice) => [invoice.id, creditOf(invoice, terms)] as const)
        .filter(([, credit]) => credit > 0n);
      const { items } = await storage.ledger.transfers(accountId, { size: 1_000 });
      const booked = items
        .filter(({ kind }) => kind === "top_up")
        .map(({ transferId, amount }) => [transferId.replace(/^plan-[\da-f-]{36}-/, ""), amount]);
      const byId = (one: readonly unknown[], other: readonly unknown[]) =>
        String(one[0]) < String(other[0]) ? -1 : 1;
      expect(booked.toSorted(byId)).toEqual(expected.map((each) => [...each]).toSorted(byId));
      expect(expected.length).toBeGreaterThan(5);

      const { items: ours } = await listSubscriptions(storage.database, { accountId, size: 1_000 });
      const byStripe = new Map(ours.map((each) => [each.stripeId, each]));
      for (const there of billing.subscriptions.values()) {
        const here = byStripe.get(there.id) ?? expect.unreachable();
        const own = paid.filter(({ subscription }) => subscription === there.id);
        const paidUntilMs = Math.max(
          ...own.flatMap(({ lines }) => lines.map(({ period }) => period.end * 1000)),
        );
        const isOver = there.ended_at !== null;
        const isUnpaid = paidUntilMs + GRACE_DAYS * DAY <= storage.now();
        const state = isOver ? "ended" : isUnpaid ? "paused" : "active";
        expect([here.state, here.paidUntilMs]).toEqual([state, paidUntilMs]);
        if (!isOver) expect(here.isCancelling).toBe(there.cancel_at_period_end);
      }
      expect(ours).toHaveLength(billing.subscriptions.size);
    },
  );
});
