import { and, asc, eq, inArray, isNotNull, isNull, sql } from "drizzle-orm";
import { recordChange, SYSTEM } from "../accounts/audit-trail.ts";
import type { Database, Db } from "../db/database.ts";
import type { Mails } from "../delivery/mail/mails.ts";
import { type Nanos, printUsd } from "../domain/money.ts";
import { describeFailure, mailOwners } from "./auto-mails.ts";
import type { AutoPayment } from "./auto-top-ups.ts";
import { creditOnce, type PaymentParts } from "./bookings.ts";
import type { AutoPaymentEvent } from "./stripe-events.ts";
import { centsToNanos } from "./stripe-library.ts";

/** The failures in a row that switch an automatic top-up off. */
const FAILURES_MAX = 2;

/** A payment that Stripe has taken. */
interface Taken {
  readonly orderId: string;
  readonly intentId: string;
  readonly amount: Nanos | undefined;
  readonly currency: string | undefined;
}

/** What a taken payment led to. `unknown` is an order of others, `mismatch` another amount or currency. */
export type TakenResult = "credited" | "mismatch" | "unknown";

/**
 * Credits a payment that Stripe has taken, once, whether its answer or its event comes first. Also one that counted as failed: the money
 * is at Stripe. Rejects with LedgerError when the credit fails: an event or the sweep repeats it.
 */
export async function takePayment(parts: PaymentParts, taken: Taken): Promise<TakenResult> {
  const { database, now } = parts;
  const claim = await database.transact((tx) => claimTaken(database, tx, taken, now()));
  if (typeof claim === "string") return claim;
  if (claim.creditedAtMs === null) await creditAutoPayment(parts, claim);
  return "credited";
}

async function claimTaken(
  database: Database,
  tx: Db,
  { orderId, intentId, amount, currency }: Taken,
  paidAtMs: number,
): Promise<AutoPayment | "unknown" | "mismatch"> {
  const { autoPayments, autoTopUps } = database.tables;
  const [row] = await tx.select().from(autoPayments).where(eq(autoPayments.id, orderId));
  if (!row) return "unknown";
  const isOther = row.intentId !== null && row.intentId !== intentId;
  if (isOther || amount !== row.amount || currency !== row.currency) return "mismatch";
  const isUnpaid = and(eq(autoPayments.id, orderId), isNull(autoPayments.paidAtMs));
  const claimed = await tx
    .update(autoPayments)
    .set({ intentId, paidAtMs, nextAtMs: null, failedAtMs: null, failure: null })
    .where(isUnpaid)
    .returning();
  if (claimed.length > 0) {
    const { accountId } = row;
    // A success ends a row of failures, and the stop after one. What is off stays off.
    const state = sql`CASE WHEN ${autoTopUps.state} = 'stopped' THEN 'on' ELSE ${autoTopUps.state} END`;
    await tx.update(autoTopUps).set({ failures: 0, state }).where(eq(autoTopUps.accountId, accountId));
    const after = { amount_usd: printUsd(row.amount) };
    const change = { accountId, action: "auto_top_up.paid", target: intentId, after };
    await recordChange(database, tx, SYSTEM, change, paidAtMs);
  }
  const [paid] = await tx.select().from(autoPayments).where(eq(autoPayments.id, orderId));
  return paid?.intentId === intentId ? paid : "mismatch";
}

/** Tops up the wallet of a payment that Stripe has taken, once. Its id is the top-up's. */
export async function creditAutoPayment(
  parts: PaymentParts,
  { id, accountId, amount, intentId }: Pick<AutoPayment, "id" | "accountId" | "amount" | "intentId">,
): Promise<void> {
  if (intentId === null) return;
  const { transact, tables } = parts.database;
  const { autoPayments } = tables;
  await creditOnce(parts, { walletId: accountId, topUpId: intentId, amount }, (creditedAtMs) =>
    transact(async (tx) => {
      await tx.update(autoPayments).set({ creditedAtMs }).where(eq(autoPayments.id, id));
    }),
  );
}

