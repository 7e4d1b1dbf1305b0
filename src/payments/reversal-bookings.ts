import { SYSTEM } from "../accounts/audit-trail.ts";
import { type Nanos, printUsd } from "../domain/money.ts";
import { type Booking, CORRECTED, type PostingParts, RETURNED, recordOnce, TOPPED_UP } from "./bookings.ts";

/** A refund or dispute of a payment, which takes money off a wallet as a correction. */
export interface ReversalBooking extends Booking {
  readonly reason: string;
  readonly amount: Nanos;
  /** The top-up of the payment: its credit is taken first. */
  readonly paymentId: string;
}

/** Takes off what was returned to a payer; the balance may become negative. Rejects like {@link bookTopUp}. */
export async function bookReversal(
  parts: PostingParts,
  { accountId, id, reason, amount, paymentId }: ReversalBooking,
): Promise<void> {
  await parts.ledger.topUp({ walletId: accountId, topUpId: id, amount: -amount, creditId: paymentId });
  const after = { amount_usd: printUsd(amount), reason };
  await recordOnce(parts, SYSTEM, { accountId, action: CORRECTED, target: id, after });
}

/** Gives back what {@link bookReversal} took: the dispute was won, or the refund failed. */
export async function bookReturn(
  parts: PostingParts,
  { accountId, id, reason, amount }: ReversalBooking,
): Promise<void> {
  const topUpId = `${id}${RETURNED}`;
  await parts.ledger.topUp({ walletId: accountId, topUpId, amount });
  const after = { amount_usd: printUsd(amount), reason };
  await recordOnce(parts, SYSTEM, { accountId, action: TOPPED_UP, target: topUpId, after });
}
