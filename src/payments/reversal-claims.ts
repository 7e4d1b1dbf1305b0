import { and, eq, isNotNull, isNull, or } from "drizzle-orm";
import { lockAccount } from "../accounts/accounts.ts";
import type { Database, Db, Tables } from "../db/database.ts";
import type { Nanos } from "../domain/money.ts";
import type { PaymentRecords } from "./stripe-records.ts";

/** A refund or dispute of a payment that had credited a wallet. */
export type Reversal = Tables["reversals"]["$inferSelect"];

/** What a reversal does to the wallet: takes the money off, suspends the account, or nothing. */
export type ReversalEffect = Reversal["effect"];

/** A payment that has credited a wallet. */
export interface CreditedPayment {
  readonly accountId: string;
  /** The id of its top-up. */
  readonly paymentId: string;
  /** What the wallet got. */
  readonly credited: Nanos;
  /** What the payer paid, taxes included. */
  readonly paid: Nanos;
}

/**
 * Finds the payment of ours that an id of Stripe is of; `undefined` for one of another program. A checkout that was paid
 * before its payment was stored is found by its session at Stripe. Rejects with `payments_unavailable`.
 */
export async function findCredited(
  database: Database,
  stripe: Pick<PaymentRecords, "findSession">,
  intentId: string,
): Promise<CreditedPayment | undefined> {
  const { db, tables } = database;
  const { autoPayments, checkouts, planInvoices } = tables;
  const [auto] = await db.select().from(autoPayments).where(eq(autoPayments.intentId, intentId));
  if (auto) {
    const { accountId, amount } = auto;
    return { accountId, paymentId: intentId, credited: amount, paid: amount };
  }
  const [invoice] = await db.select().from(planInvoices).where(eq(planInvoices.intentId, intentId));
  if (invoice) {
    const { accountId, grantId: paymentId, credited, paid } = invoice;
    return { accountId, paymentId, credited, paid };
  }
  const [known] = await db.select().from(checkouts).where(eq(checkouts.intentId, intentId));
  const checkout = known ?? (await findBySession(database, await stripe.findSession(intentId)));
  if (!checkout) return undefined;
  const { id: paymentId, accountId, amount, paidTotal } = checkout;
  return { accountId, paymentId, credited: amount, paid: paidTotal ?? amount };
}

async function findBySession({ db, tables: { checkouts } }: Database, sessionId: string | undefined) {
  if (sessionId === undefined) return undefined;
  const [row] = await db.select().from(checkouts).where(eq(checkouts.id, sessionId));
  return row;
}

/** A reversal as Stripe has it now. */
export interface SeenReversal extends Pick<Reversal, "id" | "kind" | "reversed" | "effect"> {
  /** Whether the payer has the money, or will have it: not after a won dispute or a failed refund. */
  readonly isGiven: boolean;
}

/**
 * Stores what was seen of a reversal, in any order and any number of times: once given back, it stays so, and one that
 * was first seen given back takes nothing. Returns its row, or `undefined` where there is nothing to book.
 */
export function claimReversal(
  database: Database,
  payment: CreditedPayment,
  seen: SeenReversal,
  nowMs: number,
): Promise<Reversal | undefined> {
  const { reversals } = database.tables;
  const isSame = eq(reversals.id, seen.id);
  return database.transact(async (tx) => {
    // Reversals of one payment one after the other: each amount depends on those before it.
    await lockAccount(database, tx, payment.accountId);
    const [known] = await tx.select().from(reversals).where(isSame);
    if (!known) {
      const row = await describeNew(database, tx, payment, seen, nowMs);
      await tx.insert(reversals).values(row);
      return seen.isGiven ? row : undefined;
    }
    if (seen.isGiven || known.returnedAtMs !== null) return known;
    await tx.update(reversals).set({ returnedAtMs: nowMs }).where(isSame);
    return { ...known, returnedAtMs: nowMs };
  });
}

async function describeNew(
  database: Database,
  tx: Db,
  payment: CreditedPayment,
  { id, kind, reversed, effect, isGiven }: SeenReversal,
  nowMs: number,
): Promise<Reversal> {
  const { accountId, paymentId } = payment;
  const amount = await shareOf(database, tx, payment, reversed);
  const row = { id, kind, accountId, paymentId, reversed, amount, effect, createdAtMs: nowMs };
  const ended = { bookedAtMs: nowMs, returnedAtMs: nowMs, returnBookedAtMs: nowMs };
  const open = { bookedAtMs: null, returnedAtMs: null, returnBookedAtMs: null };
  return { ...row, ...(isGiven ? open : ended) };
}

/**
 * The part of a reversal that the wallet had got: all of it, less its part of a tax. Reversals of one payment sum up to
 * the part of their sum, to the nano.
 */
async function shareOf(
  { tables: { reversals } }: Database,
  tx: Db,
  { paymentId, credited, paid }: CreditedPayment,
  reversed: Nanos,
): Promise<Nanos> {
  if (credited === paid) return reversed;
  const isOpen = and(eq(reversals.paymentId, paymentId), isNull(reversals.returnedAtMs));
  const before = await tx.select().from(reversals).where(isOpen);
  const total = before.reduce((sum, each) => sum + each.reversed, reversed);
  const booked = before.reduce((sum, { amount }) => sum + amount, 0n);
  return (total * credited) / paid - booked;
}

/** Finds reversals whose effect is not booked, because a call failed or a process died. */
export async function findUnbooked(database: Database, countMax: number): Promise<readonly Reversal[]> {
  const { db, tables } = database;
  const { reversals } = tables;
  const isUnbooked = isNull(reversals.bookedAtMs);
  const isUnreturned = and(isNotNull(reversals.returnedAtMs), isNull(reversals.returnBookedAtMs));
  return db.select().from(reversals).where(or(isUnbooked, isUnreturned)).limit(countMax);
}
