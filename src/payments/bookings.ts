import { and, eq } from "drizzle-orm";
import { findAccount, lockAccount } from "../accounts/accounts.ts";
import { type AuditActor, type Change, recordChange } from "../accounts/audit-trail.ts";
import type { Database } from "../db/database.ts";
import { type CreditSource, isPlanCreditId } from "../domain/credit.ts";
import { DAY_MS, printTime } from "../domain/id-time.ts";
import { type Nanos, printUsd } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import { type Ledger, LedgerError, type Posting, type TopUpRequest } from "../ledger/ledger.ts";
import { type JournalLine, PAGE_SIZE_MAX, pagesOf, type Receipt } from "../ledger/records.ts";

export interface PostingParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "topUp">;
  readonly now: () => number;
}

interface BookingParts extends PostingParts {
  readonly ledger: Pick<Ledger, "topUp" | "refund" | "receipt" | "transfers" | "journalTotals">;
}

export interface Booking {
  readonly accountId: string;
  /** Booked once. */
  readonly id: string;
  /** Shown in the audit trail. */
  readonly reason?: string | undefined;
}

/** The credit that a top-up grants. */
interface Granted extends Booking {
  readonly amount: Nanos;
  /** Default: purchase. */
  readonly source?: CreditSource | undefined;
  /** Unix milliseconds. `undefined` for never. */
  readonly expiresAtMs?: number | undefined;
}

/** Tops up a wallet, with an audit entry. Rejects with `unknown_item` and LedgerError. */
export async function bookTopUp(
  parts: BookingParts,
  actor: AuditActor,
  { accountId, id, reason, amount, source, expiresAtMs }: Granted,
): Promise<Posting> {
  await requireAccount(parts.database, accountId);
  refuseReserved(id);
  const posting = await parts.ledger.topUp({ walletId: accountId, topUpId: id, amount, source, expiresAtMs });
  const expires_at = expiresAtMs === undefined ? undefined : printTime(expiresAtMs);
  const after = { amount_usd: printUsd(amount), source, expires_at, reason };
  await recordOnce(parts, actor, { accountId, action: TOPPED_UP, target: id, after });
  return posting;
}

/**
 * Takes money off a wallet that was credited by mistake, or returned outside of this gateway, first off the credit that
 * it names; the balance may become negative. Rejects with `conflict` above what was ever credited, and like {@link bookTopUp}.
 */
export async function bookCorrection(
  parts: BookingParts,
  actor: AuditActor,
  { accountId, id, reason, amount, creditId }: Correction,
): Promise<Posting> {
  await requireAccount(parts.database, accountId);
  refuseReserved(id);
  await requireCredited(parts.ledger, { accountId, id, amount });
  const posting = await parts.ledger.topUp({ walletId: accountId, topUpId: id, amount: -amount, creditId });
  const after = { amount_usd: printUsd(amount), credit: creditId, reason };
  await recordOnce(parts, actor, { accountId, action: CORRECTED, target: id, after });
  return posting;
}

/** A booking with the id of a plan's credit, whatever its source, would take the place of that credit. */
function refuseReserved(id: string): void {
  if (isPlanCreditId(id)) throw new LedgerError("invalid_id");
}

interface Correction extends Booking {
  readonly amount: Nanos;
  readonly creditId?: string | undefined;
}

/** The actions of the audit trail. */
export const CORRECTED = "wallet.corrected";
export const TOPPED_UP = "wallet.topped_up";
/** The end of the id of a top-up that gives back what a correction of the same id took. */
export const RETURNED = ":returned";

/** Whether a transfer has a reason in the audit trail. */
export function hasReason({ kind, transferId }: Pick<JournalLine, "kind" | "transferId">): boolean {
  return kind === "correction" || (kind === "top_up" && transferId.endsWith(RETURNED));
}

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

/** Refunds a charge, or without an amount what is left of it. Rejects like {@link bookTopUp}. */
export async function bookRefund(
  parts: BookingParts,
  actor: AuditActor,
  { accountId, id, reason, receipt, amount, creditDays }: Booking & RefundOf,
): Promise<Refunded> {
  await requireAccount(parts.database, accountId);
  const creditLifeMs = creditDays === undefined ? undefined : creditDays * DAY_MS;
  const ids = { walletId: accountId, holdId: receipt, refundId: id, creditLifeMs };
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
  /** Days until what was charged to a credit that has ended ends again. Default: the ledger's 7. */
  readonly creditDays?: number | undefined;
}

async function requireAccount(database: Database, accountId: string): Promise<void> {
  const account = await findAccount(database, accountId);
  if (account?.id !== accountId) throw new GatewayError("unknown_item");
}

/**
 * Records a booking that the ledger has taken, once per id. The ledger may run elsewhere, so that no transaction
 * spans both: killed in between, the repeated booking records what is missing.
 */
export async function recordOnce(
  { database, now }: PostingParts,
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

const PAGE_SIZE = 1_000;

interface RefundIds {
  readonly walletId: string;
  /** The request id of the receipt. */
  readonly holdId: string;
  /** Booked once. */
  readonly refundId: string;
  readonly creditLifeMs: number | undefined;
}

interface Refunded extends Posting {
  readonly amount: Nanos;
}

/**
 * Refunds what is left of a charge. A repeated refund returns what its id booked before. Rejects with
 * `unknown_receipt`, with `conflict` when nothing is left, and with LedgerError.
 */
async function refundRest(
  ledger: Pick<Ledger, "receipt" | "refund" | "transfers">,
  ids: RefundIds,
): Promise<Refunded> {
  const receipt = await ledger.receipt(ids.walletId, ids.holdId);
  if (!receipt) throw new GatewayError("unknown_receipt");
  const book = async (amount: Nanos) => ({ amount, ...(await ledger.refund({ ...ids, amount })) });
  const rest = receipt.captured - receipt.refunded;
  try {
    if (rest === 0n) {
      throw new GatewayError("conflict", { message: "Nothing is left of the charge to refund." });
    }
    return await book(rest);
  } catch (thrown) {
    if (thrown instanceof LedgerError && thrown.code !== "conflict") throw thrown;
    const booked = await findBooked(ledger, ids, receipt);
    if (!booked) throw thrown;
    return book(booked.amount);
  }
}

/** Finds the refund with this id. Searches to one day before the receipt, as clocks of processes differ. */
async function findBooked(
  ledger: Pick<Ledger, "transfers">,
  { walletId, refundId }: RefundIds,
  { createdAtMs }: Receipt,
): Promise<JournalLine | undefined> {
  for await (const { items } of pagesOf((token) => ledger.transfers(walletId, { size: PAGE_SIZE, token }))) {
    const booked = items.find(({ kind, transferId }) => kind === "refund" && transferId === refundId);
    if (booked || items.some((line) => line.createdAtMs < createdAtMs - DAY_MS)) return booked;
  }
  return undefined;
}

/** What redeem codes and checkouts need. */
export interface PaymentParts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "topUp">;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/**
 * Tops up a wallet for a payment that is bound to it, then records the credit. May run any number of times,
 * in any process: the ledger books one id once. Rejects with LedgerError; the sweep then repeats it.
 */
export async function creditOnce(
  { ledger, now }: PaymentParts,
  topUp: TopUpRequest,
  recordCredit: (creditedAtMs: number) => Promise<void>,
): Promise<void> {
  await ledger.topUp(topUp);
  await recordCredit(now());
}
