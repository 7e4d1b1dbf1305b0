import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Account } from "../../../src/accounts/accounts.ts";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { readPayments } from "../../../src/config/payments.ts";
import { createConsole } from "../../../src/http/console/entry.ts";
import { runAutoTopUps } from "../../../src/payments/auto-job.ts";
import { createStripeClient } from "../../../src/payments/stripe.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import {
  printEvent,
  printObjectEvent,
  type ScriptedStripe,
  STRIPE_TEXT,
  signEvent,
  startScriptedStripe,
  WEBHOOK_SECRET,
} from "../../support/scripted-stripe.ts";
import type { TestConsole } from "../../support/test-console.ts";
import { untilDayLasts } from "../../support/until.ts";
import { openConsoleOn } from "./open-consoles.ts";

const TERMS = { is_on: true, below_usd: "10", amount_usd: "20.00", month_max_usd: "100.00" };

describe.each(DIALECTS)("the automatic top-up of an account in %s", (dialect) => {
  let stripe: ScriptedStripe;
  let console: TestConsole;
  let account: Account;
  let owner: Actor;
  const payments = { ...readPayments({}) };
  beforeAll(async () => {
    stripe = startScriptedStripe();
    const secrets = { secretKey: "sk_test_key", webhookSecret: WEBHOOK_SECRET, apiBase: stripe.url };
    const publicUrl = "http://console.test";
    const settings = { publicUrl, signUp: "invited", isDemoOnly: false, trustedProxies: [] } as const;
    console = await openConsoleOn(dialect, { settings: { ...settings, stripe: secrets, payments } });
  });
  beforeEach(async () => {
    await untilDayLasts();
    Object.assign(payments, readPayments({}));
    account = await console.newAccount();
    owner = await console.newMember(account.id, "owner");
    stripe.books.takeEvents();
  });
  afterAll(async () => {
    await console.stop();
    await stripe.stop();
  });

  const path = (rest = "") => `/accounts/${account.id}/wallet${rest}`;
  const readNow = async () => (await console.call(owner, "GET", path("/auto-top-up"))).json;
  const availableNow = async () => (await console.call(owner, "GET", path())).json.available_usd;

  function pass(): Promise<void> {
    const { settings } = console.parts;
    const client = createStripeClient(settings.stripe ?? expect.unreachable());
    const returnUrl = () => "http://console.test/wallet";
    return runAutoTopUps({ ...console.parts, stripe: client, returnUrl, isOffered: () => true });
  }

  /** Sends an event to the webhook, signed as Stripe does. */
  async function send(body: string, secret = WEBHOOK_SECRET): Promise<number> {
    const headers = { "stripe-signature": await signEvent(body, { secret }) };
    const url = "http://console.test/console/api/stripe/webhook";
    const request = new Request(url, { method: "POST", headers, body });
    return (await createConsole(console.parts)(request, "192.0.2.9")).status;
  }

  async function deliver(): Promise<void> {
    for (const { type, object } of stripe.books.takeEvents()) {
      expect(await send(printObjectEvent(type, object))).toBe(200);
    }
  }

  async function setUp(behaviour = "ok"): Promise<void> {
    expect((await console.call(owner, "PUT", path("/auto-top-up"), TERMS)).status).toBe(200);
    const page = await console.call(owner, "POST", path("/auto-top-up/card"));
    expect(page.json.url).toStartWith("https://checkout.stripe.com/c/setup/");
    const { type, object } = stripe.books.finishSetup(page.json.id, behaviour);
    expect(await send(printObjectEvent(type, object))).toBe(200);
  }

  test("is set up, pays, and shows its receipt in the history", async () => {
    expect(await readNow()).toMatchObject({ is_offered: true, state: "off", card: null, last: null });
    await setUp();
    expect(await readNow()).toMatchObject({ state: "on", card: "visa 4242", below_usd: "10.00" });
    await pass();
    await deliver();
    expect(await availableNow()).toBe("20.00");
    const { items } = (await console.call(owner, "GET", path("/transfers"))).json;
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({ kind: "top_up", has_receipt: true });
    const links = await console.call(owner, "GET", path(`/payments/${items[0].id}`));
    expect(links.json).toEqual({
      id: items[0].id,
      receipt_url: `https://pay.stripe.com/receipts/${items[0].id}`,
      invoice_url: null,
    });
    expect(await readNow()).toMatchObject({ month_usd: "20.00", last: { state: "paid", id: items[0].id } });
  });

  test("a forged event of a payment or a card is refused and changes nothing", async () => {
    await setUp("processing");
    await pass();
    const [intent] = [...stripe.books.intents.values()].slice(-1);
    const paid = { ...intent, status: "succeeded", amount_received: 2_000 };
    expect(await send(printObjectEvent("payment_intent.succeeded", paid), "whsec_b3RoZXI")).toBe(400);
    expect(await availableNow()).toBe("0.00");
  });

  test("a refund in Stripe's dashboard is a line of the statement with its payment", async () => {
    await setUp();
    await pass();
    const intent = [...stripe.books.intents.values()].at(-1) ?? expect.unreachable();
    stripe.books.refund(intent.id, 500);
    const refund = stripe.books.refund(intent.id, 250);
    await deliver();
    expect(await availableNow()).toBe("12.50");
    const { items } = (await console.call(owner, "GET", path("/transfers?kind=correction"))).json;
    expect(items.map((line: { reason: string }) => line.reason)).toEqual(
      Array(2).fill(`refund of payment ${intent.id}`),
    );
    stripe.books.failRefund(refund);
    await deliver();
    expect(await availableNow()).toBe("15.00");
    const month = new Date().toISOString().slice(0, 7);
    const csv = await console.call(owner, "GET", path(`/statement.csv?month=${month}`));
    expect(csv.text).toContain(`refund of payment ${intent.id}, failed`);
  });

  test("developers and viewers read it and change nothing; strangers find nothing", async () => {
    const developer = await console.newMember(account.id, "developer");
    const stranger = await console.newMember((await console.newAccount()).id, "owner");
    expect((await console.call(developer, "GET", path("/auto-top-up"))).status).toBe(200);
    expect((await console.call(stranger, "GET", path("/auto-top-up"))).status).toBe(404);
    for (const [method, rest, body] of [
      ["PUT", "/auto-top-up", TERMS],
      ["POST", "/auto-top-up/card", undefined],
      ["DELETE", "/auto-top-up/card", undefined],
    ] as const) {
      expect((await console.call(developer, method, path(rest), body)).status).toBe(403);
      expect((await console.call(stranger, method, path(rest), body)).status).toBe(404);
    }
  });

  test("a card that is removed is forgotten at Stripe, also when Stripe fails", async () => {
    await setUp();
    const known = stripe.books.cards.size;
    expect((await console.call(owner, "DELETE", path("/auto-top-up/card"))).json).toMatchObject({
      state: "off",
      card: null,
    });
    expect(stripe.books.cards.size).toBe(known - 1);
    await setUp();
    stripe.failWith(500);
    const answer = await console.call(owner, "DELETE", path("/auto-top-up/card"));
    stripe.failWith(undefined);
    expect([answer.status, answer.json.card]).toEqual([200, null]);
    expect(answer.text + console.gateway.log.text()).not.toContain(STRIPE_TEXT);
  });

  test("where Stripe adds taxes, it is not offered, and Checkout asks for tax and invoice", async () => {
    Object.assign(payments, { hasTax: true, hasInvoices: true });
    expect((await console.call(owner, "PUT", path("/auto-top-up"), TERMS)).status).toBe(501);
    expect((await console.call(owner, "POST", path("/auto-top-up/card"))).status).toBe(501);
    expect(await readNow()).toMatchObject({
      is_offered: false,
      text: "Automatic top-up is not offered here.",
    });
    const off = await console.call(owner, "PUT", path("/auto-top-up"), { ...TERMS, is_on: false });
    expect(off.status).toBe(200);
    const page = await console.call(owner, "POST", path("/checkouts"), { amount_usd: "25.00" });
    const { form } = stripe.calls.at(-1) ?? expect.unreachable();
    expect(Object.fromEntries(form)).toMatchObject({
      "automatic_tax[enabled]": "true",
      "invoice_creation[enabled]": "true",
      "line_items[0][price_data][tax_behavior]": "exclusive",
    });
    expect([...form.keys()].filter((name) => name.startsWith("payment_method"))).toEqual([]);
    const details = { amount_tax: 475, amount_discount: 0 };
    const taxed = { amount_total: 2_975, amount_subtotal: 2_500, total_details: details };
    const session = { id: page.json.id, metadata: {}, amount_total: 2_500, currency: "usd" };
    const body = printEvent({ ...base, ...session }, { session: { ...taxed, payment_intent: "pi_taxed" } });
    expect(await send(body)).toBe(200);
    expect(await availableNow()).toBe("25.00");
    stripe.books.addIntent("pi_taxed", 2_975);
    const invoice = { hosted_invoice_url: "https://invoice.stripe.com/i/1" };
    stripe.books.sessionsOf.set("pi_taxed", { id: page.json.id, invoice });
    const links = await console.call(owner, "GET", path(`/payments/${page.json.id}`));
    expect(links.json).toEqual({
      id: page.json.id,
      receipt_url: null,
      invoice_url: invoice.hosted_invoice_url,
    });
  });

  test.each([
    [{ ...TERMS, amount_usd: "4.99" }],
    [{ ...TERMS, below_usd: "-1" }],
    [{ ...TERMS, month_max_usd: "19.99" }],
    [{ ...TERMS, is_on: "yes" }],
    [{}],
  ])("terms of %j are refused", async (body) => {
    expect((await console.call(owner, "PUT", path("/auto-top-up"), body)).status).toBe(422);
  });
});

const base = {
  object: "checkout.session",
  url: "https://checkout.stripe.com/c/pay/x",
  mode: "payment",
  payment_status: "paid",
} as const;
