import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { createStripeClient, type StripeClient } from "../../src/payments/stripe.ts";
import { describeFault } from "../../src/telemetry/log.ts";
import {
  type CheckoutSession,
  printEvent,
  type ScriptedStripe,
  STRIPE_TEXT,
  signEvent,
  startScriptedStripe,
  WEBHOOK_SECRET,
} from "../support/scripted-stripe.ts";

const NOW_MS = Date.UTC(2026, 10, 22, 12);
const SESSION: CheckoutSession = {
  id: "cs_test_1",
  object: "checkout.session",
  url: "https://checkout.stripe.com/c/pay/cs_test_1",
  amount_total: 2_550,
  currency: "usd",
  mode: "payment",
  payment_status: "unpaid",
  metadata: { tollgate_order: "order_1" },
};
const ORDER = {
  orderId: "order_1",
  amount: 25_500_000_000n,
  successUrl: "https://tollgate.example.com/ok?checkout={CHECKOUT_SESSION_ID}",
  cancelUrl: "https://tollgate.example.com/back",
};

let server: ScriptedStripe;
let stripe: StripeClient;
beforeAll(() => {
  server = startScriptedStripe();
  const secrets = { secretKey: "sk_test_key", webhookSecret: WEBHOOK_SECRET };
  stripe = createStripeClient({ ...secrets, apiBase: server.url });
});
afterEach(() => server.failWith(undefined));
afterAll(() => server.stop());

describe("a checkout page", () => {
  test("is ordered for the amount in cents, under the order's id as idempotency key", async () => {
    const first = await stripe.createPage(ORDER);
    const again = await stripe.createPage(ORDER);
    expect(again).toEqual(first);
    expect(first.url).toEndWith(first.sessionId);
    const { form, idempotencyKey, authorization } = server.calls[0] ?? expect.unreachable();
    expect(idempotencyKey).toBe("order_1");
    expect(authorization).toBe("Bearer sk_test_key");
    expect(Object.fromEntries(form)).toMatchObject({
      mode: "payment",
      client_reference_id: "order_1",
      "metadata[tollgate_order]": "order_1",
      "line_items[0][quantity]": "1",
      "line_items[0][price_data][currency]": "usd",
      "line_items[0][price_data][unit_amount]": "2550",
      success_url: ORDER.successUrl,
      cancel_url: ORDER.cancelUrl,
    });
  });

  test.each([400, 401, 429, 500])(
    "that Stripe refuses with %i fails without a text of Stripe",
    async (status) => {
      server.failWith(status);
      const error = await stripe
        .createPage({ ...ORDER, orderId: `order_${status}` })
        .catch((thrown) => thrown);
      expect(error).toMatchObject({ kind: "payments_unavailable" });
      const told = `${error.publicMessage} ${JSON.stringify(describeFault(error))}`;
      expect(told).toContain(`http_${status}`);
      for (const text of [STRIPE_TEXT, "canary", "sk_test"]) expect(told).not.toContain(text);
    },
  );

  test("fails when nothing listens", async () => {
    const secrets = { secretKey: "sk_test_key", webhookSecret: WEBHOOK_SECRET };
    const away = createStripeClient({ ...secrets, apiBase: "http://127.0.0.1:9" });
    const error = await away.createPage(ORDER).catch((thrown) => thrown);
    expect(error).toMatchObject({ kind: "payments_unavailable" });
    expect(JSON.stringify(describeFault(error))).toContain('"connection"');
  });
});

