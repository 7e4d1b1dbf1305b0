import type { Db } from "../db/database.ts";
import { GatewayError } from "../errors.ts";
import type { PaymentParts } from "./bookings.ts";
import { createCodes, type IssuedCode, type NewCodes } from "./redeem-codes.ts";
import { spendDay } from "./signed-days.ts";
import type { SignedBy } from "./signed-payments.ts";

interface SignedCodes extends NewCodes {
  /** The caller's own id of the batch. */
  readonly id: string;
}

interface IssuedBatch {
  readonly id: string;
  readonly codes: readonly IssuedCode[];
}

/**
 * Creates a batch of redeem codes once per id of the caller; their sum counts against the maxima of the caller. Rejects
 * with `conflict` for an id that has made its codes: they are shown once.
 */
export async function issueCodes(
  parts: Pick<PaymentParts, "database" | "now">,
  { caller, actor }: SignedBy,
  { id: ownId, note, ...wanted }: SignedCodes,
): Promise<IssuedBatch> {
  const { database, now } = parts;
  const id = `codes:${caller.id}:${ownId}`;
  const amount = wanted.amount * BigInt(wanted.count);
  const record = async (tx: Db) => {
    const nowMs = now();
    await spendDay(database, tx, { caller, amount, nowMs });
    const batch = { id, callerId: caller.id, accountId: "", amount, source: "purchase" } as const;
    const times = { createdAtMs: nowMs, bookedAtMs: nowMs };
    const { signedPayments } = database.tables;
    const values = { ...batch, ...times, reversed: 0n };
    const inserted = await tx.insert(signedPayments).values(values).onConflictDoNothing().returning();
    if (inserted.length > 0) return;
    throw new GatewayError("conflict", {
      message: "The codes of this id were made before: each is shown once.",
    });
  };
  const codes = await createCodes(parts, actor, { ...wanted, note: note ?? id }, record);
  return { id, codes };
}
