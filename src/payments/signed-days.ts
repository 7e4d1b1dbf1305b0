import { and, eq } from "drizzle-orm";
import type { Database, Db } from "../db/database.ts";
import { type Nanos, printUsd } from "../domain/money.ts";
import { GatewayError } from "../errors.ts";

/** A program that tops up wallets by signed calls. A leaked secret adds at most `dayMax` a day. */
export interface PaymentCaller {
  readonly id: string;
  /** Any of them may sign. */
  readonly secrets: readonly string[];
  /** The most of one call. */
  readonly callMax: Nanos;
  /** The most of one UTC day. */
  readonly dayMax: Nanos;
}

interface Spending {
  readonly caller: PaymentCaller;
  readonly amount: Nanos;
  readonly nowMs: number;
}

/**
 * Counts an amount against the UTC day of its caller, exactly, also among several gateways. What is taken back stays
 * counted. Rejects with `not_permitted` above a maximum of the caller.
 */
export async function spendDay(
  { tables: { signedDays } }: Database,
  tx: Db,
  { caller, amount, nowMs }: Spending,
): Promise<void> {
  const { id: callerId, callMax, dayMax } = caller;
  if (amount > callMax) throw exceeds(`${printUsd(callMax)} USD of one call`);
  const day = new Date(nowMs).toISOString().slice(0, 10);
  await tx.insert(signedDays).values({ callerId, day, amount: 0n }).onConflictDoNothing();
  const isDay = and(eq(signedDays.callerId, callerId), eq(signedDays.day, day));
  // Locks the day until the transaction ends.
  const [row] = await tx.update(signedDays).set({ callerId }).where(isDay).returning();
  const total = (row?.amount ?? 0n) + amount;
  if (total > dayMax) throw exceeds(`${printUsd(dayMax)} USD of one UTC day`);
  await tx.update(signedDays).set({ amount: total }).where(isDay);
}

function exceeds(maximum: string): GatewayError {
  return new GatewayError("not_permitted", { message: `The amount exceeds the caller's ${maximum}.` });
}
