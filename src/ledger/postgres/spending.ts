import type { Nanos } from "../../domain/money.ts";
import { periodStart } from "../../domain/period.ts";
import { balancesOf, counterKey, type StoredLimit } from "../core/book.ts";
import type { Command } from "../core/command.ts";
import { isAmount } from "../core/validate.ts";
import type { LoadedBook } from "../core/working-book.ts";

/** By wallet, the largest sum that commands can take from its headroom; `undefined` when unbounded. */
export type Spending = ReadonlyMap<string, Nanos | undefined>;

export function spendingOf(commands: readonly Command[]): Spending {
  const spending = new Map<string, Nanos | undefined>();
  for (const command of commands) {
    const { walletId } = command.request;
    const before = spending.has(walletId) ? spending.get(walletId) : 0n;
    const more = mostTakenBy(command);
    spending.set(walletId, before === undefined || more === undefined ? undefined : before + more);
  }
  return spending;
}

function mostTakenBy({ kind, request }: Command): Nanos | undefined {
  switch (kind) {
    case "hold":
    case "settle":
    case "charge":
      // An invalid amount is declined, and takes nothing.
      return isAmount(request.amount) ? request.amount : 0n;
    case "expire":
    case "set_spend_limit":
      // An expiry captures the accrued amount, and a new limit changes the headroom.
      return undefined;
    default:
      return 0n;
  }
}

/**
 * Whether a hold that these limits bind might find too little headroom once `spent` was taken from it. Only then
 * are due holds read: reading them always would slow every batch down.
 */
export function mayFallShort(
  book: Pick<LoadedBook, "wallet" | "counters">,
  limits: Iterable<StoredLimit>,
  { spent, nowMs }: { readonly spent: Nanos | undefined; readonly nowMs: number },
): boolean {
  if (!book.wallet) return false;
  if (spent === undefined || balancesOf(book.wallet).available < spent) return true;
  for (const limit of limits) {
    if (limit.deletedAtMs !== undefined) continue;
    const periodStartMs = periodStart(limit.period, nowMs, limit.timeZone);
    const counter = book.counters.get(counterKey({ limitId: limit.limitId, periodStartMs }));
    if (counter === undefined || limit.amount - counter.used - counter.held < spent) return true;
  }
  return false;
}
