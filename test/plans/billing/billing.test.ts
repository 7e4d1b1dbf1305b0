import { beforeEach, describe, expect, test } from "bun:test";
import { findAccount } from "../../../src/accounts/accounts.ts";
import { type AuditActor, listAuditEntries } from "../../../src/accounts/audit-trail.ts";
import { markupOf } from "../../../src/accounts/markup.ts";
import { parseMarkup, parseUsd, printUsd } from "../../../src/domain/money.ts";
import type { Plan } from "../../../src/domain/plan.ts";
import { LedgerError } from "../../../src/ledger/ledger.ts";
import { commandBilled } from "../../../src/plans/billing/commands.ts";
import { openPortal, orderPlan } from "../../../src/plans/billing/orders.ts";
import { reconcile } from "../../../src/plans/billing/reconcile.ts";
import { type BillingParts, syncBilled } from "../../../src/plans/billing/sync.ts";
import type { PlanCommand } from "../../../src/plans/decide.ts";
import { runPlanPass } from "../../../src/plans/pass.ts";
import { command, previewCommand, subscribe } from "../../../src/plans/plans.ts";
import { findLive, listGrants, listSubscriptions } from "../../../src/plans/reads.ts";
import { DIALECTS, storageForTests } from "../../accounts/temp-storage.ts";
import { createCapturedLog } from "../../support/captured-log.ts";
import { PRO } from "../samples.ts";
import { type CallTrouble, stripeWithoutNetwork } from "./stripe-without-network.ts";

const OWNER: AuditActor = { kind: "person", id: "o", name: "owner@example.com" };
const OPERATOR: AuditActor = { kind: "person", id: "p", name: "operator@example.com" };
const DAY = 86_400_000;
/** 20 USD of credit for 18.00 USD a month. */
const SOLD: Plan = {
  ...PRO,
  markup: parseMarkup("1.1"),
  limits: [{ amount: parseUsd("5"), period: "day" }],
  sale: { graceDays: 3, stripePrice: undefined },
};
const at = (text: string) => Date.parse(`${text}T00:00Z`);

