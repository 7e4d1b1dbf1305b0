import { and, asc, eq, isNotNull, isNull, or } from "drizzle-orm";
import { type AuditActor, recordChange, SYSTEM } from "../accounts/audit-trail.ts";
import type { Database, Db, Tables } from "../db/database.ts";
import { type Nanos, parseUsd, printUsd } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import { platform } from "../platform.ts";
import { creditOnce, type PaymentParts } from "./bookings.ts";
import type { CheckoutOrder, CheckoutPage, StripeClient } from "./stripe.ts";
import type { CheckoutEvent } from "./stripe-events.ts";
import { CURRENCY, centsToNanos } from "./stripe-library.ts";

/**
 * A payment by Stripe Checkout. Its id is our order id until the id of the session is known: the row is
 * committed before the order is sent to Stripe, so that no event can come before it.
 */
export type Checkout = Tables["checkouts"]["$inferSelect"];

const CHECKOUT_MIN: Nanos = parseUsd("5");
const CHECKOUT_MAX: Nanos = parseUsd("10000");
const CENT: Nanos = centsToNanos(1);
/** A session ends after 24 hours, and its event may come an hour late. */
const OPEN_MS_MAX = 25 * 3_600_000;

export interface CheckoutRequest extends Omit<CheckoutOrder, "orderId" | "amount"> {
  readonly accountId: string;
  /** USD in whole cents, {@link CHECKOUT_MIN} to {@link CHECKOUT_MAX}. */
  readonly amount: Nanos;
  /** Runs in the transaction that stores the page's session id. */
  record?(tx: Db, page: CheckoutPage): Promise<void>;
}

/**
 * Opens a page on which a person can pay. Credits nothing. Rejects with `wrong_shape` for another amount, and
 * with `payments_unavailable`.
 */
export async function createCheckout(
  { database, now }: PaymentParts,
  stripe: StripeClient,
  actor: AuditActor,
  request: CheckoutRequest,
): Promise<CheckoutPage> {
  const { accountId, amount, successUrl, cancelUrl, hasInvoice, hasTax } = request;
  if (!isPayable(amount)) throw new GatewayError("wrong_shape", { path: "amount_usd" });
  const { checkouts } = database.tables;
  const createdAtMs = now();
  const orderId = `order_${platform.uuidV7(createdAtMs)}`;
  const row = { id: orderId, accountId, amount, currency: CURRENCY, createdBy: actor.name, createdAtMs };
  await database.transact(async (tx) => {
    await tx.insert(checkouts).values(row);
    const after = { amount_usd: printUsd(amount) };
    const change = { accountId, action: "checkout.created", target: orderId, after };
    await recordChange(database, tx, actor, change, createdAtMs);
  });
  const order = { orderId, amount, successUrl, cancelUrl, hasInvoice, hasTax };
  const page = await stripe.createPage(order).catch(async (error) => {
    await expire(database, [orderId], now());
    throw error;
  });
  // An event that came first has bound the session already.
  await database.transact(async (tx) => {
    await tx.update(checkouts).set({ id: page.sessionId }).where(eq(checkouts.id, orderId));
    await request.record?.(tx, page);
  });
  return page;
}

/** Whether an amount can be paid at once. */
export function isPayable(amount: Nanos): boolean {
  return amount >= CHECKOUT_MIN && amount <= CHECKOUT_MAX && amount % CENT === 0n;
}

/** Finds a checkout of an account by its session id. */
export async function findCheckout(
  { db, tables: { checkouts } }: Database,
  { accountId, sessionId }: { readonly accountId: string; readonly sessionId: string },
): Promise<Checkout | undefined> {
  const isOwn = and(eq(checkouts.id, sessionId), eq(checkouts.accountId, accountId));
  const [row] = await db.select().from(checkouts).where(isOwn);
  return row;
}

export function stateOfCheckout(
  { paidAtMs, expiredAtMs, createdAtMs }: Checkout,
  nowMs: number,
): "open" | "paid" | "expired" {
  if (paidAtMs !== null) return "paid";
  return expiredAtMs !== null || nowMs > createdAtMs + OPEN_MS_MAX ? "expired" : "open";
}

/** What an event led to. `unknown` is a session of others, `mismatch` another amount or currency. */
export type EventResult = "credited" | "expired" | "mismatch" | "unknown";

