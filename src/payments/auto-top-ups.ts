import { and, eq, gte, isNotNull, isNull, or, sql } from "drizzle-orm";
import { type AuditActor, recordChange } from "../accounts/audit-trail.ts";
import type { Database, DatabaseParts, Db, Tables } from "../db/database.ts";
import { type Nanos, parseUsd, printUsd } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import { isPayable } from "./checkouts.ts";

/** The automatic top-up of an account. */
export type AutoTopUp = Tables["autoTopUps"]["$inferSelect"];
/** A payment of an automatic top-up. */
export type AutoPayment = Tables["autoPayments"]["$inferSelect"];

/** What an owner chooses. */
export interface AutoTopUpTerms {
  readonly isOn: boolean;
  /** The available balance below which money is added. */
  readonly below: Nanos;
  /** USD in whole cents, 5 to 10,000. */
  readonly amount: Nanos;
  /** The most that is added in a UTC month. */
  readonly monthMax: Nanos;
}

const BELOW_MAX: Nanos = parseUsd("10000");
const MONTH_MAX: Nanos = parseUsd("100000");

/**
 * Sets the terms of an account, which end a stop after failed payments. Rejects with `wrong_shape` for an amount that
 * cannot be paid at once, and for a maximum below one payment.
 */
export async function setAutoTopUp(
  { database, now }: DatabaseParts,
  actor: AuditActor,
  accountId: string,
  terms: AutoTopUpTerms,
): Promise<void> {
  checkTerms(terms);
  const { autoTopUps } = database.tables;
  const { isOn, below, amount, monthMax } = terms;
  const state = isOn ? ("on" as const) : ("off" as const);
  const set = { state, below, amount, monthMax, failures: 0, cappedMonth: null, updatedAtMs: now() };
  await database.transact(async (tx) => {
    await tx
      .insert(autoTopUps)
      .values({ accountId, ...set })
      .onConflictDoUpdate({ target: autoTopUps.accountId, set });
    const after = {
      state,
      below_usd: printUsd(below),
      amount_usd: printUsd(amount),
      month_max_usd: printUsd(monthMax),
    };
    const change = { accountId, action: "auto_top_up.set", target: accountId, after };
    await recordChange(database, tx, actor, change, now());
  });
}

function checkTerms({ below, amount, monthMax }: AutoTopUpTerms): void {
  const refuse = (path: string) => {
    throw new GatewayError("wrong_shape", { path });
  };
  if (!isPayable(amount)) refuse("amount_usd");
  if (below < 0n || below > BELOW_MAX) refuse("below_usd");
  if (monthMax < amount || monthMax > MONTH_MAX) refuse("month_max_usd");
}

export async function findAutoTopUp(
  { db, tables: { autoTopUps } }: Database,
  accountId: string,
): Promise<AutoTopUp | undefined> {
  const [row] = await db.select().from(autoTopUps).where(eq(autoTopUps.accountId, accountId));
  return row;
}

/** Forgets the card of an account; automatic top-ups end. Returns the id that it had at Stripe. */
export async function removeCard(
  { database, now }: DatabaseParts,
  actor: AuditActor,
  accountId: string,
): Promise<string | undefined> {
  const { autoTopUps } = database.tables;
  const set = { paymentMethodId: null, card: null, state: "off" as const, updatedAtMs: now() };
  return database.transact(async (tx) => {
    const isOwn = and(eq(autoTopUps.accountId, accountId), isNotNull(autoTopUps.paymentMethodId));
    const [before] = await tx.select().from(autoTopUps).where(isOwn);
    if (!before) return undefined;
    await tx.update(autoTopUps).set(set).where(isOwn);
    const { card, paymentMethodId } = before;
    const change = { accountId, action: "auto_top_up.card_removed", target: accountId, before: { card } };
    await recordChange(database, tx, actor, change, now());
    return paymentMethodId ?? undefined;
  });
}

/**
 * Sums up what counts against the maximum of a month: payments that have succeeded, and those that may. Payments of
 * later months, made while a clock was ahead, count too: no setting of a clock allows more than the maximum.
 */
export async function sumMonth(
  { tables: { autoPayments } }: Pick<Database, "tables">,
  db: Pick<Db, "select">,
  { accountId, month }: { readonly accountId: string; readonly month: string },
): Promise<Nanos> {
  const counts = and(
    eq(autoPayments.accountId, accountId),
    gte(autoPayments.month, month),
    isNull(autoPayments.failedAtMs),
  );
  const rows = await db.select({ amount: autoPayments.amount }).from(autoPayments).where(counts);
  return rows.reduce((sum, { amount }) => sum + amount, 0n);
}

/** The payments of an account that may still succeed, or whose credit is not in the wallet yet. */
export function isUnderWay({ autoPayments }: Tables) {
  return and(isNull(autoPayments.failedAtMs), isNull(autoPayments.creditedAtMs));
}

/** Finds the newest payment of an account. */
export async function findLastPayment(
  { db, tables: { autoPayments } }: Database,
  { accountId, crossings }: Pick<AutoTopUp, "accountId" | "crossings">,
): Promise<AutoPayment | undefined> {
  const isLast = eq(autoPayments.id, idOfPayment({ accountId, crossings }));
  const [row] = await db.select().from(autoPayments).where(isLast);
  return row;
}

/** The id of a payment, which is its idempotency key: made of its account and its crossing. */
export function idOfPayment({ accountId, crossings }: Pick<AutoTopUp, "accountId" | "crossings">): string {
  return `auto_${accountId}_${crossings}`;
}

/** Lists the automatic top-ups that may be made: those with a card that are not off. */
export async function listAutoTopUps({ db, tables }: Database): Promise<readonly AutoTopUp[]> {
  const { autoTopUps } = tables;
  const isLive = or(eq(autoTopUps.state, "on"), eq(autoTopUps.state, "stopped"));
  return db
    .select()
    .from(autoTopUps)
    .where(and(isLive, isNotNull(autoTopUps.paymentMethodId)))
    .orderBy(sql`${autoTopUps.accountId}`);
}
