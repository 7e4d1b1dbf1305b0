import { eq } from "drizzle-orm";
import { SYSTEM } from "../accounts/audit-trail.ts";
import { type SuspensionParts, suspendAccount } from "../accounts/suspension.ts";
import type { Database } from "../db/database.ts";
import { type Nanos, printUsd } from "../domain/money.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type Booking, CORRECTED, type PostingParts, RETURNED, recordOnce, TOPPED_UP } from "./bookings.ts";
import {
  type CreditedPayment,
  claimReversal,
  findCredited,
  type Reversal,
  type ReversalEffect,
  type SeenReversal,
} from "./reversal-claims.ts";
import type { ReversalEvent } from "./stripe-events.ts";
import { CURRENCY, centsToNanos } from "./stripe-library.ts";
import type { PaymentRecords } from "./stripe-records.ts";

/** What refunds and disputes do to a wallet, as it is configured. */
export interface ReversalRules {
  readonly onRefund: ReversalEffect;
  readonly onDispute: ReversalEffect;
}

/** What payments at Stripe do, as it is configured. */
export interface PaymentRules extends ReversalRules {
  /** Whether Stripe makes an invoice of a payment by Checkout. */
  readonly hasInvoices: boolean;
  /** Whether Stripe adds the tax of the payer's place. */
  readonly hasTax: boolean;
}

export interface ReversalParts extends SuspensionParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "topUp" | "setWalletState" | "wallet">;
  /** Unix milliseconds. */
  readonly now: () => number;
}

interface EventParts extends ReversalParts {
  readonly stripe: PaymentRecords;
  readonly rules: ReversalRules;
}

/** What a reversal led to. `unknown` is of a payment of another program, or in another currency. */
export type ReversalResult = ReversalEffect | "unknown";

/**
 * Books the refunds or the dispute of an event, each once, by their ids at Stripe. Refunds are read from Stripe's API, so
 * that events may come in any order. Rejects with LedgerError and `payments_unavailable`: Stripe then repeats the event.
 */
export async function applyReversal(parts: EventParts, event: ReversalEvent): Promise<ReversalResult> {
  const { database, stripe, rules } = parts;
  const { payment: intentId } = event;
  if (!intentId?.startsWith("pi_")) return "unknown";
  const payment = await findCredited(database, stripe, intentId);
  if (!payment) return "unknown";
  const isDispute = event.action === "payment.disputed" || event.action === "payment.dispute_closed";
  const seen = isDispute
    ? seeDispute(event, rules.onDispute)
    : await seeRefunds(stripe, intentId, rules.onRefund);
  if (!seen) return "unknown";
  for (const each of seen) await applySeen(parts, payment, each);
  return isDispute ? rules.onDispute : rules.onRefund;
}

async function applySeen(parts: EventParts, payment: CreditedPayment, seen: SeenReversal): Promise<void> {
  const reversed = seen.reversed < payment.paid ? seen.reversed : payment.paid;
  const claimed = await claimReversal(parts.database, payment, { ...seen, reversed }, parts.now());
  if (claimed) await bookEffect(parts, claimed);
}

async function seeRefunds(
  stripe: PaymentRecords,
  intentId: string,
  effect: ReversalEffect,
): Promise<readonly SeenReversal[]> {
  const refunds = await stripe.listRefunds(intentId);
  return refunds
    .filter(({ amount, currency }) => amount > 0 && currency === CURRENCY)
    .map(({ id, amount, isGiven }) => ({
      id,
      kind: "refund",
      reversed: centsToNanos(amount),
      effect,
      isGiven,
    }));
}

/** The states of a dispute in which the bank has taken the money. An inquiry, "warning_…", takes none. */
const TAKEN: ReadonlySet<string> = new Set(["needs_response", "under_review", "lost", "charge_refunded"]);

function seeDispute(
  { objectId: id, amount, currency, state }: ReversalEvent,
  effect: ReversalEffect,
): readonly SeenReversal[] | undefined {
  if (amount === undefined || amount <= 0 || currency !== CURRENCY) return undefined;
  const isGiven = TAKEN.has(state ?? "");
  if (!isGiven && state !== "won") return [];
  return [{ id, kind: "dispute", reversed: centsToNanos(amount), effect, isGiven }];
}

/**
 * Books what a stored reversal does to its wallet. May be repeated in any process. A suspension stays after a won
 * dispute: an operator ends it.
 */
export async function bookEffect(parts: ReversalParts, reversal: Reversal): Promise<void> {
  const { id, effect, bookedAtMs, returnedAtMs, returnBookedAtMs } = reversal;
  const booking = describeBooking(reversal);
  if (bookedAtMs === null) {
    if (effect === "debit") await bookReversal(parts, booking);
    if (effect === "freeze" && returnedAtMs === null) {
      await suspendAccount(parts, SYSTEM, reversal.accountId, booking.reason);
    }
    await mark(parts, id, { bookedAtMs: parts.now() });
  }
  if (returnedAtMs !== null && returnBookedAtMs === null) {
    const end = reversal.kind === "dispute" ? "won" : "failed";
    if (effect === "debit") await bookReturn(parts, { ...booking, reason: `${booking.reason}, ${end}` });
    await mark(parts, id, { returnBookedAtMs: parts.now() });
  }
}

function describeBooking({ accountId, id, kind, amount, paymentId }: Reversal): ReversalBooking {
  return { accountId, id, amount, paymentId, reason: `${kind} of payment ${paymentId}` };
}

async function mark(
  { database: { transact, tables } }: ReversalParts,
  id: string,
  set: Partial<Pick<Reversal, "bookedAtMs" | "returnBookedAtMs">>,
): Promise<void> {
  const { reversals } = tables;
  await transact(async (tx) => void (await tx.update(reversals).set(set).where(eq(reversals.id, id))));
}

/** A refund or dispute of a payment, which takes money off a wallet as a correction. */
interface ReversalBooking extends Booking {
  readonly reason: string;
  readonly amount: Nanos;
  /** The top-up of the payment: its credit is taken first. */
  readonly paymentId: string;
}

/** Takes off what was returned to a payer; the balance may become negative. Rejects like {@link bookTopUp}. */
async function bookReversal(
  parts: PostingParts,
  { accountId, id, reason, amount, paymentId }: ReversalBooking,
): Promise<void> {
  await parts.ledger.topUp({ walletId: accountId, topUpId: id, amount: -amount, creditId: paymentId });
  const after = { amount_usd: printUsd(amount), reason };
  await recordOnce(parts, SYSTEM, { accountId, action: CORRECTED, target: id, after });
}

/** Gives back what {@link bookReversal} took: the dispute was won, or the refund failed. */
async function bookReturn(
  parts: PostingParts,
  { accountId, id, reason, amount }: ReversalBooking,
): Promise<void> {
  const topUpId = `${id}${RETURNED}`;
  await parts.ledger.topUp({ walletId: accountId, topUpId, amount });
  const after = { amount_usd: printUsd(amount), reason };
  await recordOnce(parts, SYSTEM, { accountId, action: TOPPED_UP, target: topUpId, after });
}
