import { NANOS_MAX, type Nanos } from "../../domain/money.ts";
import type { HoldState } from "../ledger.ts";
import {
  ACCOUNTS,
  type Book,
  type Changes,
  type Counter,
  counterKey,
  type Ending,
  type Hold,
  type LimitPeriodKey,
  type Transfer,
  type TransferKind,
  type Wallet,
} from "./book.ts";

/** The money part of a book, which each step of a decision passes on to the next. */
export interface Money {
  readonly wallet: Wallet;
  readonly counters: ReadonlyMap<string, Counter>;
}

/** How a hold leaves the state it is in. */
export interface Resolution {
  readonly state: Exclude<HoldState, "held">;
  /** What the hold has captured in all from now on; never less than before, and {@link bookable}. */
  readonly captured: Nanos;
  readonly actual?: Nanos;
  readonly kind: TransferKind;
  /** Names the capture in the journal; the hold's own id unless a caller gave one. */
  readonly transferId?: string;
  readonly ending: Ending;
  readonly nowMs: number;
}

/** The most that can be booked on the wallet and on these counters while every sum can still be kept. */
export function bookable(money: Money, limits: readonly LimitPeriodKey[]): Nanos {
  let most = money.wallet.posted + NANOS_MAX;
  for (const key of limits) {
    const left = NANOS_MAX - counterOf(money, key).used;
    if (left < most) most = left;
  }
  return most;
}

/**
 * The one way money leaves a hold: frees what is still reserved and books what was not booked before,
 * on the wallet and on the counters of the hold's own period.
 */
export function resolveHold(
  money: Money,
  hold: Hold,
  resolution: Resolution,
): Changes & { readonly wallet: Wallet } {
  const freed = hold.state === "held" ? hold.granted : 0n;
  const booked = resolution.captured - hold.captured;
  const { posted, held, lastSeq } = money.wallet;
  const moved = { ...money.wallet, posted: posted - booked, held: held - freed };
  const transfers = booked > 0n ? [captureOf(moved, hold, resolution, booked)] : [];
  const resolved: Hold = {
    ...hold,
    state: resolution.state,
    late: hold.late || hold.state === "expired",
    captured: resolution.captured,
    actual: resolution.actual,
    resolvedAtMs: resolution.nowMs,
  };
  return {
    wallet: { ...moved, lastSeq: lastSeq + transfers.length },
    holds: [resolved],
    endings: new Map([[hold.holdId, resolution.ending]]),
    counters: hold.limits.map((key) => {
      const counter = counterOf(money, key);
      return { ...counter, used: counter.used + booked, held: counter.held - freed };
    }),
    transfers,
  };
}

/** A counter of the book. Throws when it was never read: writing it would lose what is stored. */
export function counterOf(book: Pick<Book, "counters">, key: LimitPeriodKey): Counter {
  const counter = book.counters.get(counterKey(key));
  if (!counter) throw new Error("Cannot decide: a limit counter was not read");
  return counter;
}

function captureOf(moved: Wallet, { holdId }: Hold, resolution: Resolution, amount: Nanos): Transfer {
  const { kind, transferId = holdId, nowMs } = resolution;
  return {
    seq: moved.lastSeq + 1,
    transferId,
    kind,
    debitAccount: ACCOUNTS.wallet,
    creditAccount: ACCOUNTS.usageRevenue,
    amount,
    postedAfter: moved.posted,
    holdId,
    createdAtMs: nowMs,
  };
}
