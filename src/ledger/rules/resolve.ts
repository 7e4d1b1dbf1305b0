import type { Nanos } from "../../domain/money.ts";
import {
  ACCOUNTS,
  type Book,
  type Changes,
  type Counter,
  counterKey,
  type Hold,
  type LimitPeriodKey,
  type Transfer,
  type TransferKind,
  type Wallet,
} from "../book.ts";
import type { HoldState, OutcomeFacts } from "../ledger.ts";
import { isKeepable } from "./check.ts";

/** How a hold leaves the state it is in. */
export interface Resolution {
  readonly state: Exclude<HoldState, "held">;
  /** What the hold has captured in all from now on; never less than before. */
  readonly captured: Nanos;
  readonly actual?: Nanos;
  readonly kind: TransferKind;
  readonly facts: OutcomeFacts;
}

/**
 * The one way money leaves a hold: frees what is still reserved and books what was not booked before,
 * on the wallet and on the counters of the hold's own period. `undefined` when a sum would overflow.
 */
export function resolveHold(
  book: { readonly wallet: Wallet; readonly counters: Book["counters"] },
  hold: Hold,
  at: Resolution & { readonly nowMs: number },
): (Changes & { readonly wallet: Wallet }) | undefined {
  const freed = hold.state === "held" ? hold.granted : 0n;
  const booked = at.captured - hold.captured;
  const counters = hold.limits.map((key) => {
    const counter = counterOf(book, key);
    return { ...counter, used: counter.used + booked, held: counter.held - freed };
  });
  const posted = book.wallet.posted - booked;
  if (!isKeepable(posted) || !counters.every((counter) => isKeepable(counter.used))) return undefined;

  const moved = { ...book.wallet, posted, held: book.wallet.held - freed };
  const transfers = booked > 0n ? [captureOf(moved, hold, { ...at, amount: booked })] : [];
  const resolved: Hold = {
    ...hold,
    state: at.state,
    late: hold.late || hold.state === "expired",
    captured: at.captured,
    actual: at.actual,
    resolvedAtMs: at.nowMs,
  };
  return {
    wallet: { ...moved, lastSeq: moved.lastSeq + transfers.length },
    holds: [resolved],
    outcomes: new Map([[hold.holdId, at.facts]]),
    counters,
    transfers,
  };
}

/** A counter of the book. Throws when it was never read: writing it would lose what is stored. */
export function counterOf(book: Pick<Book, "counters">, key: LimitPeriodKey): Counter {
  const counter = book.counters.get(counterKey(key));
  if (!counter) throw new Error("Cannot decide: a limit counter was not read");
  return counter;
}

function captureOf(
  moved: Wallet,
  hold: Hold,
  { amount, kind, nowMs }: { amount: Nanos; kind: TransferKind; nowMs: number },
): Transfer {
  return {
    seq: moved.lastSeq + 1,
    transferId: hold.holdId,
    kind,
    debitAccount: ACCOUNTS.wallet,
    creditAccount: ACCOUNTS.usageRevenue,
    amount,
    postedAfter: moved.posted,
    holdId: hold.holdId,
    createdAtMs: nowMs,
  };
}
