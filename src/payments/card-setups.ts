import { and, eq, isNull } from "drizzle-orm";
import { type AuditActor, recordChange, SYSTEM } from "../accounts/audit-trail.ts";
import type { Database, Db } from "../db/database.ts";
import { GatewayError } from "../errors.ts";
import { platform } from "../platform.ts";
import { findAutoTopUp } from "./auto-top-ups.ts";
import type { CheckoutPage } from "./stripe.ts";
import type { CardOrder, SavedCard, SavedCards } from "./stripe-cards.ts";
import type { CardEvent } from "./stripe-events.ts";

interface SetupParts {
  readonly database: Database;
  readonly stripe: SavedCards;
  /** Unix milliseconds. */
  readonly now: () => number;
}

interface SetupRequest extends Pick<CardOrder, "successUrl" | "cancelUrl"> {
  readonly accountId: string;
  /** Runs in a transaction before the page is answered. */
  record?(tx: Db, page: CheckoutPage): Promise<void>;
}

/**
 * Opens a page on which an owner saves a card for automatic top-ups. Rejects with `conflict` before terms are set, and
 * with `payments_unavailable`.
 */
export async function createCardSetup(
  { database, stripe, now }: SetupParts,
  actor: AuditActor,
  { accountId, successUrl, cancelUrl, record }: SetupRequest,
): Promise<CheckoutPage> {
  const autoTopUp = await findAutoTopUp(database, accountId);
  if (!autoTopUp) throw new GatewayError("conflict", { message: "Set the amounts of the top-up first." });
  const createdAtMs = now();
  const setupId = `card_${platform.uuidV7(createdAtMs)}`;
  await database.transact(async (tx) => {
    await tx
      .insert(database.tables.cardSetups)
      .values({ id: setupId, accountId, createdBy: actor.name, createdAtMs });
    const change = { accountId, action: "auto_top_up.card_asked", target: setupId };
    await recordChange(database, tx, actor, change, createdAtMs);
  });
  const customerId = autoTopUp.customerId ?? undefined;
  const page = await stripe.createCardPage({ setupId, customerId, successUrl, cancelUrl });
  if (record) await database.transact((tx) => record(tx, page));
  return page;
}

/** Saves the card of a finished page, once: a repeated event does not bring back a card that was removed since. */
export async function applyCardEvent(
  { database, stripe, now }: SetupParts,
  { setupId, setupIntentId }: CardEvent,
): Promise<"saved" | "unknown"> {
  const { cardSetups } = database.tables;
  const isUnused = and(eq(cardSetups.id, setupId), isNull(cardSetups.usedAtMs));
  const [setup] = await database.db.select().from(cardSetups).where(isUnused);
  const card = setup && (await stripe.readCard(setupIntentId));
  if (!card) return "unknown";
  return database.transact(async (tx) => {
    const used = await tx.update(cardSetups).set({ usedAtMs: now() }).where(isUnused).returning();
    if (used.length === 0) return "unknown";
    await storeCard(database, tx, { ...card, accountId: setup.accountId, nowMs: now() });
    return "saved";
  });
}

interface StoredCard extends SavedCard {
  readonly accountId: string;
  readonly nowMs: number;
}

/** A new card ends the stop after a failure of the former one. */
async function storeCard(
  database: Database,
  tx: Db,
  { accountId, nowMs, ...card }: StoredCard,
): Promise<void> {
  const { autoTopUps } = database.tables;
  const isOwn = eq(autoTopUps.accountId, accountId);
  const isStopped = and(isOwn, eq(autoTopUps.state, "stopped"));
  await tx
    .update(autoTopUps)
    .set({ ...card, failures: 0, updatedAtMs: nowMs })
    .where(isOwn);
  await tx.update(autoTopUps).set({ state: "on" }).where(isStopped);
  const after = { card: card.card };
  const change = { accountId, action: "auto_top_up.card_saved", target: accountId, after };
  await recordChange(database, tx, SYSTEM, change, nowMs);
}
