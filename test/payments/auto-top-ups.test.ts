import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { AuditActor } from "../../src/accounts/audit-trail.ts";
import { insertPerson } from "../../src/accounts/people/people.ts";
import { suspendAccount } from "../../src/accounts/suspension.ts";
import { createMails } from "../../src/delivery/mail/mails.ts";
import { parseUsd } from "../../src/domain/money.ts";
import { type Ledger, LedgerError } from "../../src/ledger/ledger.ts";
import { runAutoTopUps } from "../../src/payments/auto-job.ts";
import { applyAutoEvent } from "../../src/payments/auto-payments.ts";
import { type AutoTopUpTerms, removeCard, setAutoTopUp } from "../../src/payments/auto-top-ups.ts";
import { printAutoView, readAutoView } from "../../src/payments/auto-view.ts";
import { applyCardEvent, createCardSetup } from "../../src/payments/card-setups.ts";
import { createStripeClient, type FullStripe } from "../../src/payments/stripe.ts";
import { sweepPayments } from "../../src/payments/sweep.ts";
import { DIALECTS, storageForTests } from "../accounts/temp-storage.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import {
  printObjectEvent,
  type ScriptedStripe,
  signEvent,
  startScriptedStripe,
  WEBHOOK_SECRET,
} from "../support/scripted-stripe.ts";
import type { CardBehaviour } from "../support/stripe-books.ts";

const OWNER: AuditActor = { kind: "person", id: "p", name: "owner@example.com" };
const HOUR_MS = 3_600_000;
const TERMS: AutoTopUpTerms = {
  isOn: true,
  below: parseUsd("10"),
  amount: parseUsd("20"),
  monthMax: parseUsd("50"),
};