/**
 * Applies an event to its checkout, any number of times and in any order. A paid one is marked as paid and
 * credited with the stored amount; the id of the session is that of the top-up. A late event of expiry
 * changes nothing. Rejects with LedgerError when the credit fails: the event or the sweep repeats it.
 */
export async function applyEvent(parts: PaymentParts, event: CheckoutEvent): Promise<EventResult> {
  const { database, now } = parts;
  const ids = idsOf(event);
  if (event.kind === "expired") return (await expire(database, ids, now())) ? "expired" : "unknown";
  const claim = await database.transact((tx) => claimPayment(database, tx, event, now()));
  if (typeof claim === "string") return claim;
  if (claim.creditedAtMs === null) await creditCheckout(parts, claim);
  return "credited";
}

function idsOf({ sessionId, orderId }: CheckoutEvent): readonly string[] {
  return orderId === undefined ? [sessionId] : [sessionId, orderId];
}

/** Marks a checkout as paid under the id of its session. Returns its row, also when it was paid before. */
async function claimPayment(
  database: Database,
  tx: Db,
  event: CheckoutEvent,
  paidAtMs: number,
): Promise<Checkout | "unknown" | "mismatch"> {
  const { checkouts } = database.tables;
  const isMatch = anyOf(database, idsOf(event));
  const [row] = await tx.select().from(checkouts).where(isMatch);
  if (!row) return "unknown";
  if (!isSameAmount(row, event)) return "mismatch";
  const { sessionId: id, intentId, amountTotal } = event;
  const claimed = await tx
    .update(checkouts)
    .set({ id, paidAtMs, intentId: intentId ?? null, paidTotal: centsToNanos(amountTotal ?? 0) })
    .where(and(isMatch, isNull(checkouts.paidAtMs)))
    .returning();
  if (claimed.length > 0) {
    const { accountId, amount } = row;
    const after = { amount_usd: printUsd(amount) };
    const change = { accountId, action: "checkout.paid", target: id, after };
    await recordChange(database, tx, SYSTEM, change, paidAtMs);
  }
  const [paid] = await tx.select().from(checkouts).where(eq(checkouts.id, id));
  return paid ?? "unknown";
}

/** What was paid, less a tax that Stripe has added, must be what we asked for, as we have stored it. */
function isSameAmount(
  { amount, currency }: Checkout,
  { amountTotal = Number.NaN, amountTax = 0, currency: paid }: CheckoutEvent,
): boolean {
  const isWhole = Number.isSafeInteger(amountTotal) && amountTax >= 0;
  return isWhole && centsToNanos(amountTotal - amountTax) === amount && paid === currency;
}

/** Marks unpaid checkouts as expired. Returns whether there is any such checkout, also when it was paid. */
async function expire(database: Database, ids: readonly string[], expiredAtMs: number): Promise<boolean> {
  const { checkouts } = database.tables;
  const isMatch = anyOf(database, ids);
  return database.transact(async (tx) => {
    await tx
      .update(checkouts)
      .set({ expiredAtMs })
      .where(and(isMatch, isNull(checkouts.paidAtMs), isNull(checkouts.expiredAtMs)));
    return (await tx.select().from(checkouts).where(isMatch)).length > 0;
  });
}

function anyOf({ tables: { checkouts } }: Database, ids: readonly string[]) {
  return or(...ids.map((id) => eq(checkouts.id, id)));
}

/** Tops up the wallet of a paid checkout, once. */
export async function creditCheckout(
  parts: PaymentParts,
  { id, accountId, amount }: Pick<Checkout, "id" | "accountId" | "amount">,
): Promise<void> {
  const { transact, tables } = parts.database;
  const { checkouts } = tables;
  await creditOnce(parts, { walletId: accountId, topUpId: id, amount }, (creditedAtMs) =>
    transact(async (tx) => {
      await tx.update(checkouts).set({ creditedAtMs }).where(eq(checkouts.id, id));
    }),
  );
}

/** Finds paid checkouts without a credit, because a call failed or a process died. */
export async function findUncreditedCheckouts({ database }: PaymentParts, countMax: number) {
  const { db, tables } = database;
  const { checkouts } = tables;
  const isPaid = and(isNotNull(checkouts.paidAtMs), isNull(checkouts.creditedAtMs));
  return db.select().from(checkouts).where(isPaid).orderBy(asc(checkouts.paidAtMs)).limit(countMax);
}
