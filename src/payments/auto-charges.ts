import { and, asc, eq, gt, isNotNull, lte, or } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import type { Mails } from "../delivery/mail/mails.ts";
import { HOUR_MS } from "../domain/id-time.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import { dropPayment, failPayment, takePayment } from "./auto-payments.ts";
import { type AutoPayment, findAutoTopUp } from "./auto-top-ups.ts";
import type { ChargeOrder, PaymentState, SavedCards } from "./stripe-cards.ts";

export interface ChargeParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "topUp">;
  readonly stripe: SavedCards;
  readonly mails: Mails;
  /** Where an owner would return from a page of the bank. */
  returnUrl(accountId: string): string;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Log;
}

/** Payments that one pass asks Stripe about. */
const PASS_MAX = 20;
/** Longer than a call of Stripe with its repetition. */
const CLAIM_MS = 60_000;
const BACKOFF_MS = 5_000;
const BACKOFF_MS_MAX = 600_000;
/** A bank may take days; an event usually reports the end first. */
const PROCESSING_MS = HOUR_MS;
/** Stripe forgets an idempotency key after 24 hours: a payment is not sent again after that. */
const KEY_MS = 23 * HOUR_MS;

/** Asks Stripe for the payments that are due: sends them, or reads their state. Safe in any number of processes. */
export async function chargeDue(parts: ChargeParts): Promise<void> {
  for (const payment of await findDue(parts)) {
    if (!(await claimAttempt(parts, payment))) continue;
    try {
      await applyState(parts, payment, await ask(parts, payment));
    } catch (thrown) {
      parts.log.warn({ payment: payment.id, ...describeFault(thrown) }, "automatic top-up not paid");
    }
  }
}

async function findDue({ database, now }: ChargeParts): Promise<readonly AutoPayment[]> {
  const { autoPayments } = database.tables;
  const nowMs = now();
  // A time far ahead was written before the clock was set back.
  const isAhead = gt(autoPayments.nextAtMs, nowMs + 2 * PROCESSING_MS);
  const isDue = and(isNotNull(autoPayments.nextAtMs), or(lte(autoPayments.nextAtMs, nowMs), isAhead));
  const { db } = database;
  return db.select().from(autoPayments).where(isDue).orderBy(asc(autoPayments.nextAtMs)).limit(PASS_MAX);
}

/** Counts the attempt before it is made, so that a process that dies in it leaves a trace. */
async function claimAttempt({ database, now }: ChargeParts, { id, attempts }: AutoPayment): Promise<boolean> {
  const { autoPayments } = database.tables;
  const isUnclaimed = and(
    eq(autoPayments.id, id),
    eq(autoPayments.attempts, attempts),
    isNotNull(autoPayments.nextAtMs),
  );
  const claim = { attempts: attempts + 1, nextAtMs: now() + CLAIM_MS };
  const claimed = await database.transact((tx) =>
    tx.update(autoPayments).set(claim).where(isUnclaimed).returning({ id: autoPayments.id }),
  );
  return claimed.length > 0;
}

/** `dropped` is a payment that was not sent, and is not to be. */
type Answer = PaymentState | { readonly kind: "dropped"; readonly code: string };

/**
 * Asks Stripe for the state of a payment, and sends it where Stripe has none. An earlier attempt may have reached
 * Stripe without an answer: its payment is looked for first.
 */
async function ask(parts: ChargeParts, payment: AutoPayment): Promise<Answer> {
  const { stripe } = parts;
  if (payment.intentId !== null) return stripe.readCharge(payment.intentId);
  const order = orderOf(parts, payment);
  if (payment.attempts > 0) {
    const found = await stripe.findCharge(order);
    if (found) return found;
  }
  const obstacle = await findObstacle(parts, payment);
  return obstacle ? { kind: "dropped", code: obstacle } : stripe.charge(order);
}

function orderOf(parts: ChargeParts, payment: AutoPayment): ChargeOrder {
  const { id: orderId, accountId, amount, customerId, paymentMethodId, createdAtMs } = payment;
  const returnUrl = parts.returnUrl(accountId);
  return { orderId, amount, customerId, paymentMethodId, createdAtMs, returnUrl };
}

/** Why a payment must not be sent any more; `undefined` when it may. */
async function findObstacle(
  { database, now }: ChargeParts,
  { accountId, createdAtMs, paymentMethodId }: AutoPayment,
): Promise<string | undefined> {
  const { accounts } = database.tables;
  const account = eq(accounts.id, accountId);
  const [row] = await database.db.select({ state: accounts.state }).from(accounts).where(account);
  if (row?.state !== "active") return "account_suspended";
  const autoTopUp = await findAutoTopUp(database, accountId);
  if (autoTopUp?.state !== "on") return "switched_off";
  if (autoTopUp.paymentMethodId !== paymentMethodId) return "card_changed";
  return now() - createdAtMs > KEY_MS ? "too_late" : undefined;
}

async function applyState(parts: ChargeParts, payment: AutoPayment, state: Answer): Promise<void> {
  const { log } = parts;
  const { id, accountId } = payment;
  const fields = { payment: id, account: accountId };
  switch (state.kind) {
    case "paid": {
      const result = await takePayment(parts, { ...state, orderId: id });
      if (result === "credited") return log.info(fields, "automatic top-up paid");
      log.error(
        { ...fields, intent: state.intentId },
        "automatic top-up paid with another amount or currency",
      );
      return void (await failPayment(parts, payment, { intentId: state.intentId, code: "another_amount" }));
    }
    case "processing":
      return askAgain(parts, payment, { afterMs: PROCESSING_MS, intentId: state.intentId });
    case "refused": {
      const isFirst = await failPayment(parts, payment, state);
      if (isFirst) log.warn({ ...fields, failure: state.code }, "automatic top-up refused");
      if (isFirst && state.intentId) await parts.stripe.cancelCharge(state.intentId);
      return;
    }
    case "dropped":
      await dropPayment(parts, payment, state.code);
      return log.warn({ ...fields, failure: state.code }, "automatic top-up dropped");
    case "unknown":
      log.warn({ ...fields, failure: state.code }, "automatic top-up not answered");
      return askAgain(parts, payment, { afterMs: backoffMs(payment.attempts) });
  }
}

function backoffMs(attempts: number): number {
  return Math.min(BACKOFF_MS * 2 ** Math.min(attempts, 10), BACKOFF_MS_MAX);
}

interface Again {
  readonly afterMs: number;
  readonly intentId?: string;
}

async function askAgain(
  { database, now }: ChargeParts,
  { id }: AutoPayment,
  { afterMs, intentId }: Again,
): Promise<void> {
  const { autoPayments } = database.tables;
  const isOpen = and(eq(autoPayments.id, id), isNotNull(autoPayments.nextAtMs));
  const set = { nextAtMs: now() + afterMs, ...(intentId !== undefined && { intentId }) };
  await database.transact(async (tx) => void (await tx.update(autoPayments).set(set).where(isOpen)));
}
