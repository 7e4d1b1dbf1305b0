import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Account } from "../../../src/accounts/accounts.ts";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { readPayments } from "../../../src/config/payments.ts";
import { parseMarkup, parseUsd } from "../../../src/domain/money.ts";
import type { Plan } from "../../../src/domain/plan.ts";
import { createConsole } from "../../../src/http/console/entry.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { PRO } from "../../plans/samples.ts";
import {
  printObjectEvent,
  type ScriptedStripe,
  STRIPE_TEXT,
  signEvent,
  startScriptedStripe,
  WEBHOOK_SECRET,
} from "../../support/scripted-stripe.ts";
import type { TestConsole } from "../../support/test-console.ts";
import { openConsoleOn } from "./open-consoles.ts";

const SOLD: Plan = {
  ...PRO,
  markup: parseMarkup("1.2"),
  models: ["m1"],
  sale: { graceDays: 3, stripePrice: undefined },
};
const INTERNAL: Plan = { ...PRO, id: "internal", grant: parseUsd("999") };

describe.each(DIALECTS)("plans that owners buy in %s", (dialect) => {
  let stripe: ScriptedStripe;
  let console: TestConsole;
  let account: Account;
  let owner: Actor;
  beforeAll(async () => {
    stripe = startScriptedStripe();
    const secrets = { secretKey: "sk_test_key", webhookSecret: WEBHOOK_SECRET, apiBase: stripe.url };
    const publicUrl = "http://console.test";
    const settings = { publicUrl, signUp: "invited", isDemoOnly: false, trustedProxies: [] } as const;
    const sold = { plans: [SOLD, INTERNAL], payments: readPayments({}) };
    console = await openConsoleOn(dialect, { settings: { ...settings, ...sold, stripe: secrets } });
  });
  beforeEach(async () => {
    account = await console.newAccount();
    owner = await console.newMember(account.id, "owner");
    stripe.books.takeEvents();
    stripe.failWith(undefined);
  });
  afterAll(async () => {
    await console.stop();
    await stripe.stop();
  });

  const path = (rest = "") => `/accounts/${account.id}${rest}`;
  const order = (by: Actor, plan = "pro") =>
    console.call(by, "POST", path("/subscription/checkouts"), { plan });
  const subscription = async () =>
    (await console.call(owner, "GET", path("/subscription"))).json.subscription;
  const available = async () => (await console.call(owner, "GET", path("/wallet"))).json.available_usd;

  async function send(body: string, secret = WEBHOOK_SECRET): Promise<number> {
    const headers = { "stripe-signature": await signEvent(body, { secret }) };
    const url = "http://console.test/console/api/stripe/webhook";
    const request = new Request(url, { method: "POST", headers, body });
    return (await createConsole(console.parts)(request, "192.0.2.9")).status;
  }

  async function deliver(wanted = /./): Promise<void> {
    for (const { type, object } of stripe.books.takeEvents()) {
      if (wanted.test(type)) expect(await send(printObjectEvent(type, object))).toBe(200);
    }
  }

  async function buy() {
    const { json } = await order(owner);
    return stripe.books.billing.buy(json.id) ?? expect.unreachable();
  }

  test("an owner buys a plan, sees it and its invoice, and manages it in the portal", async () => {
    const offers = (await console.call(owner, "GET", path("/plans"))).json.items;
    expect(offers).toMatchObject([{ id: "pro", price_usd: "18.00", markup: null, sold_by: "stripe" }]);
    expect(offers).toHaveLength(1);
    const { customer } = await buy();
    await deliver();
    expect(await available()).toBe("20.00");
    expect(await subscription()).toMatchObject({
      billed_by: "stripe",
      state: "active",
      plan: { markup: null },
    });
    expect((await order(owner)).status).toBe(409);
    const { items } = (await console.call(owner, "GET", path("/wallet/transfers"))).json;
    expect(items[0]).toMatchObject({ kind: "top_up", has_receipt: true });
    const links = await console.call(owner, "GET", path(`/wallet/payments/${items[0].id}`));
    expect(links.json.invoice_url).toStartWith("https://invoice.stripe.com/i/in_");
    const portal = await console.call(owner, "POST", path("/subscription/portal"));
    expect(portal.json.url).toBe(`https://billing.stripe.com/p/session/${customer}`);
    const call = stripe.calls.find(({ path: called }) => called.endsWith("/checkout/sessions"));
    expect(call?.form.get("success_url")).toEndWith("/wallet?plan=ordered");
  });

  test("developers and strangers buy nothing, and a plan that is not sold is unknown", async () => {
    const developer = await console.newMember(account.id, "developer");
    const stranger = await console.newMember((await console.newAccount()).id, "owner");
    expect((await order(developer)).status).toBe(403);
    expect((await order(stranger)).status).toBe(404);
    expect((await order(owner, "internal")).status).toBe(404);
    expect((await console.call(developer, "POST", path("/subscription/portal"))).status).toBe(403);
    expect((await console.call(owner, "POST", path("/subscription/portal"))).status).toBe(404);
  });

  test("a forged event changes nothing, and a true one of a subscription that is not ours neither", async () => {
    const bought = await buy();
    const body = printObjectEvent("customer.subscription.updated", bought);
    expect(await send(body, "whsec_b3RoZXI")).toBe(400);
    expect(await subscription()).toBeNull();
    const foreign = {
      id: "sub_foreign",
      status: "active",
      metadata: { tollgate_plan_order: "plan_order_1" },
    };
    expect(await send(printObjectEvent("customer.subscription.updated", foreign))).toBe(200);
    // An event with members of its maker's choice only says which subscription to read.
    const lying = { ...bought, status: "canceled", ended_at: 1 };
    expect(await send(printObjectEvent("customer.subscription.deleted", lying))).toBe(200);
    expect(await subscription()).toMatchObject({ state: "active" });
  });

  test("an event fails while Stripe is away, so that Stripe repeats it, and nothing of its text is shown", async () => {
    const bought = await buy();
    stripe.failWith(503);
    expect(await send(printObjectEvent("customer.subscription.updated", bought))).toBe(502);
    const failed = await order(await console.newMember((await console.newAccount()).id, "owner"));
    expect(failed.text).not.toContain(STRIPE_TEXT);
    stripe.failWith(undefined);
    expect(await send(printObjectEvent("customer.subscription.updated", bought))).toBe(200);
    expect(await available()).toBe("20.00");
  });

  test("a refund takes its part of the credit, also when its event is before that of the invoice", async () => {
    const { id } = await buy();
    const { intent } =
      [...stripe.books.billing.invoices.values()].find((each) => each.subscription === id) ??
      expect.unreachable();
    stripe.books.refund(intent ?? "", 900);
    await deliver(/^charge\./);
    expect(await available()).toBe("10.00");
    stripe.books.refund(intent ?? "", 900);
    await deliver();
    expect(await available()).toBe("0.00");
    expect(await subscription()).toMatchObject({ state: "active" });
  });

  test("an operator previews and cancels it, here and at Stripe", async () => {
    const bought = await buy();
    await deliver();
    const operator = await console.newOperator();
    const { id, version } = await subscription();
    const cancel = { action: "cancel", when: "period_end" };
    const preview = await console.call(operator, "POST", `/operator/subscriptions/${id}/preview`, cancel);
    expect(preview.json.ends_at).not.toBeNull();
    const change = { ...cancel, version, reason: "asked" };
    const changed = await console.call(operator, "POST", `/operator/subscriptions/${id}`, change);
    expect(changed.status).toBe(200);
    expect([bought.cancel_at_period_end, changed.json.ends_at]).toEqual([true, preview.json.ends_at]);
    const stale = await console.call(operator, "POST", `/operator/subscriptions/${id}`, change);
    expect(stale.status).toBe(409);
  });
});
