import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Account } from "../../../src/accounts/accounts.ts";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { insertPerson } from "../../../src/accounts/people/people.ts";
import { readPayments } from "../../../src/config/payments.ts";
import { createConsole } from "../../../src/http/console/entry.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import {
  type CheckoutSession,
  printEvent,
  type ScriptedStripe,
  STRIPE_TEXT,
  signEvent,
  startScriptedStripe,
  WEBHOOK_SECRET,
} from "../../support/scripted-stripe.ts";
import { openTestConsole, type TestConsole } from "../../support/test-console.ts";
import { openConsoleOn } from "./open-consoles.ts";

const SECRET_KEY = "sk_test_secret_of_ours";

describe.each(DIALECTS)("payments in %s", (dialect) => {
  let stripe: ScriptedStripe;
  let console: TestConsole;
  let account: Account;
  let owner: Actor;
  let operator: Actor;
  beforeAll(async () => {
    stripe = startScriptedStripe();
    console = await openConsoleOn(dialect, withStripe(stripe.url));
    account = await console.newAccount();
    owner = await console.newMember(account.id, "owner");
    operator = console.newOperator();
  });
  afterAll(async () => {
    await console.stop();
    await stripe.stop();
  });

  const wallet = () => `/accounts/${account.id}/wallet`;
  const availableNow = async () => (await console.call(owner, "GET", wallet())).json.available_usd;

  /** Another account, so that no throttle of an earlier test applies. */
  async function useNewAccount(): Promise<void> {
    account = await console.newAccount();
    owner = await console.newMember(account.id, "owner");
  }

  async function newCode(amount = "5.00"): Promise<string> {
    const { json } = await console.call(operator, "POST", "/operator/codes", { amount_usd: amount });
    return json.codes[0].code;
  }

  async function openCheckout(amount = "25.50"): Promise<CheckoutSession> {
    let opened: CheckoutSession | undefined;
    stripe.beforeAnswer(async (session) => {
      opened = session;
    });
    const answer = await console.call(owner, "POST", `${wallet()}/checkouts`, { amount_usd: amount });
    stripe.beforeAnswer(undefined);
    expect(answer.status).toBe(200);
    expect(answer.json.id).toBe(opened?.id);
    return opened ?? expect.unreachable();
  }

  /** Sends an event as Stripe does: raw, without cookie, origin or content type of ours. */
  async function send(body: string, headers: Record<string, string>) {
    const entry = createConsole(console.parts);
    const url = "http://console.test/console/api/stripe/webhook";
    const response = await entry(new Request(url, { method: "POST", headers, body }), "192.0.2.9");
    return { status: response.status, text: await response.text() };
  }

  async function sendSigned(body: string, signing: { secret?: string; atMs?: number } = {}) {
    return send(body, { "stripe-signature": await signEvent(body, signing), "content-type": "text/plain" });
  }

  test("a dispute and a refund at Stripe are reported to operators once, however often they come", async () => {
    const { db, tables, transact } = console.parts.database;
    const email = `operator-${Bun.randomUUIDv7()}@example.com`;
    const flags = { emailVerified: true, isOperator: true, mustChangePassword: false, passwordHash: "x" };
    await transact((tx) =>
      insertPerson(console.parts.database, tx, { email, name: "Ops", ...flags }, console.parts.now()),
    );
    const print = (type: string, object: object) =>
      JSON.stringify({ id: `evt_${Bun.randomUUIDv7()}`, object: "event", type, data: { object } });
    const dispute = { id: "du_1", object: "dispute", amount: 2_550, currency: "usd", payment_intent: "pi_1" };
    const opened = print("charge.dispute.created", { ...dispute, status: "needs_response" });
    const closed = print("charge.dispute.closed", { ...dispute, status: "lost" });
    const charge = { id: "ch_1", object: "charge", currency: "usd", payment_intent: "pi_2" };
    const partly = print("charge.refunded", { ...charge, amount_refunded: 100 });
    const wholly = print("charge.refunded", { ...charge, amount_refunded: 2_550 });
    const hostile = print("charge.refunded", { ...charge, id: "<a href='x'>\n", amount_refunded: 1 });
    const all = [opened, opened, opened, closed, partly, wholly, wholly, hostile];
    const answers = await Promise.all(all.map((body) => sendSigned(body)));
    expect(answers.map(({ status }) => status)).toEqual(all.map(() => 200));
    expect((await sendSigned(opened, { secret: "whsec_b3RoZXI" })).status).toBe(400);
    const entries = (await db.select().from(tables.auditEntries)).filter(({ action }) =>
      action.startsWith("payment."),
    );
    expect(entries.map(({ action, target }) => [action, target]).sort()).toEqual([
      ["payment.dispute_closed", "du_1:lost"],
      ["payment.disputed", "du_1:needs_response"],
      ["payment.refunded", "ch_1:100"],
      ["payment.refunded", "ch_1:2550"],
    ]);
    const letters = (await db.select().from(tables.mails)).filter(({ address }) => address === email);
    expect(letters.map(({ template }) => template)).toEqual(Array(4).fill("payment_reversed"));
  });

  test("a redeemed code is answered with the wallet", async () => {
    await useNewAccount();
    const { status, json } = await console.call(owner, "POST", `${wallet()}/redeem`, {
      code: await newCode(),
    });
    expect(status).toBe(200);
    expect(json).toMatchObject({ available_usd: "5.00", totals: { topped_up_usd: "5.00" } });
  });

  test("wrong, used and expired codes are answered with the same bytes", async () => {
    await useNewAccount();
    const used = await newCode();
    await console.call(owner, "POST", `${wallet()}/redeem`, { code: used });
    const answers = await Promise.all(
      [used, "00000-00000-00000-00000", "nothing", "\u0001"].map((code) =>
        console.call(owner, "POST", `${wallet()}/redeem`, { code }),
      ),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(404);
  });

  test("guesses of codes are throttled, with retry-after", async () => {
    await useNewAccount();
    const guesses = Array.from({ length: 30 }, (_, at) => `ABCDE-FGHJK-MNPQR-000${10 + at}`);
    const answers = await Promise.all(
      guesses.map((code) => console.call(owner, "POST", `${wallet()}/redeem`, { code })),
    );
    const throttled = answers.filter(({ status }) => status === 429);
    expect(throttled.length).toBeGreaterThanOrEqual(10);
    expect(Number(throttled[0]?.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(answers.every(({ status }) => status === 429 || status === 404)).toBe(true);
  });

  test("developers, viewers, strangers and operators outside redeem and pay nothing", async () => {
    await useNewAccount();
    const members = [
      await console.newMember(account.id, "developer"),
      await console.newMember(account.id, "viewer"),
    ];
    const stranger = await console.newMember((await console.newAccount()).id, "owner");
    const requests = [
      [`${wallet()}/redeem`, { code: await newCode() }],
      [`${wallet()}/checkouts`, { amount_usd: "5.00" }],
    ] as const;
    for (const [path, body] of requests) {
      for (const member of members) expect((await console.call(member, "POST", path, body)).status).toBe(403);
      for (const other of [stranger, operator]) {
        expect((await console.call(other, "POST", path, body)).status).toBe(404);
      }
      expect((await console.call(undefined, "POST", path, body)).status).toBe(401);
    }
    expect(await availableNow()).toBe("0.00");
  });

  test("codes are created once per idempotency-key, listed without their text, and revoked", async () => {
    const body = { amount_usd: "0.000000001", count: 3, note: "=gift" };
    const headers = { "idempotency-key": crypto.randomUUID() };
    const [first, again] = await Promise.all([
      callWith(console, operator, "/operator/codes", body, headers),
      callWith(console, operator, "/operator/codes", body, headers),
    ]);
    const repeated = await callWith(console, operator, "/operator/codes", body, headers);
    const made = [first, again].find(({ status }) => status === 200) ?? expect.unreachable();
    expect(repeated.json).toEqual(made.json);
    const list = await console.call(operator, "GET", "/operator/codes?size=3");
    expect(list.json.items.map(({ id }: { id: string }) => id).sort()).toEqual(
      made.json.codes.map(({ id }: { id: string }) => id).sort(),
    );
    expect(list.json.items[0]).toMatchObject({ amount_usd: "0.000000001", note: "=gift", state: "open" });
    for (const { code } of made.json.codes) expect(list.text).not.toContain(code.slice(6));
    const { id } = list.json.items[0];
    expect((await console.call(operator, "DELETE", `/operator/codes/${id}`)).json).toEqual({
      id,
      revoked: true,
    });
    expect((await console.call(operator, "DELETE", `/operator/codes/${id}`)).status).toBe(409);
    expect((await console.call(operator, "DELETE", "/operator/codes/nothing%01")).status).toBe(404);
    expect((await console.call(operator, "GET", "/operator/codes?page=%00")).status).toBe(422);
  });

  test("codes are created only by operators who gave their password lately", async () => {
    const body = { amount_usd: "5" };
    const stale = console.newOperator({
      session: { id: "s", mustChangePassword: false, confirmedAtMs: Date.now() - 16 * 60_000 },
    });
    const answer = await console.call(stale, "POST", "/operator/codes", body);
    expect([answer.status, answer.headers.get("x-tollgate-confirm")]).toEqual([403, "password"]);
    expect((await console.call(owner, "POST", "/operator/codes", body)).status).toBe(403);
    expect((await console.call(owner, "GET", "/operator/codes")).status).toBe(403);
  });

  test.each([
    { amount_usd: "0" },
    { amount_usd: "-1" },
    { amount_usd: "9999999999" },
    { amount_usd: "1e3" },
    { amount_usd: 5 },
    { amount_usd: "1", count: 101 },
    { amount_usd: "1", count: 0 },
    { amount_usd: "1", note: "a\u0000b" },
    { amount_usd: "1", expires_at: "2020-01-01T00:00:00Z" },
    {},
  ])("codes of %j are refused", async (body) => {
    expect((await console.call(operator, "POST", "/operator/codes", body)).status).toBe(422);
  });

  test("a paid checkout credits its wallet once, however often and late its events come", async () => {
    await useNewAccount();
    const session = await openCheckout();
    const path = `${wallet()}/checkouts/${session.id}`;
    expect((await console.call(owner, "GET", path)).json).toEqual({
      id: session.id,
      amount_usd: "25.50",
      state: "open",
    });
    const events = ["checkout.session.completed", "checkout.session.async_payment_succeeded"];
    const bodies = Array.from({ length: 20 }, (_, at) => printEvent(session, { type: events[at % 2] ?? "" }));
    const answers = await Promise.all(bodies.map((body) => sendSigned(body)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await sendSigned(printEvent(session, { type: "checkout.session.expired" }));
    expect((await console.call(owner, "GET", path)).json.state).toBe("paid");
    expect(await availableNow()).toBe("25.50");
  });

  test("an event that is replayed within its five minutes credits nothing more", async () => {
    await useNewAccount();
    const body = printEvent(await openCheckout());
    const headers = { "stripe-signature": await signEvent(body) };
    for (let times = 0; times < 3; times += 1) expect((await send(body, headers)).status).toBe(200);
    expect(await availableNow()).toBe("25.50");
  });

  test("forged, changed, old and future events are refused with 400 and credit nothing", async () => {
    await useNewAccount();
    const body = printEvent(await openCheckout());
    const good = await signEvent(body);
    const nowMs = Date.now();
    const answers = await Promise.all([
      send(body, {}),
      send(body, { "stripe-signature": "t=1,v1=00" }),
      send(body.replace('"paid"', '"Paid"'), { "stripe-signature": good }),
      sendSigned(body, { secret: "whsec_b3RoZXI" }),
      sendSigned(body, { secret: SECRET_KEY }),
      sendSigned(body, { atMs: nowMs - 400_000 }),
      sendSigned(body, { atMs: nowMs + 400_000 }),
      sendSigned(body, { atMs: nowMs + 86_400_000 }),
    ]);
    for (const { status, text } of answers) {
      expect([status, JSON.parse(text).error.code]).toEqual([400, "invalid_request"]);
    }
    expect(await availableNow()).toBe("0.00");
  });

  test("an event with another amount or currency is answered 200, logged and credits nothing", async () => {
    await useNewAccount();
    const session = await openCheckout();
    const bodies = [
      printEvent(session, { session: { amount_total: 1 } }),
      printEvent(session, { session: { amount_total: 255_000 } }),
      printEvent(session, { session: { currency: "jpy" } }),
      printEvent(session, { session: { amount_total: null, currency: null } }),
    ];
    for (const body of bodies) expect((await sendSigned(body)).status).toBe(200);
    expect(await availableNow()).toBe("0.00");
    expect(console.gateway.log.text()).toContain("checkout paid with another amount or currency");
  });

  test("events of unknown sessions, and of other things, are answered 200", async () => {
    const unknown = { id: "cs_test_other", metadata: {} };
    const session = await openCheckout();
    expect((await sendSigned(printEvent(session, { session: unknown }))).status).toBe(200);
    expect((await sendSigned(printEvent(session, { type: "invoice.paid" }))).status).toBe(200);
    expect(await console.gateway.log.text()).toContain('"result":"unknown"');
  });

  test("an event that comes before the checkout is answered is credited once", async () => {
    await useNewAccount();
    stripe.beforeAnswer(async (session) => {
      expect((await sendSigned(printEvent(session))).status).toBe(200);
    });
    const answer = await console.call(owner, "POST", `${wallet()}/checkouts`, { amount_usd: "7" });
    stripe.beforeAnswer(undefined);
    expect(answer.status).toBe(200);
    expect((await console.call(owner, "GET", `${wallet()}/checkouts/${answer.json.id}`)).json.state).toBe(
      "paid",
    );
    expect(await availableNow()).toBe("7.00");
  });

  test("a checkout of another account is not found, and no path credits it", async () => {
    const session = await openCheckout();
    const stranger = await console.newMember((await console.newAccount()).id, "owner");
    const path = `${wallet()}/checkouts/${session.id}`;
    expect((await console.call(stranger, "GET", path)).status).toBe(404);
    await useNewAccount();
    expect((await console.call(owner, "GET", `${wallet()}/checkouts/${session.id}`)).status).toBe(404);
    expect((await console.call(owner, "GET", `${wallet()}/checkouts/%01`)).status).toBe(404);
    expect((await console.call(owner, "POST", path, {})).status).toBe(404);
  });

  test.each(["4.99", "10000.01", "5.001", "-5", "1e2", "99999", " 5", ""])(
    "a checkout of %p USD is refused",
    async (amount) => {
      const before = stripe.calls.length;
      const answer = await console.call(owner, "POST", `${wallet()}/checkouts`, { amount_usd: amount });
      expect(answer.status).toBe(422);
      expect(stripe.calls.length).toBe(before);
    },
  );

  test("a failure of Stripe is a 502 without its text, in answer and log", async () => {
    stripe.failWith(401);
    const answer = await console.call(owner, "POST", `${wallet()}/checkouts`, { amount_usd: "5" });
    stripe.failWith(undefined);
    expect([answer.status, answer.json.error.code]).toEqual([502, "upstream_unavailable"]);
    const told = answer.text + console.gateway.log.text();
    for (const text of [STRIPE_TEXT, "canary", SECRET_KEY, WEBHOOK_SECRET]) expect(told).not.toContain(text);
  });

  test("an event above 256 KiB is refused", async () => {
    const body = " ".repeat(256 * 1024 + 1);
    expect((await sendSigned(body)).status).toBe(413);
  });

  test("malformed events that are signed are refused or answered, never a fault of ours", async () => {
    for (const body of ["{}", "[]", "null", "1", "{", '{"type":"checkout.session.completed"}', "\xff"]) {
      expect((await sendSigned(body)).status).toBeLessThan(500);
    }
  });
});

test("without both secrets checkouts and events are answered not_implemented", async () => {
  const console = await openTestConsole();
  const account = await console.newAccount();
  const owner = await console.newMember(account.id, "owner");
  const checkout = await console.call(owner, "POST", `/accounts/${account.id}/wallet/checkouts`, {
    amount_usd: "5",
  });
  const event = await console.call(undefined, "POST", "/stripe/webhook", {});
  for (const { status, json } of [checkout, event]) {
    expect([status, json.error.code]).toEqual([501, "not_implemented"]);
  }
  await console.stop();
});

function withStripe(apiBase: string) {
  const stripe = { secretKey: SECRET_KEY, webhookSecret: WEBHOOK_SECRET, apiBase };
  const publicUrl = "http://console.test";
  const payments = readPayments({});
  return {
    settings: { publicUrl, signUp: "invited", isDemoOnly: false, trustedProxies: [], stripe, payments },
  } as const;
}

/** Calls a route with headers of its own. */
async function callWith(
  { parts }: TestConsole,
  actor: Actor,
  path: string,
  body: object,
  headers: Record<string, string>,
) {
  const url = `http://console.test/console/api${path}`;
  const all = { origin: "http://console.test", "content-type": "application/json", "x-test-actor": actor.id };
  const cookie = `tollgate.session=${actor.id}`;
  const request = new Request(url, {
    method: "POST",
    headers: { ...all, cookie, ...headers },
    body: JSON.stringify(body),
  });
  const response = await createConsole(parts)(request, "192.0.2.1");
  const text = await response.text();
  return { status: response.status, json: JSON.parse(text) };
}
