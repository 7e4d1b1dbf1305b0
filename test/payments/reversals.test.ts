import { beforeEach, describe, expect, test } from "bun:test";
import type { AuditActor } from "../../src/accounts/audit-trail.ts";
import { resumeAccount } from "../../src/accounts/suspension.ts";
import { parseUsd, printUsd } from "../../src/domain/money.ts";
import { LedgerError } from "../../src/ledger/ledger.ts";
import { applyEvent, createCheckout } from "../../src/payments/checkouts.ts";
import { applyReversal, type ReversalRules } from "../../src/payments/reversals.ts";
import type { StripeClient } from "../../src/payments/stripe.ts";
import type { ReversalEvent } from "../../src/payments/stripe-events.ts";
import type { PaymentRecords, StripeRefund } from "../../src/payments/stripe-records.ts";
import { sweepPayments } from "../../src/payments/sweep.ts";
import { findTransferNotes } from "../../src/payments/transfer-notes.ts";
import { DIALECTS, storageForTests } from "../accounts/temp-storage.ts";
import { createCapturedLog } from "../support/captured-log.ts";

const OWNER: AuditActor = { kind: "person", id: "p", name: "owner@example.com" };
const PAGES = { successUrl: "https://t.example.com/ok", cancelUrl: "https://t.example.com/back" };
const DEBIT: ReversalRules = { onRefund: "debit", onDispute: "debit" };