/** Finds payments without a credit, because a call failed or a process died. */
export async function findUncreditedAutoPayments({ database }: PaymentParts, countMax: number) {
  const { db, tables } = database;
  const { autoPayments } = tables;
  const isOpen = and(isNull(autoPayments.creditedAtMs), isNull(autoPayments.failedAtMs));
  const isPaid = and(isOpen, isNotNull(autoPayments.paidAtMs));
  return db.select().from(autoPayments).where(isPaid).orderBy(asc(autoPayments.paidAtMs)).limit(countMax);
}

interface FailureParts extends Pick<PaymentParts, "database" | "now"> {
  readonly mails: Mails;
}

interface Failure {
  readonly intentId: string | undefined;
  /** The reason in Stripe's words: "insufficient_funds". */
  readonly code: string;
}

/**
 * Marks a payment as failed, once, and stops the automatic top-up; the second failure in a row switches it off. Mails
 * the owners. Returns `false` for a payment that has ended.
 */
export async function failPayment(
  parts: FailureParts,
  payment: AutoPayment,
  { intentId, code }: Failure,
): Promise<boolean> {
  const { database, now } = parts;
  const { autoTopUps } = database.tables;
  const { id, accountId } = payment;
  return database.transact(async (tx) => {
    if (!(await endPayment(database, tx, payment, { intentId, code, failedAtMs: now() }))) return false;
    const isLast = sql`${autoTopUps.failures} + 1 >= ${FAILURES_MAX}`;
    const state = sql`CASE WHEN ${autoTopUps.state} = 'off' OR ${isLast} THEN 'off' ELSE 'stopped' END`;
    const [after] = await tx
      .update(autoTopUps)
      .set({ failures: sql`${autoTopUps.failures} + 1`, state, updatedAtMs: now() })
      .where(eq(autoTopUps.accountId, accountId))
      .returning();
    const details = { failure: code, amount_usd: printUsd(payment.amount), state: after?.state };
    const change = { accountId, action: "auto_top_up.failed", target: id, after: details };
    await recordChange(database, tx, SYSTEM, change, now());
    const text = describeFailure(payment, code, after?.state === "off");
    await mailOwners(parts, tx, { accountId, id, text });
    return true;
  });
}

/** Gives up a payment that Stripe was never asked for, or does not know. It counts as no failure of the card. */
export async function dropPayment(
  { database, now }: Pick<PaymentParts, "database" | "now">,
  payment: AutoPayment,
  code: string,
): Promise<boolean> {
  const end = { intentId: undefined, code, failedAtMs: now() };
  return database.transact((tx) => endPayment(database, tx, payment, end));
}

async function endPayment(
  { tables: { autoPayments } }: Database,
  tx: Db,
  { id }: AutoPayment,
  { intentId, code, failedAtMs }: Failure & { readonly failedAtMs: number },
): Promise<boolean> {
  const isOpen = and(eq(autoPayments.id, id), isNull(autoPayments.paidAtMs), isNull(autoPayments.failedAtMs));
  const ended = await tx
    .update(autoPayments)
    .set({ failedAtMs, failure: code, nextAtMs: null, ...(intentId !== undefined && { intentId }) })
    .where(isOpen)
    .returning({ id: autoPayments.id });
  return ended.length > 0;
}

/** Applies an event. Only a success changes a payment; after any other event, Stripe is asked for its state. */
export async function applyAutoEvent(
  parts: PaymentParts,
  event: AutoPaymentEvent,
): Promise<TakenResult | "asked"> {
  const { kind, orderId, intentId, currency } = event;
  if (kind === "auto_paid") {
    const amount = event.amount === undefined ? undefined : centsToNanos(event.amount);
    return takePayment(parts, { orderId, intentId, amount, currency });
  }
  const { autoPayments } = parts.database.tables;
  const isOwn = and(eq(autoPayments.id, orderId), isNotNull(autoPayments.nextAtMs));
  await parts.database.transact((tx) => tx.update(autoPayments).set({ nextAtMs: parts.now() }).where(isOwn));
  return "asked";
}

/** Which of these top-ups are automatic ones of an account. */
export async function findAutoPayments(
  { db, tables: { autoPayments } }: Database,
  accountId: string,
  intentIds: readonly string[],
): Promise<readonly AutoPayment[]> {
  if (intentIds.length === 0) return [];
  const isOwn = and(eq(autoPayments.accountId, accountId), inArray(autoPayments.intentId, [...intentIds]));
  return db.select().from(autoPayments).where(isOwn);
}