describe.each(DIALECTS)("automatic top-ups in %s", (dialect) => {
  const storage = storageForTests(dialect);
  let server: ScriptedStripe;
  let stripe: FullStripe;
  let accountId: string;
  let log: ReturnType<typeof createCapturedLog>;
  beforeAll(() => {
    server = startScriptedStripe();
    const secrets = { secretKey: "sk_test_key", webhookSecret: WEBHOOK_SECRET };
    stripe = createStripeClient({ ...secrets, apiBase: server.url });
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    server.books.nowMs = () => storage.clock.nowMs;
    server.books.takeEvents();
    server.trouble(undefined);
    log = createCapturedLog();
    accountId = (await storage.newAccount()).id;
    await addOwner();
  });

  async function addOwner(): Promise<void> {
    const { database, now } = storage;
    const email = `owner-${Bun.randomUUIDv7()}@example.com`;
    const flags = { emailVerified: true, isOperator: false, mustChangePassword: false, passwordHash: "x" };
    await database.transact(async (tx) => {
      await insertPerson(database, tx, { email, name: "Owner", ...flags }, now());
      const [person] = (await tx.select().from(database.tables.people)).filter(
        (each) => each.email === email,
      );
      const row = { accountId, personId: person?.id ?? "", role: "owner" as const, createdAtMs: now() };
      await tx.insert(database.tables.members).values(row);
    });
  }

  const parts = (ledger: Pick<Ledger, "wallet" | "topUp"> = storage.ledger) => ({
    database: storage.database,
    ledger,
    stripe,
    mails: createMails(storage.database, storage.now),
    returnUrl: () => "https://tollgate.example.com/wallet",
    isOffered: () => true,
    now: storage.now,
    log,
  });
  const pass = () => runAutoTopUps(parts());
  const intents = () => [...server.books.intents.values()].filter(({ metadata }) => isOurs(metadata));
  const isOurs = ({ tollgate_auto_top_up: id = "" }: Record<string, string>) => id.includes(accountId);
  const postedNow = async () => (await storage.ledger.balances(accountId)).posted;
  const viewNow = async () =>
    printAutoView(await readAutoView(storage.database, accountId, storage.now()), true);
  const spend = (usd: string, id: string = crypto.randomUUID()) =>
    storage.ledger.topUp({ walletId: accountId, topUpId: id, amount: -parseUsd(usd) });

  /** Sets terms and saves a card through a page of Stripe. */
  async function setUp(
    behaviour: CardBehaviour = "ok",
    terms: Partial<AutoTopUpTerms> = {},
  ): Promise<string> {
    await setAutoTopUp(storage, OWNER, accountId, { ...TERMS, ...terms });
    return saveCard(behaviour);
  }

  async function saveCard(behaviour: CardBehaviour): Promise<string> {
    const urls = { successUrl: "https://t.example.com/ok", cancelUrl: "https://t.example.com/back" };
    const { sessionId } = await createCardSetup({ ...storage, stripe }, OWNER, { accountId, ...urls });
    const { type, object } = server.books.finishSetup(sessionId, behaviour);
    const event = await readSigned(type, object);
    if (event?.kind !== "card_saved") return expect.unreachable();
    expect(await applyCardEvent({ ...storage, stripe }, event)).toBe("saved");
    expect(await applyCardEvent({ ...storage, stripe }, event)).toBe("unknown");
    return [...server.books.cards.keys()].at(-1) ?? "";
  }

  async function readSigned(type: string, object: object) {
    const body = printObjectEvent(type, object);
    const signature = await signEvent(body, { atMs: storage.clock.nowMs });
    return stripe.readEvent({ body: Buffer.from(body), signature, nowMs: storage.clock.nowMs });
  }

  /** Delivers the events that Stripe has raised. */
  async function deliver(times = 1): Promise<readonly string[]> {
    const results: string[] = [];
    for (const { type, object } of server.books.takeEvents()) {
      const event = await readSigned(type, object);
      if (event?.kind !== "auto_paid" && event?.kind !== "auto_changed") continue;
      for (let at = 0; at < times; at += 1) results.push(await applyAutoEvent(storage, event));
    }
    return results;
  }

  async function mailsNow(): Promise<readonly string[]> {
    const { db, tables } = storage.database;
    const rows = (await db.select().from(tables.mails)).filter(({ template }) => template === "auto_top_up");
    return rows.map(({ data }) => String(JSON.parse(data).text));
  }

  test("a wallet below its threshold gets one payment, under the PaymentIntent's id", async () => {
    await setUp();
    await pass();
    await pass();
    expect(await postedNow()).toBe(TERMS.amount);
    const [intent, ...others] = intents();
    expect(others).toEqual([]);
    const { items } = await storage.ledger.transfers(accountId, { size: 10 });
    expect(items.map(({ kind, transferId }) => [kind, transferId])).toEqual([["top_up", intent?.id ?? ""]]);
    const { form, idempotencyKey } =
      server.calls.findLast(({ path }) => path === "/v1/payment_intents") ?? expect.unreachable();
    expect(idempotencyKey).toBe(`auto_${accountId}_1`);
    expect([...form.keys()].filter((name) => name.startsWith("payment_method_types"))).toEqual([]);
    expect(await viewNow()).toMatchObject({
      state: "on",
      card: "visa 4242",
      month_usd: "20.00",
      text: "Adds 20.00 USD when less than 10.00 USD are available.",
      last: { state: "paid", amount_usd: "20.00", id: intent?.id },
    });
  });

  test("a wallet at its threshold gets none, and one nano below it gets one", async () => {
    await setUp();
    await storage.ledger.topUp({ walletId: accountId, topUpId: "t", amount: TERMS.below });
    await pass();
    expect(intents()).toHaveLength(0);
    await spend("0.000000001");
    await pass();
    expect(intents()).toHaveLength(1);
  });

  test("20 passes at once, as of 20 gateways, make one payment per crossing", async () => {
    await setUp();
    for (const crossing of [1, 2]) {
      await Promise.all(Array.from({ length: 20 }, pass));
      expect(intents()).toHaveLength(crossing);
      expect(await postedNow()).toBe(TERMS.amount);
      await spend("20");
    }
  });

  test("answer and events, in any order and repeated, credit once", async () => {
    await setUp();
    await Promise.all([pass(), deliver(3)]);
    expect(await deliver(3)).toEqual(Array(3).fill("credited"));
    await Promise.all([deliver(), pass(), sweepPayments({ ...storage, log })]);
    expect(await postedNow()).toBe(TERMS.amount);
  });

  test("an event before the answer credits, and the answer changes nothing", async () => {
    await setUp();
    const late: FullStripe = {
      ...stripe,
      async charge(order) {
        const state = await stripe.charge(order);
        expect(await deliver()).toEqual(["credited"]);
        return state;
      },
    };
    await runAutoTopUps({ ...parts(), stripe: late });
    expect(await postedNow()).toBe(TERMS.amount);
    expect(intents()).toHaveLength(1);
  });

  test("a process that dies between claim and call is followed by another with the same key", async () => {
    await setUp();
    const dying: FullStripe = {
      ...stripe,
      charge: async () => {
        throw new Error("killed");
      },
    };
    await runAutoTopUps({ ...parts(), stripe: dying });
    expect(intents()).toHaveLength(0);
    expect((await viewNow()).text).toBe("A payment of 20.00 USD is under way.");
    storage.clock.nowMs += 61_000;
    await pass();
    expect(intents()).toHaveLength(1);
    expect(await postedNow()).toBe(TERMS.amount);
  });

  test("a process that dies between call and answer is followed by another that finds the payment", async () => {
    await setUp();
    const dying: FullStripe = {
      ...stripe,
      async charge(order) {
        await stripe.charge(order);
        throw new Error("killed");
      },
    };
    await runAutoTopUps({ ...parts(), stripe: dying });
    server.forgetKeys();
    storage.clock.nowMs += 48 * HOUR_MS;
    await pass();
    expect(intents()).toHaveLength(1);
    expect(await postedNow()).toBe(TERMS.amount);
  });

  test("a payment that was never sent is not sent after 23 hours; the next crossing has another key", async () => {
    await setUp();
    server.trouble("down");
    await pass();
    server.trouble(undefined);
    storage.clock.nowMs += 24 * HOUR_MS;
    await pass();
    expect(intents()).toHaveLength(0);
    await pass();
    expect(intents().map(({ metadata }) => metadata.tollgate_auto_top_up)).toEqual([`auto_${accountId}_2`]);
    expect((await viewNow()).state).toBe("on");
  });

  test("an error of Stripe after it took the money credits once, though the key repeats the error", async () => {
    await setUp();
    server.trouble("error_after");
    await pass();
    expect(await postedNow()).toBe(0n);
    server.trouble(undefined);
    storage.clock.nowMs += 61_000;
    await pass();
    expect(intents()).toHaveLength(1);
    expect(await postedNow()).toBe(TERMS.amount);
    expect(await mailsNow()).toEqual([]);
  });

  test("a Stripe that is down stops nothing: the payment is made when it is back", async () => {
    await setUp();
    server.trouble("down");
    for (let times = 0; times < 2; times += 1) {
      await pass();
      storage.clock.nowMs += 61_000;
    }
    expect(intents()).toHaveLength(0);
    server.trouble(undefined);
    storage.clock.nowMs += 600_000;
    await pass();
    expect(await postedNow()).toBe(TERMS.amount);
    expect((await viewNow()).state).toBe("on");
  });

  test("a ledger that is away gets its credit from the sweep, once", async () => {
    await setUp();
    const topUp = async () => {
      throw new LedgerError("unavailable");
    };
    const wallet = storage.ledger.wallet.bind(storage.ledger);
    await runAutoTopUps(parts({ topUp, wallet }));
    expect(await postedNow()).toBe(0n);
    await pass();
    expect(intents()).toHaveLength(1);
    await sweepPayments({ ...storage, log });
    await sweepPayments({ ...storage, log });
    expect(await postedNow()).toBe(TERMS.amount);
  });

  test.each([
    ["insufficient_funds", "failed (insufficient funds)"],
    ["authentication_required", "must be confirmed by the owner of the card"],
    ["requires_action", "must be confirmed by the owner of the card"],
  ])("a card that answers %s stops it, and its owners get a mail", async (behaviour, text) => {
    await setUp(behaviour);
    for (let times = 0; times < 3; times += 1) await pass();
    expect(intents().map(({ status }) => status)).toEqual(["canceled"]);
    expect(await postedNow()).toBe(0n);
    expect(await viewNow()).toMatchObject({
      state: "stopped",
      last: { state: "failed", failure: behaviour },
    });
    const [mail, ...others] = await mailsNow();
    expect(others).toEqual([]);
    expect(mail).toContain(`The automatic top-up of 20.00 USD ${text}`);
    // The events of the failed payment and of its end change nothing more.
    await deliver(2);
    await pass();
    expect(intents()).toHaveLength(1);
    expect(await mailsNow()).toHaveLength(1);
  });

  test("after a failure, the next crossing is tried; a second failure in a row switches it off", async () => {
    const card = await setUp("generic_decline");
    await pass();
    await storage.ledger.topUp({ walletId: accountId, topUpId: "by hand", amount: parseUsd("15") });
    await pass();
    expect((await viewNow()).state).toBe("on");
    await spend("15");
    await pass();
    expect(intents()).toHaveLength(2);
    expect(await viewNow()).toMatchObject({
      state: "off",
      text: "Automatic top-up was switched off after two failed payments.",
    });
    server.books.setBehaviour(card, "ok");
    await pass();
    expect(intents()).toHaveLength(2);
    expect((await mailsNow()).at(-1)).toContain("switched off");
    await setAutoTopUp(storage, OWNER, accountId, TERMS);
    await pass();
    expect(await postedNow()).toBe(TERMS.amount);
  });

  test("a success between two failures keeps it on", async () => {
    const card = await setUp("generic_decline", { monthMax: parseUsd("1000") });
    for (const behaviour of ["generic_decline", "ok", "generic_decline"]) {
      server.books.setBehaviour(card, behaviour);
      await pass();
      await storage.ledger.topUp({
        walletId: accountId,
        topUpId: crypto.randomUUID(),
        amount: parseUsd("30"),
      });
      await pass();
      await spend(behaviour === "ok" ? "50" : "30");
    }
    expect((await viewNow()).state).not.toBe("off");
  });

  test("another card ends the stop", async () => {
    await setUp("generic_decline");
    await pass();
    await saveCard("ok");
    await pass();
    expect(await postedNow()).toBe(TERMS.amount);
  });

  test.each(["succeeded", "requires_payment_method"] as const)(
    "a payment that is processing for a day and then is %s is the only one",
    async (end) => {
      await setUp("processing");
      await pass();
      await deliver();
      storage.clock.nowMs += 24 * HOUR_MS;
      await pass();
      const [intent = expect.unreachable(), ...others] = intents();
      expect(others).toEqual([]);
      server.books.finish(intent, end);
      if (end === "succeeded") expect(await deliver()).toEqual(["credited"]);
      storage.clock.nowMs += 2 * HOUR_MS;
      await pass();
      expect(await postedNow()).toBe(end === "succeeded" ? TERMS.amount : 0n);
      expect((await viewNow()).state).toBe(end === "succeeded" ? "on" : "stopped");
    },
  );

  test("the maximum of a UTC month is exact, and the next month begins at midnight UTC", async () => {
    await setUp();
    storage.clock.nowMs = Date.UTC(2026, 5, 30, 23, 59, 50);
    for (let times = 0; times < 5; times += 1) {
      await pass();
      await spend("20");
    }
    expect(intents()).toHaveLength(2);
    expect((await viewNow()).text).toContain("The maximum of this month is reached");
    expect(await mailsNow()).toEqual(["Automatic top-up has reached its maximum of 50.00 USD for 2026-06"]);
    storage.clock.nowMs = Date.UTC(2026, 6, 1) - 1;
    await pass();
    expect(intents()).toHaveLength(2);
    storage.clock.nowMs += 1;
    await pass();
    expect(intents()).toHaveLength(3);
  });

  test("a clock that is set forward and back allows no more than the maximum", async () => {
    await setUp();
    const juneMs = storage.clock.nowMs;
    storage.clock.nowMs = Date.UTC(2026, 8, 1);
    for (let times = 0; times < 5; times += 1) {
      await pass();
      await spend("20");
    }
    storage.clock.nowMs = juneMs;
    for (let times = 0; times < 5; times += 1) {
      await pass();
      await spend("20");
    }
    expect(intents()).toHaveLength(2);
  });

  test("failed payments do not count against the maximum", async () => {
    const card = await setUp("generic_decline", { monthMax: parseUsd("20") });
    await pass();
    server.books.setBehaviour(card, "ok");
    await setAutoTopUp(storage, OWNER, accountId, { ...TERMS, monthMax: parseUsd("20") });
    await pass();
    expect(await postedNow()).toBe(TERMS.amount);
  });

  test("events of another amount, currency or PaymentIntent credit nothing, and are mismatches", async () => {
    await setUp("processing");
    await pass();
    const [intent = expect.unreachable()] = intents();
    const paid = { ...intent, status: "succeeded", amount_received: intent.amount };
    for (const lie of [
      { amount_received: intent.amount + 1 },
      { amount_received: 0 },
      { currency: "jpy" },
      { id: "pi_another" },
      { amount_received: null },
    ]) {
      const event = await readSigned("payment_intent.succeeded", { ...paid, ...lie });
      if (event?.kind !== "auto_paid") return expect.unreachable();
      expect(await applyAutoEvent(storage, event)).toBe("mismatch");
    }
    const foreign = await readSigned("payment_intent.succeeded", {
      ...paid,
      metadata: { tollgate_auto_top_up: "auto_x_1" },
    });
    if (foreign?.kind !== "auto_paid") return expect.unreachable();
    expect(await applyAutoEvent(storage, foreign)).toBe("unknown");
    expect(await readSigned("payment_intent.succeeded", { ...paid, metadata: {} })).toBeUndefined();
    expect(await postedNow()).toBe(0n);
    expect((await viewNow()).state).toBe("on");
  });

  test("an event of a failure that Stripe's API does not confirm fails nothing", async () => {
    await setUp("processing");
    await pass();
    const [intent = expect.unreachable()] = intents();
    const event = await readSigned("payment_intent.payment_failed", intent);
    if (event?.kind !== "auto_changed") return expect.unreachable();
    expect(await applyAutoEvent(storage, event)).toBe("asked");
    await pass();
    expect(await viewNow()).toMatchObject({ state: "on", last: { state: "pending" } });
  });

  test("a payment whose owner confirms it after all is credited, though it counted as failed", async () => {
    await setUp("requires_action");
    const slow: FullStripe = { ...stripe, cancelCharge: async () => undefined };
    await runAutoTopUps({ ...parts(), stripe: slow });
    const [intent = expect.unreachable()] = intents();
    server.books.takeEvents();
    server.books.finish(intent, "succeeded");
    expect(await deliver()).toEqual(["credited"]);
    expect(await postedNow()).toBe(TERMS.amount);
    expect(await viewNow()).toMatchObject({ state: "on", month_usd: "20.00", last: { failure: null } });
  });

  test.each(["suspended", "switched off", "without its card"])(
    "a payment that is stored and not sent is dropped for an account that is %s meanwhile",
    async (change) => {
      await setUp();
      server.trouble("down");
      await pass();
      server.trouble(undefined);
      if (change === "suspended") await suspendAccount(storage, OWNER, accountId, "abuse");
      else if (change === "switched off")
        await setAutoTopUp(storage, OWNER, accountId, { ...TERMS, isOn: false });
      else await removeCard(storage, OWNER, accountId);
      storage.clock.nowMs += 61_000;
      await pass();
      await pass();
      expect(intents()).toHaveLength(0);
      expect(await mailsNow()).toEqual([]);
    },
  );

  test("a payment that was taken is credited to an account that is suspended meanwhile", async () => {
    await setUp("processing");
    await pass();
    await suspendAccount(storage, OWNER, accountId, "abuse");
    const [intent = expect.unreachable()] = intents();
    server.books.takeEvents();
    server.books.finish(intent, "succeeded");
    expect(await deliver()).toEqual(["credited"]);
    expect(await postedNow()).toBe(TERMS.amount);
  });

  test("nothing is added without a card, while off, and where it is not offered", async () => {
    await setAutoTopUp(storage, OWNER, accountId, TERMS);
    await pass();
    await saveCard("ok");
    await setAutoTopUp(storage, OWNER, accountId, { ...TERMS, isOn: false });
    await pass();
    await setAutoTopUp(storage, OWNER, accountId, TERMS);
    await runAutoTopUps({ ...parts(), isOffered: () => false });
    expect(intents()).toHaveLength(0);
  });

  test.each([
    ["amount", "4.99"],
    ["amount", "10000.01"],
    ["amount", "5.001"],
    ["below", "10000.01"],
    ["monthMax", "19.99"],
    ["monthMax", "100000.01"],
  ])("terms out of bounds are refused: %s of %s USD", async (member, usd) => {
    const setting = setAutoTopUp(storage, OWNER, accountId, { ...TERMS, [member]: parseUsd(usd) });
    await expect(setting).rejects.toMatchObject({ kind: "wrong_shape" });
  });

  test("a card is asked for only after terms are set", async () => {
    const urls = { successUrl: "https://t.example.com/ok", cancelUrl: "https://t.example.com/back" };
    const setup = createCardSetup({ ...storage, stripe }, OWNER, { accountId, ...urls });
    await expect(setup).rejects.toMatchObject({ kind: "conflict" });
  });
});
