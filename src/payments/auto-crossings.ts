import { and, eq } from "drizzle-orm";
import type { Database, Db } from "../db/database.ts";
import type { Mails } from "../delivery/mail/mails.ts";
import { monthOf } from "../domain/month.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import { describeCap, mailOwners } from "./auto-mails.ts";
import { type AutoTopUp, idOfPayment, isUnderWay, listAutoTopUps, sumMonth } from "./auto-top-ups.ts";
import { CURRENCY } from "./stripe-library.ts";

export interface CrossingParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "wallet">;
  readonly mails: Mails;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Log;
}

/**
 * Stores a payment for each wallet that is below its threshold, one per crossing however many processes look at it.
 * Calls nothing outside. Returns how many it stored.
 */
export async function claimCrossings(parts: CrossingParts): Promise<number> {
  const { database, log } = parts;
  // The number of the crossing is read before the balance: a balance without the credit of a payment that another
  // process has made meanwhile goes with an old number, which claims nothing.
  const settings = await listAutoTopUps(database);
  if (settings.length === 0) return 0;
  const busy = await findBusy(database);
  let claimed = 0;
  for (const autoTopUp of settings) {
    if (busy.has(autoTopUp.accountId)) continue;
    try {
      if (await watchWallet(parts, autoTopUp)) claimed += 1;
    } catch (thrown) {
      const fields = { account: autoTopUp.accountId, ...describeFault(thrown) };
      log.warn(fields, "wallet of an automatic top-up not read");
    }
  }
  return claimed;
}

/** The accounts with a payment under way. */
async function findBusy({ db, tables }: Database): Promise<ReadonlySet<string>> {
  const { autoPayments } = tables;
  const rows = await db
    .select({ accountId: autoPayments.accountId })
    .from(autoPayments)
    .where(isUnderWay(tables));
  return new Set(rows.map(({ accountId }) => accountId));
}

async function watchWallet(parts: CrossingParts, autoTopUp: AutoTopUp): Promise<boolean> {
  const wallet = await parts.ledger.wallet(autoTopUp.accountId);
  if (wallet?.state !== "active") return false;
  const isBelow = wallet.balances.available < autoTopUp.below;
  if (autoTopUp.state === "stopped") {
    if (!isBelow) await rearm(parts, autoTopUp);
    return false;
  }
  return isBelow && claimCrossing(parts, autoTopUp);
}

/** Ends the stop after a failed payment: the wallet was above its threshold, so that the next crossing is another. */
async function rearm({ database, now }: CrossingParts, autoTopUp: AutoTopUp): Promise<void> {
  const { autoTopUps } = database.tables;
  const isSame = and(isAsRead(database, autoTopUp), eq(autoTopUps.state, "stopped"));
  const set = { state: "on" as const, updatedAtMs: now() };
  await database.transact(async (tx) => void (await tx.update(autoTopUps).set(set).where(isSame)));
}

function isAsRead({ tables: { autoTopUps } }: Database, { accountId, crossings }: AutoTopUp) {
  return and(eq(autoTopUps.accountId, accountId), eq(autoTopUps.crossings, crossings));
}

/** Takes the next number of a crossing and stores its payment, if the month's maximum allows it. */
async function claimCrossing(parts: CrossingParts, read: AutoTopUp): Promise<boolean> {
  const { database, now } = parts;
  const { autoTopUps } = database.tables;
  const { accountId } = read;
  const nowMs = now();
  const month = monthOf(nowMs).name;
  // Read first without a lock: a wallet at its maximum must not write at every look.
  const hasRoom = async (db: Pick<Db, "select">, { amount, monthMax }: AutoTopUp) =>
    (await sumMonth(database, db, { accountId, month })) + amount <= monthMax;
  if (!(await hasRoom(database.db, read))) {
    if (read.cappedMonth !== month) await tellCap(parts, read, month);
    return false;
  }
  return database.transact(async (tx) => {
    const crossings = read.crossings + 1;
    const isOn = and(isAsRead(database, read), eq(autoTopUps.state, "on"));
    const [locked] = await tx.update(autoTopUps).set({ crossings }).where(isOn).returning();
    if (!locked) return false;
    if (!(await hasRoom(tx, locked)) || !(await storePayment(database, tx, locked, nowMs))) {
      await tx
        .update(autoTopUps)
        .set({ crossings: read.crossings })
        .where(eq(autoTopUps.accountId, accountId));
      return false;
    }
    return true;
  });
}

/** Stores the payment of a crossing. Returns `false` for a suspended account, and for one without a card. */
async function storePayment(
  { tables }: Database,
  tx: Db,
  { accountId, amount, crossings, customerId, paymentMethodId }: AutoTopUp,
  nowMs: number,
): Promise<boolean> {
  const { accounts, autoPayments } = tables;
  const [account] = await tx
    .select({ state: accounts.state })
    .from(accounts)
    .where(eq(accounts.id, accountId));
  if (account?.state !== "active" || !customerId || !paymentMethodId) return false;
  await tx.insert(autoPayments).values({
    id: idOfPayment({ accountId, crossings }),
    accountId,
    amount,
    currency: CURRENCY,
    customerId,
    paymentMethodId,
    month: monthOf(nowMs).name,
    createdAtMs: nowMs,
    nextAtMs: nowMs,
  });
  return true;
}

/** Tells the owners, once a month, that the maximum is reached. */
async function tellCap(parts: CrossingParts, autoTopUp: AutoTopUp, month: string): Promise<void> {
  const { database } = parts;
  const { autoTopUps } = database.tables;
  const { accountId } = autoTopUp;
  await database.transact(async (tx) => {
    await tx.update(autoTopUps).set({ cappedMonth: month }).where(eq(autoTopUps.accountId, accountId));
    const text = describeCap(autoTopUp, month);
    await mailOwners(parts, tx, { accountId, id: `auto_top_up:${accountId}:${month}`, text });
  });
}