describe("an event", () => {
  const body = printEvent(SESSION);
  const read = (text: string, signature: string | undefined, nowMs = NOW_MS) =>
    stripe.readEvent({ body: Buffer.from(text), signature, nowMs });
  const refused = { kind: "wrong_signature" };

  test("is read when it is signed", async () => {
    expect(await read(body, await signEvent(body, { atMs: NOW_MS }))).toEqual({
      kind: "paid",
      sessionId: "cs_test_1",
      orderId: "order_1",
      amountTotal: 2_550,
      currency: "usd",
    });
  });

  test("is read with several signatures while the secret changes", async () => {
    const signature = await signEvent(body, { atMs: NOW_MS });
    const other = await signEvent(body, { atMs: NOW_MS, secret: "whsec_b2xk" });
    const [, v1 = ""] = other.split(",");
    expect(await read(body, `${signature},${v1}`)).toMatchObject({ kind: "paid" });
  });

  test("is refused with a changed body, another secret or a signature that is none", async () => {
    const good = await signEvent(body, { atMs: NOW_MS });
    const other = await signEvent(body, { atMs: NOW_MS, secret: "whsec_b3RoZXI" });
    await expect(read(body.replace("2550", "9550"), good)).rejects.toMatchObject(refused);
    await expect(read(`${body} `, good)).rejects.toMatchObject(refused);
    await expect(read("", good)).rejects.toMatchObject(refused);
    for (const signature of [
      undefined,
      "",
      other,
      "t=1",
      "v1=00",
      `${good.split(",")[0]}`,
      good.slice(0, -1),
    ]) {
      await expect(read(body, signature)).rejects.toMatchObject(refused);
    }
  });

  test("is refused under a scheme other than v1", async () => {
    const good = await signEvent(body, { atMs: NOW_MS });
    await expect(read(body, good.replace("v1=", "v0="))).rejects.toMatchObject(refused);
  });

  test.each([
    [-301_000, false],
    [-299_000, true],
    [300_000, true],
    [302_000, false],
    [86_400_000, false],
  ])("sent %i ms from now is accepted: %p", async (offsetMs, isAccepted) => {
    const reading = read(body, await signEvent(body, { atMs: NOW_MS + offsetMs }));
    if (isAccepted) expect(await reading).toMatchObject({ kind: "paid" });
    else await expect(reading).rejects.toMatchObject(refused);
  });

  test("with two times is refused, because one of them may be unsigned", async () => {
    const good = await signEvent(body, { atMs: NOW_MS });
    const seconds = Math.floor(NOW_MS / 1000);
    for (const more of [`t=${seconds},${good}`, `${good},t=${seconds}`, ` t=${seconds},${good}`]) {
      await expect(read(body, more)).rejects.toMatchObject(refused);
    }
  });

  test.each([
    ["checkout.session.completed", "paid", "paid"],
    ["checkout.session.completed", "unpaid", undefined],
    ["checkout.session.completed", "no_payment_required", undefined],
    ["checkout.session.async_payment_succeeded", "paid", "paid"],
    ["checkout.session.async_payment_failed", "unpaid", "expired"],
    ["checkout.session.expired", "unpaid", "expired"],
    ["payment_intent.succeeded", "paid", undefined],
  ])("%s of a session that is %s is read as %p", async (type, payment, kind) => {
    const text = printEvent(SESSION, { type, session: { payment_status: payment } });
    const event = await read(text, await signEvent(text, { atMs: NOW_MS }));
    expect(event?.kind as string | undefined).toBe(kind);
  });
});

test("a page is ordered with the secret of its moment, which may be rotated", async () => {
  let secretKey = "sk_test_first";
  const rotated = createStripeClient({
    get secretKey() {
      return secretKey;
    },
    webhookSecret: WEBHOOK_SECRET,
    apiBase: server.url,
  });
  await rotated.createPage({ ...ORDER, orderId: "order_before" });
  secretKey = "sk_test_second";
  await rotated.createPage({ ...ORDER, orderId: "order_after" });
  const sent = server.calls.filter(({ idempotencyKey }) => /before|after/.test(idempotencyKey));
  const expected = ["Bearer sk_test_first", "Bearer sk_test_second"];
  expect(sent.map(({ authorization }) => authorization)).toEqual(expected);
});
