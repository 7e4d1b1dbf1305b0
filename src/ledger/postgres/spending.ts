import type { Nanos } from "../../domain/money.ts";
import { type CounterKey, counterKey } from "../core/book.ts";
import type { Command } from "../core/command.ts";
import { balancesAt } from "../core/expire-credits.ts";
import { type BoundLimit, limitsOf } from "../core/headroom.ts";
import { isAmount } from "../core/validate.ts";
import type { LoadedBook, WorkingBook } from "../core/working-book.ts";

/**
 * Whether a hold might find too little headroom. Most limits have more left than the whole batch can take. For the
 * others, as those of each end user are, it counts what the batch can take from each counter.
 */
export function mayAnyFallShort(
  opened: ReadonlyMap<string, WorkingBook>,
  commands: readonly Command[],
  nowMs: number,
): boolean {
  const spending = spendingOf(commands);
  let ofCounters: ReadonlyMap<WorkingBook, CounterSpending> | undefined;
  for (const { kind, request } of commands) {
    const book = opened.get(request.walletId);
    if (kind !== "hold" || !book) continue;
    const spent = spending.get(request.walletId);
    const limits = limitsOf(book, request, nowMs);
    if (!mayFallShort(book, limits, { spent, nowMs })) continue;
    ofCounters ??= counterSpendingOf(opened, commands, nowMs);
    const ofBook = ofCounters.get(book);
    const spentOf = (key: CounterKey) => ofBook?.get(counterKey(key));
    if (mayFallShort(book, limits, { spent, nowMs }, spentOf)) return true;
  }
  return false;
}

/** By {@link counterKey}, the largest sum that commands can take from a counter's headroom. */
type CounterSpending = ReadonlyMap<string, Nanos>;

function counterSpendingOf(
  opened: ReadonlyMap<string, WorkingBook>,
  commands: readonly Command[],
  nowMs: number,
): ReadonlyMap<WorkingBook, CounterSpending> {
  const spending = new Map(Array.from(opened.values(), (book) => [book, new Map<string, Nanos>()]));
  for (const command of commands) {
    const book = opened.get(command.request.walletId);
    const ofBook = book && spending.get(book);
    if (!ofBook) continue;
    for (const key of countersOf(book, command, nowMs).map(counterKey)) {
      ofBook.set(key, (ofBook.get(key) ?? 0n) + (mostTakenBy(command) ?? 0n));
    }
  }
  return spending;
}

/** Returns the counters whose headroom a command may take from. */
function countersOf(book: WorkingBook, { kind, request }: Command, nowMs: number): readonly CounterKey[] {
  if (kind === "hold") return limitsOf(book, request, nowMs).map(({ key }) => key);
  return kind === "settle" ? (book.holds.get(request.holdId)?.limits ?? []) : [];
}

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
    case "top_up":
      // A correction takes money off.
      return isAmount(-request.amount) ? -request.amount : 0n;
    case "expire":
    case "set_spend_limit":
      // An expiry captures the accrued amount, and a new limit changes the headroom.
      return undefined;
    default:
      return 0n;
  }
}

/**
 * Whether a hold that these limits bind might find too little headroom once `spent` was taken from it; of a counter, once
 * `spentOf` was. Only then are due holds read: reading them always would slow every batch down.
 */
export function mayFallShort(
  book: Pick<LoadedBook, "wallet" | "counters" | "credits">,
  limits: Iterable<BoundLimit>,
  { spent, nowMs }: { readonly spent: Nanos | undefined; readonly nowMs: number },
  spentOf: (key: CounterKey) => Nanos | undefined = () => spent,
): boolean {
  const { wallet, credits } = book;
  if (!wallet) return false;
  if (spent === undefined || balancesAt({ wallet, credits }, nowMs).available < spent) return true;
  for (const { limit, key } of limits) {
    const counter = book.counters.get(key);
    if (counter === undefined) return true;
    if (limit.amount - counter.used - counter.held < (spentOf(key) ?? spent)) return true;
  }
  return false;
}