describe.each(DIALECTS)("a plan that is sold through Stripe in %s", (dialect) => {
  const storage = storageForTests(dialect);
  let trouble: () => CallTrouble;
  let plans: Plan[];
  let accountId: string;
  let scripted: ReturnType<typeof stripeWithoutNetwork>;
  let parts: BillingParts;
  let log: ReturnType<typeof createCapturedLog>;
  beforeEach(async () => {
    accountId = (await storage.newAccount()).id;
    trouble = () => "none";
    scripted = stripeWithoutNetwork(storage.now, () => trouble());
    plans = [SOLD];
    log = createCapturedLog();
    parts = { ...storage, stripe: scripted.stripe, plans: () => plans, log };
  });

  const order = (plan: Plan = SOLD) =>
    orderPlan(parts, OWNER, {
      accountId,
      plan,
      successUrl: "http://a/b",
      cancelUrl: "http://a",
      hasTax: false,
    });

  /** Sends what Stripe has raised, each event as the webhook handles it. */
  async function deliver(): Promise<void> {
    for (const { object } of scripted.books.takeEvents()) {
      const stripeId = subscriptionIn(object);
      if (stripeId) await syncBilled(parts, stripeId);
    }
  }

  async function buy(plan: Plan = SOLD): Promise<string> {
    const { sessionId } = await order(plan);
    const bought = scripted.billing.buy(sessionId);
    await deliver();
    return bought?.id ?? "";
  }

  async function passTo(text: string): Promise<void> {
    scripted.billing.advance(at(text), (nowMs) => {
      storage.clock.nowMs = nowMs;
    });
    storage.clock.nowMs = at(text);
  }

  const live = async () => (await findLive(storage.database, accountId)) ?? expect.unreachable();
  const toppedUp = async () => printUsd((await storage.ledger.journalTotals(accountId)).toppedUp);
  const actions = async () => {
    const wanted = { accountId, action: "subscription" };
    const entries = await listAuditEntries(storage.database, wanted, { size: 50, after: undefined });
    return entries.map(({ action, actorKind }) => `${action} by ${actorKind}`).toReversed();
  };
  const markup = async () => {
    const account = await findAccount(storage.database, accountId);
    return account && markupOf(account);
  };
  const limits = async () => (await storage.ledger.spendLimits(accountId)).length;
  const send = (wanted: PlanCommand) =>
    live().then(({ id: subscriptionId }) =>
      commandBilled(parts, OPERATOR, { subscriptionId, command: wanted, reason: "asked" }),
    );

  test("begins with its first paid invoice, and each paid invoice grants its period once", async () => {
    const { sessionId } = await order();
    await reconcile(parts);
    expect(await findLive(storage.database, accountId)).toBeUndefined();
    const bought = scripted.billing.buy(sessionId);
    const events = [...scripted.books.takeEvents()];
    await Promise.all(
      events.map(({ object }) => syncBilled(parts, subscriptionIn(object) ?? bought?.id ?? "")),
    );
    expect(await live()).toMatchObject({
      state: "active",
      paidUntilMs: at("2026-07-01"),
      stripeId: bought?.id,
    });
    expect([await toppedUp(), await limits(), await markup()]).toEqual(["20.00", 1, SOLD.markup]);
    await passTo("2026-07-02");
    await deliver();
    await runPlanPass({ ...parts, log });
    expect([await toppedUp(), (await live()).paidUntilMs]).toEqual(["40.00", at("2026-08-01")]);
    const grants = await listGrants(storage.database, (await live()).id, 10);
    expect(grants.map(({ period, endsAtMs }) => [period, endsAtMs])).toEqual([
      [1, at("2026-08-01")],
      [0, at("2026-07-01")],
    ]);
    expect(await actions()).toEqual(["subscription.created by system"]);
  });

  test("grants every period of a standstill, and is as Stripe says when no event came at all", async () => {
    const { sessionId } = await order();
    scripted.billing.buy(sessionId);
    await passTo("2026-09-15");
    await reconcile(parts);
    expect([await toppedUp(), (await live()).state, (await live()).nextPeriod]).toEqual([
      "80.00",
      "active",
      4,
    ]);
    await reconcile(parts);
    expect(await toppedUp()).toBe("80.00");
  });

  test("is paused after the days of grace, and resumes with the next paid invoice", async () => {
    const stripeId = await buy();
    const { customer } = scripted.billing.subscriptions.get(stripeId) ?? expect.unreachable();
    scripted.billing.behaviours.set(customer, "declined");
    await passTo("2026-07-03");
    await deliver();
    await runPlanPass({ ...parts, log });
    expect([(await live()).state, await markup()]).toEqual(["active", SOLD.markup]);
    await passTo("2026-07-05");
    await runPlanPass({ ...parts, log });
    await deliver();
    expect(await live()).toMatchObject({ state: "paused", pausedAtMs: at("2026-07-04") });
    // Its models and limits stay, so that a pause widens nothing; its price does not.
    expect([await limits(), await markup(), await toppedUp()]).toEqual([1, undefined, "20.00"]);
    scripted.billing.behaviours.set(customer, "ok");
    for (const invoice of scripted.billing.openInvoices(stripeId)) scripted.billing.pay(invoice);
    await deliver();
    expect([(await live()).state, await markup(), await toppedUp()]).toEqual([
      "active",
      SOLD.markup,
      "40.00",
    ]);
    expect(await actions()).toEqual([
      "subscription.created by system",
      "subscription.paused by system",
      "subscription.resumed by system",
    ]);
  });

  test("ends as Stripe says, and an invoice that is paid afterwards is granted still", async () => {
    const stripeId = await buy();
    const { customer } = scripted.billing.subscriptions.get(stripeId) ?? expect.unreachable();
    scripted.billing.behaviours.set(customer, "declined");
    await passTo("2026-07-20");
    await deliver();
    expect(await findLive(storage.database, accountId)).toBeUndefined();
    expect([await limits(), await markup()]).toEqual([0, undefined]);
    const [open] = scripted.billing.openInvoices(stripeId);
    scripted.billing.pay(open ?? expect.unreachable());
    await deliver();
    expect(await toppedUp()).toBe("40.00");
    expect(await findLive(storage.database, accountId)).toBeUndefined();
  });

  test("grants the part of its credit that was paid, and nothing for a balance at Stripe", async () => {
    const [small, big] = [scripted.billing.addPrice(1800), scripted.billing.addPrice(5000)];
    const sold: Plan = { ...SOLD, sale: { graceDays: 3, stripePrice: small.id } };
    const max: Plan = {
      ...SOLD,
      id: "max",
      grant: parseUsd("60"),
      price: parseUsd("50"),
      sale: { graceDays: 3, stripePrice: big.id },
    };
    plans = [sold, max];
    const stripeId = await buy(sold);
    storage.clock.nowMs = at("2026-06-16");
    scripted.billing.changePrice(stripeId, big.id, "always_invoice");
    await deliver();
    // Paid: half of 32.00 USD, of 50.00 USD for which 60 USD are granted.
    expect([await toppedUp(), (await live()).plan.id]).toEqual(["39.20", "max"]);
    scripted.billing.changePrice(stripeId, small.id, "always_invoice");
    await deliver();
    expect([await toppedUp(), (await live()).plan.id]).toEqual(["39.20", "pro"]);
    // The 16.00 USD that Stripe has kept pay most of the next period.
    await passTo("2026-07-02");
    await deliver();
    expect(await toppedUp()).toBe(printUsd(parseUsd("39.2") + (parseUsd("20") * 2n) / 18n));
    expect((await listGrants(storage.database, (await live()).id, 1))[0]?.amount).toBe(2_222_222_222n);
  });

  test("changes its plan with the invoice that pays for it, and says before what follows", async () => {
    const [small, big] = [scripted.billing.addPrice(1800), scripted.billing.addPrice(5000)];
    const sold: Plan = { ...SOLD, sale: { graceDays: 3, stripePrice: small.id } };
    const max: Plan = {
      ...SOLD,
      id: "max",
      price: parseUsd("50"),
      sale: { graceDays: 3, stripePrice: big.id },
    };
    plans = [sold, max];
    const stripeId = await buy(sold);
    scripted.billing.changePrice(stripeId, big.id, "none");
    await deliver();
    expect(await live()).toMatchObject({ plan: { id: "pro" }, nextPlan: { id: "max" } });
    // A price keeps its plan when the file loses it.
    plans = [];
    await passTo("2026-07-02");
    await deliver();
    expect(await live()).toMatchObject({ plan: { id: "max" }, nextPlan: undefined });
    expect(log.text()).toBe("");
  });

  test("reports a paid invoice whose price no plan has, and grants it once the file has the plan", async () => {
    const other = scripted.billing.addPrice(700);
    const stripeId = await buy();
    scripted.billing.changePrice(stripeId, other.id, "none");
    await passTo("2026-07-02");
    await deliver();
    expect([await toppedUp(), log.text().includes("paid invoice of no plan")]).toEqual(["20.00", true]);
    plans.push({
      ...SOLD,
      id: "small",
      price: parseUsd("7"),
      grant: parseUsd("5"),
      sale: { graceDays: 3, stripePrice: other.id },
    });
    await passTo("2026-07-03");
    await reconcile(parts);
    expect([await toppedUp(), (await live()).plan.id]).toEqual(["25.00", "small"]);
    expect((await actions()).filter((action) => action.includes("refused"))).toHaveLength(1);
  });

  test("an account that has a subscription buys no other, and a second paid page grants its credit and ends", async () => {
    const [first, second] = [await order(), await order()];
    expect(() => scripted.billing.buy(first.sessionId)).toThrow("no open page");
    // The first page was paid in the moment in which it was to end.
    const page = scripted.billing.pages.get(first.sessionId) ?? expect.unreachable();
    page.status = "open";
    const [one, other] = [scripted.billing.buy(first.sessionId), scripted.billing.buy(second.sessionId)];
    await deliver();
    await expect(order()).rejects.toMatchObject({ kind: "conflict" });
    expect([await toppedUp(), (await live()).stripeId]).toEqual(["40.00", one?.id]);
    expect([one?.status, other?.status]).toEqual(["active", "canceled"]);
    const { items: all } = await listSubscriptions(storage.database, { accountId, size: 9 });
    expect(all.map(({ state }) => state).toSorted()).toEqual(["active", "ended"]);
  });

  test("an operator's plan stays where a page is paid meanwhile, and the subscription at Stripe ends", async () => {
    const { sessionId } = await order();
    await subscribe(storage, OPERATOR, { accountId, plan: PRO });
    const bought = scripted.billing.buy(sessionId);
    await deliver();
    expect([bought?.status, (await live()).stripeId, await toppedUp()]).toEqual([
      "canceled",
      undefined,
      "40.00",
    ]);
  });

  test("an operator pauses, resumes and cancels it, here and at Stripe", async () => {
    const stripeId = await buy();
    const there = scripted.billing.subscriptions.get(stripeId) ?? expect.unreachable();
    expect(await send({ kind: "pause" })).toMatchObject({ state: "paused" });
    await passTo("2026-07-02");
    await deliver();
    expect([there.pause_collection?.behavior, await toppedUp()]).toEqual(["void", "20.00"]);
    expect(await send({ kind: "resume" })).toMatchObject({ state: "active" });
    expect(await send({ kind: "cancel", when: "now" })).toMatchObject({ state: "ended" });
    expect([there.status, there.pause_collection]).toEqual(["canceled", null]);
    expect(await actions()).toEqual([
      "subscription.created by system",
      "subscription.paused by person",
      "subscription.resumed by person",
      "subscription.cancelled by person",
    ]);
  });

  test("a cancellation with the period can be taken back, and no plan is changed here", async () => {
    const stripeId = await buy();
    const there = scripted.billing.subscriptions.get(stripeId) ?? expect.unreachable();
    const { id: subscriptionId } = await live();
    const ending = { kind: "cancel", when: "period_end" } as const;
    const preview = await previewCommand(storage, { subscriptionId, command: ending });
    expect(preview.endsAtMs).toBe(at("2026-07-01"));
    expect(await send(ending)).toMatchObject({ isCancelling: true });
    expect(there.cancel_at_period_end).toBe(true);
    expect(await send({ kind: "resume" })).toMatchObject({ isCancelling: false });
    await expect(send({ kind: "change", plan: PRO })).rejects.toMatchObject({ kind: "conflict" });
    await send(ending);
    await passTo("2026-07-02");
    await deliver();
    expect(await findLive(storage.database, accountId)).toBeUndefined();
    expect(await toppedUp()).toBe("20.00");
  });

  test("an end is carried out at Stripe later when Stripe is away, and by commands without Stripe", async () => {
    const stripeId = await buy();
    const there = scripted.billing.subscriptions.get(stripeId) ?? expect.unreachable();
    trouble = () => "lost_before";
    await expect(send({ kind: "pause" })).rejects.toMatchObject({ kind: "payments_unavailable" });
    const { id: subscriptionId } = await live();
    await expect(
      command(storage, OPERATOR, { subscriptionId, command: { kind: "pause" } }),
    ).rejects.toMatchObject({ kind: "conflict" });
    await command(storage, OPERATOR, { subscriptionId, command: { kind: "cancel", when: "now" } });
    expect([await limits(), await findLive(storage.database, accountId)]).toEqual([0, undefined]);
    await reconcile(parts).catch(() => undefined);
    expect(there.status).toBe("active");
    trouble = () => "none";
    storage.clock.nowMs += 60_000;
    await reconcile(parts);
    expect(there.status).toBe("canceled");
  });

  test("credit that the ledger did not take is booked by the next pass", async () => {
    const { sessionId } = await order();
    scripted.billing.buy(sessionId);
    const { spendLimits, setSpendLimit, deleteSpendLimit } = storage.ledger;
    const topUp = () => Promise.reject(new LedgerError("unavailable"));
    const away = { ...parts, ledger: { topUp, spendLimits, setSpendLimit, deleteSpendLimit } };
    await reconcile(away);
    expect(await toppedUp()).toBe("0.00");
    await runPlanPass({ ...parts, log });
    expect(await toppedUp()).toBe("20.00");
  });

  test("subscriptions of others are left alone, and one whose order is not here is reported", async () => {
    const { sessionId } = await order();
    scripted.billing.buy(sessionId);
    const { planOrders } = storage.database.tables;
    await storage.database.transact(async (tx) => void (await tx.delete(planOrders)));
    scripted.books.takeEvents();
    storage.clock.nowMs += 2 * DAY;
    await reconcile(parts);
    expect(log.text()).toContain("subscription at Stripe without an account here");
    const wanted = { action: "subscription.unknown_at_stripe" };
    storage.clock.nowMs += 2 * DAY;
    await reconcile(parts);
    const reported = await listAuditEntries(storage.database, wanted, { size: 9, after: undefined });
    expect(reported.filter(({ target }) => scripted.billing.subscriptions.has(target ?? ""))).toHaveLength(1);
    expect(await syncBilled(parts, "sub_of_others")).toBe("foreign");
  });

  test("the portal is that of the customer, also for the next order", async () => {
    const portal = { accountId, returnUrl: "http://a" };
    await expect(openPortal(parts, portal)).rejects.toMatchObject({ kind: "unknown_item" });
    const stripeId = await buy();
    const { customer } = scripted.billing.subscriptions.get(stripeId) ?? expect.unreachable();
    expect(await openPortal(parts, portal)).toBe(`https://billing.stripe.com/p/session/${customer}`);
    await send({ kind: "cancel", when: "now" });
    const again = await buy();
    expect(scripted.billing.subscriptions.get(again)?.customer).toBe(customer);
    expect(await toppedUp()).toBe("40.00");
  });
});

function subscriptionIn(object: object): string | undefined {
  const { id, subscription, parent }: Members = object;
  const named = id?.startsWith("sub_") ? id : (subscription ?? parent?.subscription_details?.subscription);
  return named?.startsWith("sub_") ? named : undefined;
}

interface Members {
  readonly id?: string;
  readonly subscription?: string | null;
  readonly parent?: { readonly subscription_details?: { readonly subscription?: string } };
}
