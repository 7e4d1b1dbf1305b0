import type { Nanos } from "../../domain/money.ts";
import { type Book, balancesOf, counterKey } from "../core/book.ts";
import type { Command } from "../core/command.ts";
import { periodStart } from "../core/period.ts";
import { isAmount } from "../core/validate.ts";

/** The most that commands can take from the room of their wallet; `undefined` when that cannot be said. */
export type Spending = ReadonlyMap<string, Nanos | undefined>;

/** Sums by wallet what a batch could take from its room if every command got all it asks for. */
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

/**
 * Whether a hold of a batch might find too little room. Only then do due holds matter, whose search would
 * cost every batch something; with room for everything none of them is looked at.
 */
export function mayFallShort(book: Book, spent: Nanos | undefined, nowMs: number): boolean {
  if (!book.wallet) return false;
  if (spent === undefined || balancesOf(book.wallet).available < spent) return true;
  return book.limits.values().some((limit) => {
    if (limit.deletedAtMs !== undefined) return false;
    const periodStartMs = periodStart(limit.period, nowMs, limit.timeZone);
    const counter = book.counters.get(counterKey({ limitId: limit.limitId, periodStartMs }));
    return counter === undefined || limit.amount - counter.used - counter.held < spent;
  });
}

function mostTakenBy({ kind, request }: Command): Nanos | undefined {
  switch (kind) {
    case "hold":
    case "settle":
    case "charge":
      // What is no amount is refused, and takes nothing.
      return typeof request.amount === "bigint" && isAmount(request.amount) ? request.amount : 0n;
    case "expire":
    case "set_spend_limit":
      // An expiry takes what was accrued, and another limit leaves another room.
      return undefined;
    default:
      return 0n;
  }
}
