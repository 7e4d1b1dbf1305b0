// Payments of a provider that the operator has connected by signed calls.
import { and, asc, eq, gt, isNull, or } from "drizzle-orm";
import { lockAccount } from "../accounts/accounts.ts";
import { type AuditActor, recordChange } from "../accounts/audit-trail.ts";
import type { Database, Db, Tables } from "../db/database.ts";
import type { CreditSource } from "../domain/credit.ts";
import { DAY_MS, printTime } from "../domain/id-time.ts";
import { type Nanos, printUsd } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import { CORRECTED, creditOnce, type PaymentParts, TOPPED_UP } from "./bookings.ts";
import { type PaymentCaller, spendDay } from "./signed-days.ts";

/** A payment, or what takes one back. */
export type SignedPayment = Tables["signedPayments"]["$inferSelect"];

/** The caller of a signed call, and its name in the audit trail. */
export interface SignedBy {
  readonly caller: PaymentCaller;
  readonly actor: AuditActor;
}

export interface SignedTopUp {
  /** The caller's own id of the payment. */
  readonly id: string;
  readonly accountId: string;
  /** Above 0. */
  readonly amount: Nanos;
  readonly source: CreditSource;
  readonly expiresAtMs: number | undefined;
  readonly reason: string | undefined;
}

export interface SignedReversal {
  /** The caller's own id of the reversal. */
  readonly id: string;
  /** The caller's own id of the payment. */
  readonly paymentId: string;
  /** Above 0. */
  readonly amount: Nanos;
  readonly reason: string | undefined;
}

export interface Claimed {
  readonly row: SignedPayment;
  /** What may still be taken back of the payment. */
  readonly left: Nanos;
  /** Whether an earlier call with the id has stored it. */
  readonly isReplay: boolean;
}

/**
 * Credits a payment to a wallet once per id of the caller. Rejects with `not_permitted` above a maximum of the caller,
 * `unknown_item`, `conflict` for an id of another payment, and LedgerError: the sweep then credits it.
 */
export async function payIn(parts: PaymentParts, by: SignedBy, topUp: SignedTopUp): Promise<Claimed> {
  const claimed = await parts.database.transact((tx) => claimTopUp(parts, tx, by, topUp));
  await bookSignedPayment(parts, claimed.row);
  return claimed;
}

async function claimTopUp(
  { database, now }: PaymentParts,
  tx: Db,
  { caller, actor }: SignedBy,
  { id: ownId, accountId, amount, source, expiresAtMs, reason }: SignedTopUp,
): Promise<Claimed> {
  const nowMs = now();
  const id = idOfPayment(caller, ownId);
  // Also the payments of one id come one after the other by this lock.
  if (!(await lockAccount(database, tx, accountId))) throw new GatewayError("unknown_item");
  const wanted = { accountId, amount, source, expiresAtMs: expiresAtMs ?? null, paymentId: null };
  const known = await findSame(database, tx, id, wanted);
  if (known) return { row: known, left: known.amount - known.reversed, isReplay: true };
  if (expiresAtMs !== undefined && expiresAtMs <= nowMs) {
    throw new GatewayError("wrong_shape", { path: "expires_at" });
  }
  await spendDay(database, tx, { caller, amount, nowMs });
  const row = await insert(database, tx, { id, callerId: caller.id, ...wanted, createdAtMs: nowMs });
  const after = { amount_usd: printUsd(amount), source, expires_at: printTime(expiresAtMs), reason };
  await recordChange(database, tx, actor, { accountId, action: TOPPED_UP, target: id, after }, nowMs);
  return { row, left: amount, isReplay: false };
}

/**
 * Takes a payment of the caller off its wallet, or a part of it, once per id. The balance may become negative. Rejects
 * with `unknown_item`, with `conflict` above what is left of the payment, and like {@link payIn}.
 */
export async function takeBack(
  parts: PaymentParts,
  by: SignedBy,
  reversal: SignedReversal,
): Promise<Claimed> {
  const claimed = await parts.database.transact((tx) => claimReversal(parts, tx, by, reversal));
  await bookSignedPayment(parts, claimed.row);
  return claimed;
}

