import { describe, expect, test } from "bun:test";
import type { AuditActor } from "../../src/accounts/audit-trail.ts";
import { resumeAccount, suspendAccount } from "../../src/accounts/suspension.ts";
import { connectDatabase } from "../../src/db/database.ts";
import { createMails } from "../../src/delivery/mail/mails.ts";
import { parseUsd } from "../../src/domain/money.ts";
import { runAutoTopUps } from "../../src/payments/auto-job.ts";
import { applyAutoEvent } from "../../src/payments/auto-payments.ts";
import { setAutoTopUp } from "../../src/payments/auto-top-ups.ts";
import { readStripeEvent } from "../../src/payments/stripe-events.ts";
import { centsToNanos } from "../../src/payments/stripe-library.ts";
import { sweepPayments } from "../../src/payments/sweep.ts";
import { DIALECTS, openTempStorage } from "../accounts/temp-storage.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { type Intent, StripeBooks } from "../support/stripe-books.ts";
import { type CallTrouble, cardsInMemory } from "../support/stripe-in-memory.ts";

const OWNER: AuditActor = { kind: "person", id: "p", name: "owner@example.com" };
const GATEWAYS = 3;
const STEPS = 150;
const TERMS = { isOn: true, below: parseUsd("10"), amount: parseUsd("20"), monthMax: parseUsd("100") };
const BEHAVIOURS = ["ok", "ok", "ok", "processing", "generic_decline", "requires_action"];

/** A generator of numbers from 0 to 1 that a seed decides. */
function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

describe.each(DIALECTS)("automatic top-ups of three gateways with deaths, in %s", (dialect) => {
  test.each([1, 2, 3, 7, 8])(
    "credit what was paid, once per crossing and within the month (seed %i)",
    async (seed) => {
      const random = mulberry(seed);
      const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item;
      const storage = await openTempStorage(dialect);
      const databases = await Promise.all(
        Array.from({ length: GATEWAYS }, () => connectDatabase(storage.location)),
      );
      const { clock, ledger, now } = storage;
      const { id: accountId } = await storage.newAccount();
      const books = new StripeBooks();
      books.nowMs = now;
      const { customer, card } = books.addCard("ok");
      let isCalm = false;
      const trouble = (): CallTrouble =>
        isCalm ? "none" : pick(["none", "none", "none", "lost_before", "lost_after"]);
      const stripe = cardsInMemory(books, trouble);
      await setAutoTopUp(storage, OWNER, accountId, TERMS);
      const { autoTopUps, autoPayments } = storage.database.tables;
      const saved = { customerId: customer, paymentMethodId: card, card: "visa 4242" };
      await storage.database.transact(async (tx) => void (await tx.update(autoTopUps).set(saved)));

      const gateway = (database: (typeof databases)[number]) => ({
        database,
        ledger,
        stripe: stripe.cards,
        mails: createMails(database, now),
        returnUrl: () => "https://tollgate.example.com/wallet",
        isOffered: () => true,
        now,
        log: createCapturedLog(),
      });
      const passAll = () => Promise.all(databases.map((database) => runAutoTopUps(gateway(database))));
      /** Events that were raised: each is delivered late, repeatedly, or in another order. */
      const events: { type: string; object: object }[] = [];
      const deliver = async () => {
        events.push(...books.takeEvents());
        const sent = events[Math.floor(random() * events.length)];
        const event = sent && readStripeEvent({ type: sent.type, data: { object: sent.object } });
        if (event?.kind !== "auto_paid" && event?.kind !== "auto_changed") return;
        await applyAutoEvent({ ...gateway(pick(databases)) }, event);
      };
      const finish = () => {
        const open = [...books.intents.values()].filter(({ status }) => status === "processing");
        const intent = open[Math.floor(random() * open.length)];
        if (intent) books.finish(intent, random() < 0.7 ? "succeeded" : "requires_payment_method");
      };
      const spend = () =>
        ledger.topUp({ walletId: accountId, topUpId: crypto.randomUUID(), amount: -parseUsd("15") });
      const steps: Readonly<Record<string, () => unknown>> = {
        passAll,
        passOne: () => runAutoTopUps(gateway(pick(databases))),
        deliver,
        finish,
        spend,
        spendToo: spend,
        behave: () => books.setBehaviour(card, pick(BEHAVIOURS)),
        wait: () => (clock.nowMs += pick([1_000, 61_000, 3_700_000, 40 * 3_600_000])),
        goBack: () => (clock.nowMs -= pick([1_000, 600_000])),
        forgetKeys: () => random() < 0.2 && forgetKeys(),
        setAgain: () => random() < 0.5 && setAutoTopUp(storage, OWNER, accountId, TERMS),
        suspend: () => random() < 0.2 && suspendAccount(storage, OWNER, accountId, "test"),
        resume: () => resumeAccount(storage, OWNER, accountId, "test"),
        sweep: () => sweepPayments({ ...storage, log: createCapturedLog() }),
      };
      /** Stripe keeps a key for a day. */
      function forgetKeys(): void {
        clock.nowMs += 30 * 3_600_000;
        stripe.forgetKeys();
      }
      for (let at = 0; at < STEPS; at += 1) await pick(Object.values(steps))();

      // Peace: every payment ends, and every event arrives.
      isCalm = true;
      books.setBehaviour(card, "ok");
      await resumeAccount(storage, OWNER, accountId, "test");
      for (const intent of books.intents.values()) {
        if (intent.status === "processing") books.finish(intent, "succeeded");
      }
      for (let round = 0; round < 4; round += 1) {
        clock.nowMs += 3_700_000;
        await passAll();
      }
      await sweepPayments({ ...storage, log: createCapturedLog() });

      const paid = [...books.intents.values()].filter(({ status }) => status === "succeeded");
      const { items } = await ledger.transfers(accountId, { size: 1_000 });
      const credited = items.filter(({ kind }) => kind === "top_up").map(({ transferId }) => transferId);
      expect(credited.sort()).toEqual(paid.map(({ id }) => id).sort());
      expect(paid.length).toBeGreaterThan(0);
      const crossings = paid.map(orderOf);
      expect(new Set(crossings).size).toBe(crossings.length);
      const rows = await storage.database.db.select().from(autoPayments);
      for (const month of new Set(rows.map((row) => row.month))) {
        const orders = new Set(rows.filter((row) => row.month === month).map(({ id }) => id));
        const sum = paid
          .filter((intent) => orders.has(orderOf(intent)))
          .reduce((total, { amount }) => total + amount, 0);
        expect([month, centsToNanos(sum) <= TERMS.monthMax]).toEqual([month, true]);
      }
      expect(rows.every((row) => row.month >= "2026-05")).toBe(true);
      await Promise.all(databases.map((database) => database.close()));
      await storage.close();
    },
  );
});

function orderOf({ metadata }: Intent): string {
  return metadata.tollgate_auto_top_up ?? "";
}
