import { and, asc, eq, gt, isNotNull, isNull, or } from "drizzle-orm";
import { type AuditActor, recordChange } from "../accounts/audit-trail.ts";
import type { Database, Db, Tables } from "../db/database.ts";
import type { CreditSource } from "../domain/credit.ts";
import { DAY_MS } from "../domain/id-time.ts";
import { type Nanos, printUsd } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import { LedgerError, type TopUpRequest } from "../ledger/ledger.ts";
import { platform } from "../platform.ts";
import { creditOnce, type PaymentParts } from "./bookings.ts";
import { createCode, digestOfCode, hintOfCode, parseCode, printCode } from "./code-text.ts";

/** A redeem code as it is stored. Its text is not stored, only its digest. */
export type RedeemCode = Tables["redeemCodes"]["$inferSelect"];

export interface NewCodes {
  /** The amount of each code, above 0. */
  readonly amount: Nanos;
  readonly count: number;
  readonly note?: string | undefined;
  readonly expiresAtMs?: number | undefined;
  /** Default: promotion. */
  readonly source?: CreditSource | undefined;
  /** Days from the redemption until the credit ends. `undefined` for never. */
  readonly creditDays?: number | undefined;
}

export interface IssuedCode {
  readonly id: string;
  /** "XXXXX-XXXXX-XXXXX-XXXXX". Returned only here. */
  readonly code: string;
  readonly amount: Nanos;
}

/**
 * Creates codes of one amount, with one audit entry each, all or none. `record` runs in their transaction.
 */
export async function createCodes(
  { database, now }: Pick<PaymentParts, "database" | "now">,
  actor: AuditActor,
  { amount, count, note, expiresAtMs, source = "promotion", creditDays }: NewCodes,
  record: (tx: Db, issued: readonly IssuedCode[]) => Promise<void> = async () => undefined,
): Promise<readonly IssuedCode[]> {
  const createdAtMs = now();
  const made = Array.from({ length: count }, () => ({
    id: platform.uuidV7(createdAtMs),
    text: createCode(),
  }));
  const issued = made.map(({ id, text }) => ({ id, code: printCode(text), amount }));
  const rows = made.map(({ id, text }) => ({
    id,
    digest: digestOfCode(text),
    hint: hintOfCode(text),
    amount,
    note: note ?? null,
    createdBy: actor.name,
    createdAtMs,
    expiresAtMs: expiresAtMs ?? null,
    source,
    creditDays: creditDays ?? null,
  }));
  await database.transact(async (tx) => {
    await tx.insert(database.tables.redeemCodes).values(rows);
    for (const { id } of made) {
      const change = { action: "code.created", target: id, after: { amount_usd: printUsd(amount) } };
      await recordChange(database, tx, actor, change, createdAtMs);
    }
    await record(tx, issued);
  });
  return issued;
}

export type CodeState = "open" | "redeemed" | "expired" | "revoked";

/** What became of a code. A code that was claimed without an account is revoked. */
export function stateOfCode({ redeemedAtMs, accountId, expiresAtMs }: RedeemCode, nowMs: number): CodeState {
  if (redeemedAtMs !== null) return accountId === null ? "revoked" : "redeemed";
  return expiresAtMs !== null && expiresAtMs <= nowMs ? "expired" : "open";
}

/** Revokes a code that is not redeemed. Rejects with `unknown_item`, or `conflict` when it is claimed. */
export async function revokeCode(
  { database, now }: PaymentParts,
  actor: AuditActor,
  codeId: string,
): Promise<void> {
  const { redeemCodes } = database.tables;
  const isOpen = and(eq(redeemCodes.id, codeId), isNull(redeemCodes.redeemedAtMs));
  await database.transact(async (tx) => {
    const claimed = await tx.update(redeemCodes).set({ redeemedAtMs: now() }).where(isOpen).returning();
    if (claimed.length === 0) {
      const [found] = await tx.select().from(redeemCodes).where(eq(redeemCodes.id, codeId));
      throw new GatewayError(found ? "conflict" : "unknown_item");
    }
    await recordChange(database, tx, actor, { action: "code.revoked", target: codeId }, now());
  });
}

/**
 * Adds the amount of a code to the wallet of an account, once. Repeated by the same account after a failure
 * of the ledger, it completes the credit. Rejects with `unknown_item` alike for a text that is no code, for an
 * unknown, used, revoked or expired code, and for a code that another account used.
 */