async function claimReversal(
  { database, now }: PaymentParts,
  tx: Db,
  { caller, actor }: SignedBy,
  { id: ownId, paymentId: ownPaymentId, amount, reason }: SignedReversal,
): Promise<Claimed> {
  const paymentId = idOfPayment(caller, ownPaymentId);
  const id = `reversal:${caller.id}:${ownId}`;
  const { accountId, source } = await requirePayment(database, tx, paymentId);
  // Reversals of one payment one after the other: together they take at most the payment.
  await lockAccount(database, tx, accountId);
  const { amount: paid, reversed } = await requirePayment(database, tx, paymentId);
  const wanted = { accountId, amount, source, expiresAtMs: null, paymentId };
  const known = await findSame(database, tx, id, wanted);
  if (known) return { row: known, left: paid - reversed, isReplay: true };
  const left = paid - reversed - amount;
  if (left < 0n) {
    const message = `The reversal exceeds the ${printUsd(paid - reversed)} USD that are left of the payment.`;
    throw new GatewayError("conflict", { message });
  }
  const { signedPayments } = database.tables;
  await tx
    .update(signedPayments)
    .set({ reversed: reversed + amount })
    .where(eq(signedPayments.id, paymentId));
  const nowMs = now();
  const row = await insert(database, tx, { id, callerId: caller.id, ...wanted, createdAtMs: nowMs });
  const after = {
    amount_usd: printUsd(amount),
    payment: paymentId,
    reason: reason ?? `Payment ${paymentId}`,
  };
  await recordChange(database, tx, actor, { accountId, action: CORRECTED, target: id, after }, nowMs);
  return { row, left, isReplay: false };
}

/** Two callers never share an id, and no caller has one of a redeem code or of Stripe. */
function idOfPayment({ id }: PaymentCaller, ownId: string): string {
  return `signed:${id}:${ownId}`;
}

type Wanted = Pick<SignedPayment, "accountId" | "amount" | "source" | "expiresAtMs" | "paymentId">;

/** Finds what a call with the id has stored. Rejects with `conflict` when it was another call. */
async function findSame(database: Database, tx: Db, id: string, wanted: Wanted) {
  const row = await find(database, tx, id);
  if (!row) return undefined;
  const { accountId, amount, source, expiresAtMs, paymentId } = row;
  const isSame = Bun.deepEquals({ accountId, amount, source, expiresAtMs, paymentId }, wanted, true);
  if (!isSame) throw new GatewayError("conflict", { message: "This id was used for another payment." });
  return row;
}

async function requirePayment(database: Database, tx: Db, id: string): Promise<SignedPayment> {
  const row = await find(database, tx, id);
  if (!row) throw new GatewayError("unknown_item");
  return row;
}

async function find({ tables: { signedPayments } }: Database, tx: Db, id: string) {
  const [row] = await tx.select().from(signedPayments).where(eq(signedPayments.id, id));
  return row;
}

/** An id that another transaction has stored just now is a `conflict`: repeated, the call finds it. */
async function insert(
  { tables: { signedPayments } }: Database,
  tx: Db,
  values: Omit<SignedPayment, "reversed" | "bookedAtMs">,
): Promise<SignedPayment> {
  const row = { ...values, reversed: 0n, bookedAtMs: null };
  const inserted = await tx.insert(signedPayments).values(row).onConflictDoNothing().returning();
  if (inserted.length === 0) throw new GatewayError("conflict");
  return row;
}

/** Books a payment, or what takes one back, once. The payment comes first. */
export async function bookSignedPayment(parts: PaymentParts, row: SignedPayment): Promise<void> {
  if (row.bookedAtMs !== null) return;
  const { database } = parts;
  const { id, accountId: walletId, amount, paymentId, source, expiresAtMs } = row;
  if (paymentId !== null)
    await bookSignedPayment(parts, await requirePayment(database, database.db, paymentId));
  const topUp =
    paymentId === null
      ? { walletId, topUpId: id, amount, source, expiresAtMs: expiresAtMs ?? undefined }
      : { walletId, topUpId: id, amount: -amount, creditId: paymentId };
  const { signedPayments } = database.tables;
  await creditOnce(parts, topUp, (bookedAtMs) =>
    database.transact(async (tx) => {
      await tx.update(signedPayments).set({ bookedAtMs }).where(eq(signedPayments.id, id));
    }),
  );
}

/**
 * Finds what is stored and not booked, because a call failed or a process died, the oldest first. A credit that ended a
 * day ago can no longer be booked.
 */
export async function findUnbookedSigned(
  { database, now }: PaymentParts,
  countMax: number,
): Promise<readonly SignedPayment[]> {
  const { db, tables } = database;
  const { signedPayments } = tables;
  const { bookedAtMs, expiresAtMs, createdAtMs } = signedPayments;
  const isBookable = or(isNull(expiresAtMs), gt(expiresAtMs, now() - DAY_MS));
  return db
    .select()
    .from(signedPayments)
    .where(and(isNull(bookedAtMs), isBookable))
    .orderBy(asc(createdAtMs))
    .limit(countMax);
}
