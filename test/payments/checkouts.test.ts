import { beforeEach, describe, expect, test } from "bun:test";
import type { AuditActor } from "../../src/accounts/audit-trail.ts";
import { parseUsd } from "../../src/domain/money.ts";
import { GatewayError } from "../../src/errors.ts";
import { LedgerError } from "../../src/ledger/ledger.ts";
import type { PaymentParts } from "../../src/payments/bookings.ts";
import { applyEvent, createCheckout, findCheckout, stateOfCheckout } from "../../src/payments/checkouts.ts";
import type { CheckoutOrder, StripeClient } from "../../src/payments/stripe.ts";
import type { CheckoutEvent } from "../../src/payments/stripe-events.ts";
import { sweepPayments } from "../../src/payments/sweep.ts";
import { DIALECTS, storageForTests } from "../accounts/temp-storage.ts";
import { createCapturedLog } from "../support/captured-log.ts";

const OWNER: AuditActor = { kind: "person", id: "p", name: "owner@example.com" };
const AMOUNT = parseUsd("25.5");
const PAGES = { successUrl: "https://t.example.com/ok", cancelUrl: "https://t.example.com/back" };

describe.each(DIALECTS)("checkouts in %s", (dialect) => {
  const storage = storageForTests(dialect);
  let accountId: string;
  let orders: CheckoutOrder[];
  beforeEach(async () => {
    accountId = (await storage.newAccount()).id;
    orders = [];
  });

  /** Stripe, whose sessions are named after their orders. */
  const stripe: StripeClient = {
    async createPage(order) {
      orders.push(order);
      return { sessionId: sessionOf(order), url: "https://checkout.stripe.com/c/pay/x" };
    },
    readEvent: () => expect.unreachable(),
  };
  const sessionOf = ({ orderId }: CheckoutOrder) => `cs_${orderId}`;
  const request = () => ({ accountId, amount: AMOUNT, ...PAGES });
  const postedNow = async () => (await storage.ledger.balances(accountId)).posted;
  const parts = (): PaymentParts => storage;

  async function open(): Promise<CheckoutEvent> {
    const { sessionId } = await createCheckout(parts(), stripe, OWNER, request());
    return paid(sessionId, orders.at(-1)?.orderId);
  }

  function paid(sessionId: string, orderId: string | undefined): CheckoutEvent {
    return { kind: "paid", sessionId, orderId, amountTotal: 2_550, currency: "usd" };
  }

  async function stateNow(sessionId: string, id = accountId) {
    const found = await findCheckout(storage.database, { accountId: id, sessionId });
    return found && stateOfCheckout(found, storage.clock.nowMs);
  }

  test("a paid session credits the stored amount under its own id", async () => {
    const event = await open();
    expect(await stateNow(event.sessionId)).toBe("open");
    expect(await applyEvent(parts(), event)).toBe("credited");
    expect(await postedNow()).toBe(AMOUNT);
    expect(await stateNow(event.sessionId)).toBe("paid");
    const { items } = await storage.ledger.transfers(accountId, { size: 10 });
    expect(items.map(({ transferId, kind }) => [kind, transferId])).toEqual([["top_up", event.sessionId]]);
  });

  test("an opened session alone credits nothing", async () => {
    await open();
    await sweepPayments({ ...storage, log: createCapturedLog() });
    expect(await postedNow()).toBe(0n);
  });

  test("50 events at once, with the session's or also the order's id, credit once", async () => {
    const event = await open();
    const events = Array.from({ length: 50 }, (_, at) => (at % 2 ? event : { ...event, orderId: undefined }));
    await Promise.all(events.map((each) => applyEvent(parts(), each)));
    expect(await postedNow()).toBe(AMOUNT);
  });

  test("an event that comes before the session's id is stored is credited, once", async () => {
    let event: CheckoutEvent | undefined;
    const hasty: StripeClient = {
      ...stripe,
      async createPage(order) {
        event = paid(sessionOf(order), order.orderId);
        expect(await applyEvent(parts(), event)).toBe("credited");
        return stripe.createPage(order);
      },
    };
    const { sessionId } = await createCheckout(parts(), hasty, OWNER, request());
    expect(await stateNow(sessionId)).toBe("paid");
    if (event) await applyEvent(parts(), event);
    expect(await postedNow()).toBe(AMOUNT);
  });

  test("a session whose process died before its id was stored is found by its order", async () => {
    const dying: StripeClient = {
      ...stripe,
      async createPage(order) {
        orders.push(order);
        throw new GatewayError("payments_unavailable");
      },
    };
    await expect(createCheckout(parts(), dying, OWNER, request())).rejects.toMatchObject({
      kind: "payments_unavailable",
    });
    const order = orders.at(-1);
    expect(await stateNow(order?.orderId ?? "")).toBe("expired");
    expect(await applyEvent(parts(), paid("cs_late", order?.orderId))).toBe("credited");
    expect(await postedNow()).toBe(AMOUNT);
    expect(await stateNow("cs_late")).toBe("paid");
  });

  test.each([
    ["another amount", { amountTotal: 2_551 }],
    ["a tenth of the amount", { amountTotal: 255 }],
    ["no amount", { amountTotal: undefined }],
    ["half a cent", { amountTotal: 2_550.5 }],
    ["another currency", { currency: "eur" }],
    ["no currency", { currency: undefined }],
  ])("an event of %s credits nothing", async (_name, changes) => {
    const event = await open();
    expect(await applyEvent(parts(), { ...event, ...changes })).toBe("mismatch");
    expect(await postedNow()).toBe(0n);
    expect(await stateNow(event.sessionId)).toBe("open");
    expect(await applyEvent(parts(), event)).toBe("credited");
  });

  test("an event of an unknown session changes nothing", async () => {
    await open();
    for (const orderId of [undefined, "order_other", ""]) {
      expect(await applyEvent(parts(), paid("cs_other", orderId))).toBe("unknown");
    }
    expect(await applyEvent(parts(), { ...paid("cs_other", undefined), kind: "expired" })).toBe("unknown");
    expect(await postedNow()).toBe(0n);
  });

  test("the order of one session cannot be claimed by another", async () => {
    const event = await open();
    expect(await applyEvent(parts(), { ...event, sessionId: "cs_other" })).toBe("unknown");
    expect(await postedNow()).toBe(0n);
  });

  test("events of payment and expiry in any order end paid", async () => {
    for (const order of [
      ["paid", "expired"],
      ["expired", "paid"],
      ["paid", "expired", "paid"],
    ] as const) {
      const before = await postedNow();
      const event = await open();
      for (const kind of order) await applyEvent(parts(), { ...event, kind });
      expect(await stateNow(event.sessionId)).toBe("paid");
      expect((await postedNow()) - before).toBe(AMOUNT);
    }
  });

  test("a session expires by its event, and without one after 25 hours", async () => {
    const event = await open();
    await applyEvent(parts(), { ...event, kind: "expired" });
    expect(await stateNow(event.sessionId)).toBe("expired");
    const other = await open();
    storage.clock.nowMs += 25 * 3_600_000;
    expect(await stateNow(other.sessionId)).toBe("open");
    storage.clock.nowMs += 1;
    expect(await stateNow(other.sessionId)).toBe("expired");
  });

  test.each([false, true])(
    "a kill between claim and credit is mended by the sweep (booked: %p)",
    async (books) => {
      const event = await open();
      const topUp: PaymentParts["ledger"]["topUp"] = async (order) => {
        if (books) await storage.ledger.topUp(order);
        throw new LedgerError("unavailable");
      };
      await expect(applyEvent({ ...storage, ledger: { topUp } }, event)).rejects.toMatchObject({
        code: "unavailable",
      });
      expect(await stateNow(event.sessionId)).toBe("paid");
      const log = createCapturedLog();
      const swept = await Promise.all([sweepPayments({ ...storage, log }), applyEvent(parts(), event)]);
      // The sweep passes over a checkout that the repeated event has credited before it.
      expect([0, 1]).toContain(swept[0]);
      expect(swept[1]).toBe("credited");
      expect(await sweepPayments({ ...storage, log })).toBe(0);
      expect(await postedNow()).toBe(AMOUNT);
    },
  );

  test("a checkout of another account is not found", async () => {
    const event = await open();
    const other = (await storage.newAccount()).id;
    expect(await stateNow(event.sessionId, other)).toBeUndefined();
  });

  test.each(["4.99", "10000.01", "5.001", "0"])("an amount of %s USD is refused", async (usd) => {
    const creating = createCheckout(parts(), stripe, OWNER, { ...request(), amount: parseUsd(usd) });
    await expect(creating).rejects.toMatchObject({ kind: "wrong_shape" });
    expect(orders).toEqual([]);
  });

  test("order and payment are in the audit trail, each once", async () => {
    const event = await open();
    await Promise.all([applyEvent(parts(), event), applyEvent(parts(), event)]);
    const { db, tables } = storage.database;
    const entries = await db.select().from(tables.auditEntries);
    const ours = entries.filter(({ action }) => action.startsWith("checkout."));
    expect(ours.map(({ action, actorKind, accountId: id }) => [action, actorKind, id]).sort()).toEqual([
      ["checkout.created", "person", accountId],
      ["checkout.paid", "system", accountId],
    ]);
  });
});
