// What a subscription has in the ledger: its credits and its spending limits. Every step may be repeated.
import { and, eq, isNull } from "drizzle-orm";
import { whileLeased } from "../accounts/spending-limits.ts";
import type { Database } from "../db/database.ts";
import { DAY_MS } from "../domain/id-time.ts";
import type { PlanLimit } from "../domain/plan.ts";
import { type Ledger, LedgerError } from "../ledger/ledger.ts";
import type { SpendLimitUsage } from "../ledger/records.ts";
import { findSubscription } from "./reads.ts";
import { type Grant, readGrant, type Subscription } from "./subscription.ts";

/** What subscriptions need. */
export interface PlanParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "topUp" | "spendLimits" | "setSpendLimit" | "deleteSpendLimit">;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/**
 * Books a credit in the ledger, then records that. May run any number of times, in any process: the ledger books one
 * id once. Rejects with LedgerError.
 */
export async function bookGrant(parts: PlanParts, grant: Grant): Promise<void> {
  if (grant.amount > 0n) await topUp(parts, grant);
  const { transact, tables } = parts.database;
  const { planGrants } = tables;
  const isOpen = and(eq(planGrants.id, grant.id), isNull(planGrants.bookedAtMs));
  const bookedAtMs = parts.now();
  await transact(async (tx) => void (await tx.update(planGrants).set({ bookedAtMs }).where(isOpen)));
}

async function topUp(parts: PlanParts, grant: Grant): Promise<void> {
  const { accountId: walletId, id: topUpId, amount, expiresAtMs } = grant;
  try {
    await parts.ledger.topUp({ walletId, topUpId, amount, source: "plan", expiresAtMs });
  } catch (fault) {
    // The ledger was away until after the end: declined so, the credit was not booked, and gets another end.
    const isOver =
      fault instanceof LedgerError && fault.code === "invalid_credit" && expiresAtMs <= parts.now();
    if (!isOver) throw fault;
    const later = await postpone(parts, grant);
    await parts.ledger.topUp({ walletId, topUpId, amount, source: "plan", expiresAtMs: later.expiresAtMs });
  }
}

/** Moves the end of a credit that was not booked before it. Of two processes at once, both get the first one's end. */
async function postpone({ database, now }: PlanParts, grant: Grant): Promise<Pick<Grant, "expiresAtMs">> {
  const { planGrants } = database.tables;
  const lateDays = (await findSubscription(database, grant.subscriptionId))?.plan.lateDays ?? 1;
  return database.transact(async (tx) => {
    const isAsRead = and(eq(planGrants.id, grant.id), eq(planGrants.expiresAtMs, grant.expiresAtMs));
    await tx
      .update(planGrants)
      .set({ expiresAtMs: now() + lateDays * DAY_MS })
      .where(isAsRead);
    const [row] = await tx.select().from(planGrants).where(eq(planGrants.id, grant.id));
    return row ? readGrant(row) : grant;
  });
}

/** Books every credit of a subscription that the ledger has not taken. */
export async function bookGrants(parts: PlanParts, subscriptionId: string): Promise<void> {
  const { planGrants } = parts.database.tables;
  const isOpen = and(eq(planGrants.subscriptionId, subscriptionId), isNull(planGrants.bookedAtMs));
  const rows = await parts.database.db.select().from(planGrants).where(isOpen);
  for (const row of rows) await bookGrant(parts, readGrant(row));
}

/**
 * Gives the ledger the spending limits of a subscription, or removes them when it has ended, and records the version
 * that they are of. Rejects with LedgerError, and with `conflict` while another process does so.
 */
export async function alignLimits(parts: PlanParts, subscriptionId: string): Promise<void> {
  const { database } = parts;
  await whileLeased(parts, `plan-limits:${subscriptionId}`, async () => {
    // Read within the lease: a later process reads a later version.
    const subscription = await findSubscription(database, subscriptionId);
    if (!subscription || subscription.appliedVersion === subscription.version) return;
    await putLimits(parts.ledger, subscription);
    const { subscriptions } = database.tables;
    const { id, version: appliedVersion } = subscription;
    await database.transact(async (tx) => {
      await tx.update(subscriptions).set({ appliedVersion }).where(eq(subscriptions.id, id));
    });
  });
}

async function putLimits(ledger: PlanParts["ledger"], subscription: Subscription): Promise<void> {
  const { id, accountId: walletId, state, plan, timeZone } = subscription;
  const prefix = `plan-${id}-`;
  const present = await ledger.spendLimits(walletId, undefined, undefined, { omitsRuns: true });
  const ours = new Map(
    present.filter(({ limitId }) => limitId.startsWith(prefix)).map((limit) => [limit.limitId, limit]),
  );
  const wanted = state === "ended" ? [] : plan.limits;
  for (const [index, limit] of wanted.entries()) {
    const limitId = `${prefix}${index}`;
    const known = ours.get(limitId);
    ours.delete(limitId);
    if (known && isSameLimit(known, limit)) continue;
    await ledger.setSpendLimit({ walletId, limitId, keyId: undefined, ...limit, timeZone });
  }
  for (const limitId of ours.keys()) await ledger.deleteSpendLimit({ walletId, limitId });
}

function isSameLimit(known: SpendLimitUsage, { amount, period }: PlanLimit): boolean {
  return known.amount === amount && known.period === period;
}
