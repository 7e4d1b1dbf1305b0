import { type Book, type Changes, type Counter, counterKey } from "./book.ts";
import { type Money, resolveHold } from "./resolve.ts";
import { expiryOf, isDue } from "./settle.ts";

/** Expires the due holds of a book, one hold after the other; `undefined` when nothing is. */
export function expireDue(
  book: Book,
  money: Money,
  nowMs: number,
): { readonly after: Money; readonly changes: Changes } | undefined {
  let after = money;
  let changes: Changes | undefined;
  for (const holdId of book.dueHoldIds) {
    const due = book.holds.get(holdId);
    if (!due || !isDue(due, nowMs)) continue;
    const expired = resolveHold(after, due, expiryOf(after, due, nowMs));
    after = { wallet: expired.wallet, counters: withCounters(after.counters, expired.counters ?? []) };
    changes = changes ? join(changes, expired) : expired;
  }
  return changes && { after, changes };
}

function withCounters(counters: ReadonlyMap<string, Counter>, changed: readonly Counter[]) {
  return new Map([...counters, ...changed.map((counter) => [counterKey(counter), counter] as const)]);
}

/** Two changes in a row as one; the rows of the second stand on those of the first. */
export function join(first: Changes, second: Changes): Changes {
  return {
    ...first,
    ...second,
    holds: [...(first.holds ?? []), ...(second.holds ?? [])],
    counters: [...(first.counters ?? []), ...(second.counters ?? [])],
    endings: new Map([...(first.endings ?? []), ...(second.endings ?? [])]),
    transfers: [...(first.transfers ?? []), ...(second.transfers ?? [])],
  };
}