export async function redeemCode(
  parts: PaymentParts,
  actor: AuditActor,
  { accountId, text }: { readonly accountId: string; readonly text: string },
): Promise<{ readonly amount: Nanos }> {
  const code = parseCode(text);
  if (code === undefined) throw new GatewayError("unknown_item");
  const { database, now } = parts;
  const nowMs = now();
  const claim = { digest: digestOfCode(code), accountId, nowMs };
  const row = await database.transact(async (tx) => {
    const claimed = await claimCode(database, tx, claim);
    if (!claimed) return findUncredited(database, tx, claim);
    const after = { amount_usd: printUsd(claimed.amount) };
    const change = { accountId, action: "code.redeemed", target: claimed.id, after };
    await recordChange(database, tx, actor, change, nowMs);
    return claimed;
  });
  if (!row) throw new GatewayError("unknown_item");
  await creditCode(parts, { ...row, accountId });
  return { amount: row.amount };
}

interface Claim {
  readonly digest: string;
  readonly accountId: string;
  readonly nowMs: number;
}

/** Binds an open code to an account, in one statement: of all callers at once, one gets the row. */
async function claimCode({ tables: { redeemCodes } }: Database, tx: Db, { digest, accountId, nowMs }: Claim) {
  const { redeemedAtMs, expiresAtMs } = redeemCodes;
  const isOpen = and(
    eq(redeemCodes.digest, digest),
    isNull(redeemedAtMs),
    or(isNull(expiresAtMs), gt(expiresAtMs, nowMs)),
  );
  const rows = await tx.update(redeemCodes).set({ redeemedAtMs: nowMs, accountId }).where(isOpen).returning();
  return rows[0];
}

/** A code of this account whose credit has failed so far. */
async function findUncredited({ tables: { redeemCodes } }: Database, tx: Db, { digest, accountId }: Claim) {
  const isOwn = and(eq(redeemCodes.digest, digest), eq(redeemCodes.accountId, accountId));
  const isUncredited = isNull(redeemCodes.creditedAtMs);
  const rows = await tx.select().from(redeemCodes).where(and(isOwn, isUncredited));
  return rows[0];
}

interface BoundCode extends RedeemCode {
  readonly accountId: string;
}

/** Tops up the wallet that a code is bound to, once. */
export async function creditCode(parts: PaymentParts, code: BoundCode): Promise<void> {
  const { transact, tables } = parts.database;
  const { redeemCodes } = tables;
  const { id, accountId, amount, source } = code;
  const topUp = { walletId: accountId, topUpId: `code:${id}`, amount, source: source ?? undefined };
  const record = (creditedAtMs: number) =>
    transact(async (tx) => {
      await tx.update(redeemCodes).set({ creditedAtMs }).where(eq(redeemCodes.id, id));
    });
  try {
    await creditOnce(parts, { ...topUp, expiresAtMs: endOfCredit(code, code.redeemedAtMs) }, record);
  } catch (thrown) {
    if (!isLate(thrown)) throw thrown;
    await creditLate(parts, { ...topUp, expiresAtMs: endOfCredit(code, parts.now()) }, record);
  }
}

function endOfCredit({ creditDays }: RedeemCode, fromMs: number | null): number | undefined {
  return creditDays === null || fromMs === null ? undefined : fromMs + creditDays * DAY_MS;
}

/** Whether the credit would have ended before it could be booked, or was then booked with a later end. */
function isLate(thrown: unknown): boolean {
  return thrown instanceof LedgerError && (thrown.code === "invalid_credit" || thrown.code === "conflict");
}

/** Books a credit whose days passed while nothing could be booked: they begin now. The id is used by this code alone. */
async function creditLate(
  parts: PaymentParts,
  topUp: TopUpRequest,
  record: (creditedAtMs: number) => Promise<void>,
): Promise<void> {
  try {
    await creditOnce(parts, topUp, record);
  } catch (thrown) {
    if (!(thrown instanceof LedgerError) || thrown.code !== "conflict") throw thrown;
    await record(parts.now());
  }
}

/** Finds codes that are bound to an account without a credit, because a call failed or a process died. */
export async function findUncreditedCodes({ database }: PaymentParts, countMax: number) {
  const { db, tables } = database;
  const { redeemCodes } = tables;
  const isBound = and(isNotNull(redeemCodes.accountId), isNull(redeemCodes.creditedAtMs));
  const rows = await db
    .select()
    .from(redeemCodes)
    .where(isBound)
    .orderBy(asc(redeemCodes.redeemedAtMs))
    .limit(countMax);
  return rows.flatMap((row) => (row.accountId === null ? [] : [{ ...row, accountId: row.accountId }]));
}