describe.each(DIALECTS)("refunds and disputes in %s", (dialect) => {
  const storage = storageForTests(dialect);
  let accountId: string;
  let refunds: StripeRefund[];
  let sessions: Map<string, string>;
  beforeEach(async () => {
    accountId = (await storage.newAccount()).id;
    refunds = [];
    sessions = new Map();
  });

  const records: PaymentRecords = {
    listRefunds: async () => [...refunds],
    findSession: async (intentId) => sessions.get(intentId),
    readLinks: () => expect.unreachable(),
  };
  const postedNow = async () => printUsd((await storage.ledger.balances(accountId)).posted);
  const apply = (event: ReversalEvent, rules = DEBIT, ledger: (typeof storage)["ledger"] = storage.ledger) =>
    applyReversal({ ...storage, ledger, stripe: records, rules }, event);
  const sweep = () => sweepPayments({ ...storage, log: createCapturedLog() });

  /** Pays by Checkout. With `tax`, so many cents are added; without `intent`, as before it was stored. */
  async function pay(usd: string, intentId: string, { tax = 0, keepsIntent = true } = {}): Promise<string> {
    const sessionId = `cs_${crypto.randomUUID()}`;
    const stripe: StripeClient = {
      createPage: async () => ({ sessionId, url: "https://checkout.stripe.com/c/pay/x" }),
      readEvent: () => expect.unreachable(),
    };
    const amount = parseUsd(usd);
    await createCheckout(storage, stripe, OWNER, { accountId, amount, ...PAGES });
    const amountTotal = Number(amount / 10_000_000n) + tax;
    const paid = { kind: "paid", sessionId, orderId: undefined, amountTotal, currency: "usd" } as const;
    const more = { amountTax: tax, intentId: keepsIntent ? intentId : undefined };
    expect(await applyEvent(storage, { ...paid, ...more })).toBe("credited");
    sessions.set(intentId, sessionId);
    return sessionId;
  }

  function refunded(payment: string, ...cents: readonly number[]): ReversalEvent {
    for (const amount of cents) {
      refunds.push({ id: `re_${refunds.length + 1}`, amount, currency: "usd", isGiven: true });
    }
    return {
      kind: "reversed",
      action: "payment.refunded",
      objectId: "ch_1",
      payment,
      amount: 0,
      currency: "usd",
      state: undefined,
    };
  }

  const disputed = (payment: string, state: string, changes: Partial<ReversalEvent> = {}): ReversalEvent => ({
    kind: "reversed",
    action: state === "won" || state === "lost" ? "payment.dispute_closed" : "payment.disputed",
    objectId: "du_1",
    payment,
    amount: 2_000,
    currency: "usd",
    state,
    ...changes,
  });

  async function linesNow() {
    const { items } = await storage.ledger.transfers(accountId, { size: 20 });
    const reasons = await findTransferNotes(storage, accountId, items);
    return items
      .filter(({ transferId }) => !transferId.startsWith("cs_"))
      .map(({ kind, transferId, amount }) => [kind, transferId, printUsd(amount), reasons.get(transferId)]);
  }

  test("partial refunds are corrections under their own ids, once, and sum up", async () => {
    const session = await pay("20", "pi_1");
    await apply(refunded("pi_1", 500));
    const event = refunded("pi_1", 700, 800);
    await Promise.all([apply(event), apply(event), apply(event)]);
    await apply(event);
    await sweep();
    expect(await postedNow()).toBe("0.00");
    const reason = `refund of payment ${session}`;
    const lines = [...(await linesNow())].sort((one, other) =>
      String(one[1]).localeCompare(String(other[1])),
    );
    expect(lines).toEqual([
      ["correction", "re_1", "-5.00", reason],
      ["correction", "re_2", "-7.00", reason],
      ["correction", "re_3", "-8.00", reason],
    ]);
  });

  test("a refund of money that is spent leaves the wallet below zero", async () => {
    await pay("20", "pi_1");
    await storage.ledger.topUp({ walletId: accountId, topUpId: "spent", amount: -parseUsd("15") });
    await apply(refunded("pi_1", 2_000));
    expect(await postedNow()).toBe("-15.00");
  });

  test("a refund that fails later gives back, once", async () => {
    await pay("20", "pi_1");
    await apply(refunded("pi_1", 500));
    refunds = refunds.map((refund) => ({ ...refund, isGiven: false }));
    const failed: ReversalEvent = { ...refunded("pi_1"), action: "payment.refund_failed", objectId: "re_1" };
    for (let times = 0; times < 3; times += 1) await apply(failed);
    expect(await postedNow()).toBe("20.00");
    expect((await linesNow()).map(([kind, id]) => [kind, id])).toEqual([
      ["top_up", "re_1:returned"],
      ["correction", "re_1"],
    ]);
  });

  test("a refund that had failed before it was seen takes nothing", async () => {
    await pay("20", "pi_1");
    const event = refunded("pi_1", 500);
    refunds = refunds.map((refund) => ({ ...refund, isGiven: false }));
    await apply(event);
    expect(await linesNow()).toEqual([]);
  });

  test("refunds of a taxed payment take the wallet's share, and all of it in the end", async () => {
    await pay("20", "pi_1", { tax: 380 });
    for (const cents of [333, 1, 1_000, 1_046]) await apply(refunded("pi_1", cents));
    expect(await postedNow()).toBe("0.00");
    const amounts = (await linesNow()).map(([, , amount]) => amount);
    expect(amounts.at(-1)).toBe("-2.798319327");
  });

  test("a checkout that was paid before its PaymentIntent was kept is found by its session", async () => {
    await pay("20", "pi_old", { keepsIntent: false });
    expect(await apply(refunded("pi_old", 2_000))).toBe("debit");
    expect(await postedNow()).toBe("0.00");
  });

  test.each(["pi_other", "ch_old", undefined])(
    "a payment of another program is unknown: %p",
    async (payment) => {
      await pay("20", "pi_1");
      expect(await apply({ ...refunded("pi_1", 2_000), payment })).toBe("unknown");
      expect(await postedNow()).toBe("20.00");
    },
  );

  test.each(["needs_response", "under_review", "lost"])(
    "a dispute that is %s takes the money",
    async (state) => {
      const session = await pay("20", "pi_1");
      for (let times = 0; times < 3; times += 1) await apply(disputed("pi_1", state));
      expect(await linesNow()).toEqual([["correction", "du_1", "-20.00", `dispute of payment ${session}`]]);
    },
  );

  test.each(["warning_needs_response", "warning_under_review", "warning_closed", "prevented"])(
    "an inquiry that is %s takes nothing",
    async (state) => {
      await pay("20", "pi_1");
      await apply(disputed("pi_1", state));
      expect(await linesNow()).toEqual([]);
    },
  );

  test("an inquiry that becomes a dispute takes the money", async () => {
    await pay("20", "pi_1");
    for (const state of ["warning_needs_response", "needs_response"]) await apply(disputed("pi_1", state));
    expect(await postedNow()).toBe("0.00");
  });

  test.each([
    [["needs_response", "won"], "20.00", 2],
    [["won", "needs_response"], "20.00", 0],
    [["won", "needs_response", "won", "under_review"], "20.00", 0],
    [["needs_response", "won", "needs_response", "won"], "20.00", 2],
    [["lost", "needs_response"], "0.00", 1],
  ] as const)("events of a dispute in the order %j end at %s", async (states, posted, lines) => {
    await pay("20", "pi_1");
    for (const state of states) await apply(disputed("pi_1", state));
    await sweep();
    expect(await postedNow()).toBe(posted);
    expect(await linesNow()).toHaveLength(lines);
  });

  test("20 events of a dispute at once, half of them of its end, leave what was there", async () => {
    await pay("20", "pi_1");
    const states = Array.from({ length: 20 }, (_, at) => (at % 2 ? "needs_response" : "won"));
    await Promise.all(states.map((state) => apply(disputed("pi_1", state))));
    await sweep();
    expect(await postedNow()).toBe("20.00");
  });

  test.each([
    ["another currency", { currency: "eur" }],
    ["no amount", { amount: undefined }],
    ["a negative amount", { amount: -1 }],
  ])("a dispute in %s changes no wallet", async (_name, changes) => {
    await pay("20", "pi_1");
    expect(await apply(disputed("pi_1", "lost", changes))).toBe("unknown");
    expect(await postedNow()).toBe("20.00");
  });

  test("a dispute above the payment takes the payment alone", async () => {
    await pay("20", "pi_1");
    await apply(disputed("pi_1", "lost", { amount: Number.MAX_SAFE_INTEGER }));
    expect(await postedNow()).toBe("0.00");
  });

  test("with freeze, a dispute suspends the account once, and leaves its money", async () => {
    await pay("20", "pi_1");
    const rules = { onRefund: "record", onDispute: "freeze" } as const;
    expect(await apply(disputed("pi_1", "needs_response"), rules)).toBe("freeze");
    expect((await storage.ledger.wallet(accountId))?.state).toBe("frozen");
    await resumeAccount(storage, OWNER, accountId, "settled");
    for (const state of ["needs_response", "won"]) await apply(disputed("pi_1", state), rules);
    expect((await storage.ledger.wallet(accountId))?.state).toBe("active");
    expect(await postedNow()).toBe("20.00");
  });

  test("with record, a refund changes nothing; a later configuration does not change its effect", async () => {
    await pay("20", "pi_1");
    const rules = { onRefund: "record", onDispute: "record" } as const;
    expect(await apply(refunded("pi_1", 500), rules)).toBe("record");
    await apply(refunded("pi_1", 100));
    expect(await postedNow()).toBe("19.00");
  });

  test("a debit that the ledger did not take is booked by the sweep, once", async () => {
    await pay("20", "pi_1");
    const away = {
      ...storage.ledger,
      topUp: async () => {
        throw new LedgerError("unavailable");
      },
    };
    const event = disputed("pi_1", "needs_response");
    await expect(apply(event, DEBIT, away)).rejects.toMatchObject({ code: "unavailable" });
    expect(await postedNow()).toBe("20.00");
    await Promise.all([sweep(), sweep(), apply(event)]);
    expect(await sweep()).toBe(0);
    expect(await postedNow()).toBe("0.00");
  });

  test("a refund before the payment is credited ends at zero, in either order", async () => {
    const sessionId = `cs_${crypto.randomUUID()}`;
    const stripe: StripeClient = {
      createPage: async () => ({ sessionId, url: "https://checkout.stripe.com/c/pay/x" }),
      readEvent: () => expect.unreachable(),
    };
    await createCheckout(storage, stripe, OWNER, { accountId, amount: parseUsd("20"), ...PAGES });
    sessions.set("pi_1", sessionId);
    await apply(refunded("pi_1", 2_000));
    expect(await postedNow()).toBe("-20.00");
    const paid = {
      kind: "paid",
      sessionId,
      orderId: undefined,
      amountTotal: 2_000,
      currency: "usd",
    } as const;
    await applyEvent(storage, { ...paid, intentId: "pi_1" });
    expect(await postedNow()).toBe("0.00");
  });
});
