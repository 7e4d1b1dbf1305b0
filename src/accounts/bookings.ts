import { and, eq, inArray } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { type Nanos, printUsd } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import type { Ledger, Posting } from "../ledger/ledger.ts";
import { PAGE_SIZE_MAX } from "../ledger/records.ts";
import { findAccount, lockAccount } from "./accounts.ts";
import { type AuditActor, type Change, recordChange } from "./audit-trail.ts";
import { type Refunded, refundRest } from "./refunds.ts";

interface BookingParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "topUp" | "refund" | "receipt" | "transfers" | "journalTotals">;
  readonly now: () => number;
}

interface Booking {
  readonly accountId: string;
  /** Booked once. */
  readonly id: string;
  /** Shown in the audit trail. */
  readonly reason?: string | undefined;
}

/** Tops up a wallet, with an audit entry. Rejects with `unknown_item` and LedgerError. */
export async function bookTopUp(
  parts: BookingParts,
  actor: AuditActor,
  { accountId, id, reason, amount }: Booking & { readonly amount: Nanos },
): Promise<Posting> {
  await requireAccount(parts.database, accountId);
  const posting = await parts.ledger.topUp({ walletId: accountId, topUpId: id, amount });
  const after = { amount_usd: printUsd(amount), reason };
  await recordOnce(parts, actor, { accountId, action: "wallet.topped_up", target: id, after });
  return posting;
}

/**
 * Takes money off a wallet that was credited by mistake, or returned outside of this gateway; the balance may become
 * negative. Rejects with `conflict` above what was ever credited, and like {@link bookTopUp}.
 */
export async function bookCorrection(
  parts: BookingParts,
  actor: AuditActor,
  { accountId, id, reason, amount }: Booking & { readonly amount: Nanos },
): Promise<Posting> {
  await requireAccount(parts.database, accountId);
  await requireCredited(parts.ledger, { accountId, id, amount });
  const posting = await parts.ledger.topUp({ walletId: accountId, topUpId: id, amount: -amount });
  const after = { amount_usd: printUsd(amount), reason };
  await recordOnce(parts, actor, { accountId, action: CORRECTED, target: id, after });
  return posting;
}

const CORRECTED = "wallet.corrected";

/** More than was credited is a slip of the keyboard. A repeated correction has lowered what is credited itself. */
async function requireCredited(
  ledger: BookingParts["ledger"],
  { accountId, id, amount }: Pick<Booking, "accountId" | "id"> & { readonly amount: Nanos },
): Promise<void> {
  const { toppedUp } = await ledger.journalTotals(accountId);
  if (amount <= toppedUp) return;
  const { items } = await ledger.transfers(accountId, { size: PAGE_SIZE_MAX });
  if (items.some(({ kind, transferId }) => kind === "correction" && transferId === id)) return;
  const message = `The correction exceeds the ${printUsd(toppedUp)} USD that were credited.`;
  throw new GatewayError("conflict", { message });
}

/** The reasons of corrections, by their ids. */
export async function findReasons(
  { db, tables: { auditEntries } }: Database,
  accountId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .select({ id: auditEntries.target, after: auditEntries.after })
    .from(auditEntries)
    .where(
      and(
        eq(auditEntries.accountId, accountId),
        eq(auditEntries.action, CORRECTED),
        inArray(auditEntries.target, [...ids]),
      ),
    );
  return new Map(rows.map(({ id, after }) => [id, reasonIn(after)]));
}

function reasonIn(after: string | null): string {
  const { reason }: { reason?: unknown } = JSON.parse(after ?? "{}");
  return typeof reason === "string" ? reason : "";
}

/** Refunds a charge, or without an amount what is left of it. Rejects like {@link bookTopUp}. */
export async function bookRefund(
  parts: BookingParts,
  actor: AuditActor,
  { accountId, id, reason, receipt, amount }: Booking & RefundOf,
): Promise<Refunded> {
  await requireAccount(parts.database, accountId);
  const ids = { walletId: accountId, holdId: receipt, refundId: id };
  const { ledger } = parts;
  const booked =
    amount === undefined
      ? await refundRest(ledger, ids)
      : { amount, ...(await ledger.refund({ ...ids, amount })) };
  const after = { receipt, amount_usd: printUsd(booked.amount), reason };
  await recordOnce(parts, actor, { accountId, action: "wallet.refunded", target: id, after });
  return booked;
}

interface RefundOf {
  /** The request id of the receipt. */
  readonly receipt: string;
  readonly amount: Nanos | undefined;
}

async function requireAccount(database: Database, accountId: string): Promise<void> {
  const account = await findAccount(database, accountId);
  if (account?.id !== accountId) throw new GatewayError("unknown_item");
}

/**
 * Records a booking that the ledger has taken, once per id. The ledger may run elsewhere, so that no transaction
 * spans both: killed in between, the repeated booking records what is missing.
 */
async function recordOnce(
  { database, now }: BookingParts,
  actor: AuditActor,
  change: Change & { readonly accountId: string },
): Promise<void> {
  const { auditEntries } = database.tables;
  const { accountId, action, target } = change;
  await database.transact(async (tx) => {
    await lockAccount(database, tx, accountId);
    const [known] = await tx
      .select({ id: auditEntries.id })
      .from(auditEntries)
      .where(
        and(
          eq(auditEntries.accountId, accountId),
          eq(auditEntries.action, action),
          eq(auditEntries.target, target),
        ),
      )
      .limit(1);
    if (!known) await recordChange(database, tx, actor, change, now());
  });
}
