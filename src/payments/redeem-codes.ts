import { and, asc, desc, eq, gt, isNotNull, isNull, lt, or } from "drizzle-orm";
import { type AuditActor, recordChange } from "../accounts/audit-trail.ts";
import type { Database, Db, Tables } from "../db/database.ts";
import { type Nanos, printUsd } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";
import { platform } from "../platform.ts";
import { creditOnce, type PaymentParts } from "./bookings.ts";

/** A redeem code as it is stored. Its text is not stored, only its digest. */
export type RedeemCode = Tables["redeemCodes"]["$inferSelect"];

export interface NewCodes {
  /** The amount of each code, above 0. */
  readonly amount: Nanos;
  readonly count: number;
  readonly note?: string | undefined;
  readonly expiresAtMs?: number | undefined;
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
  { amount, count, note, expiresAtMs }: NewCodes,
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

/** Lists codes, newest first, from those older than the code `after`. */
export async function listCodes(
  { db, tables: { redeemCodes } }: Database,
  { size, after }: { readonly size: number; readonly after: string | undefined },
): Promise<readonly RedeemCode[]> {
  return db
    .select()
    .from(redeemCodes)
    .where(after === undefined ? undefined : lt(redeemCodes.id, after))
    .orderBy(desc(redeemCodes.id))
    .limit(size);
}

/** What became of a code. A code that was claimed without an account is revoked. */
export function stateOfCode(
  { redeemedAtMs, accountId, expiresAtMs }: RedeemCode,
  nowMs: number,
): "open" | "redeemed" | "expired" | "revoked" {
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

interface BoundCode {
  readonly id: string;
  readonly accountId: string;
  readonly amount: Nanos;
}

/** Tops up the wallet that a code is bound to, once. */
export async function creditCode(parts: PaymentParts, { id, accountId, amount }: BoundCode): Promise<void> {
  const { transact, tables } = parts.database;
  const { redeemCodes } = tables;
  await creditOnce(parts, { walletId: accountId, topUpId: `code:${id}`, amount }, (creditedAtMs) =>
    transact(async (tx) => {
      await tx.update(redeemCodes).set({ creditedAtMs }).where(eq(redeemCodes.id, id));
    }),
  );
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

// The text of a code: 20 symbols of Crockford's base 32, which are 100 random bits.

/** Without I, L, O and U, which people confuse with other symbols. @see https://www.crockford.com/base32.html */
const SYMBOLS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const SYMBOL_COUNT = 20;
const GROUP = /.{5}(?=.)/g;
const CODE = new RegExp(`^[${SYMBOLS}]{${SYMBOL_COUNT}}$`);

/** Creates a code: 20 symbols without separators. */
export function createCode(): string {
  // A byte has 256 values, a multiple of 32: every symbol is as likely as any other.
  return Array.from(platform.randomBytes(SYMBOL_COUNT), (byte) => SYMBOLS.charAt(byte % SYMBOLS.length)).join(
    "",
  );
}

/** Prints a code for people: "7K3QM-00XYZ-ABCDE-12345". */
export function printCode(code: string): string {
  return code.replaceAll(GROUP, "$&-");
}

/**
 * Reads a code as a person types it: in any case, with blanks and hyphens anywhere, I and L for 1, O for 0.
 * Returns `undefined` for any other text.
 */
export function parseCode(text: string): string | undefined {
  const code = text
    .replaceAll(/[\s-]/g, "")
    .replaceAll(/[a-z]/g, (letter) => letter.toUpperCase())
    .replaceAll(/[IL]/g, "1")
    .replaceAll("O", "0");
  return CODE.test(code) ? code : undefined;
}

/** SHA-256 of a code in hex, which is stored in its place. 100 random bits cannot be guessed from it. */
export function digestOfCode(code: string): string {
  return Bun.CryptoHasher.hash("sha256", code, "hex");
}

/** The first 5 symbols, which may be displayed. The other 15 are 75 random bits. */
export function hintOfCode(code: string): string {
  return code.slice(0, 5);
}
