import { NANOS_MAX, type Nanos } from "../../domain/money.ts";
import type { Settlement } from "../ledger.ts";
import type { HoldState } from "../records.ts";
import {
  ACCOUNTS,
  type Book,
  balancesOf,
  type Changes,
  type Counter,
  type CounterKey,
  type CountersRead,
  type CreditPart,
  type CreditsRead,
  type Hold,
  type Resolution,
  TRANSFER_KINDS,
  type Transfer,
  type TransferKind,
  type Wallet,
} from "./book.ts";
import { type Decision, decline } from "./command.ts";
import { isMixedOf, withCredits } from "./credits.ts";
import { type CreditChanges, spendCredits } from "./spend-credits.ts";

/** The wallet, the counters and the credits of a book, as changed so far by the steps of one decision. */
export interface Money {
  readonly wallet: Wallet;
  readonly counters: CountersRead;
  readonly credits: CreditsRead;
}

/** How a hold leaves its present state. */
export interface HoldTransition {
  readonly state: Exclude<HoldState, "held">;
  /** The hold's total captured amount afterwards: never less than before, and at most {@link bookable}. */
  readonly captured: Nanos;
  readonly actual?: Nanos;
  readonly kind: TransferKind;
  /** The id of the capture's transfer. Default: the hold's id. */
  readonly transferId?: string;
  readonly resolution: Resolution;
  readonly nowMs: number;
}

/**
 * The only way money leaves a hold. Frees the amount still reserved, and books the amount not booked before.
 * Changes the wallet and the counters of the hold's own periods.
 */
export function resolveHold(
  money: Money,
  hold: Hold,
  transition: HoldTransition,
): Changes & { readonly wallet: Wallet } {
  const freed = hold.state === "held" ? hold.granted : 0n;
  const booked = transition.captured - hold.captured;
  const { posted, held, lastSeq } = money.wallet;
  const isMoved = booked > 0n;
  const wallet: Wallet = {
    ...money.wallet,
    posted: posted - booked,
    held: held - freed,
    lastSeq: isMoved ? lastSeq + 1 : lastSeq,
  };
  const credits = wallet.isMixed ? spentCredits(money, hold, booked) : undefined;
  const resolved: Hold = {
    ...hold,
    state: transition.state,
    late: hold.late || hold.state === "expired",
    captured: transition.captured,
    actual: transition.actual,
    resolvedAtMs: transition.nowMs,
  };
  const changes = {
    wallet,
    holds: [resolved],
    resolutions: [[hold.holdId, transition.resolution] as const],
    counters: changeCounters(money, hold.limits, { booked, reserved: -freed }),
    transfers: isMoved
      ? [captureOf(wallet, hold, transition, { booked, parts: credits?.parts })]
      : NO_TRANSFERS,
  };
  if (!credits) return changes;
  return applyCredits(changes, credits, { before: money.credits, nowMs: transition.nowMs });
}

function spentCredits({ credits }: Money, hold: Hold, booked: Nanos): CreditChanges {
  return spendCredits(credits, booked, hold.state === "held" ? hold : undefined);
}

/** Adds the changes of credits to those of a step, with a transfer for each amount that expired. */
export function applyCredits(
  step: Changes & { readonly wallet: Wallet },
  { credits, expired, newest }: CreditChanges,
  { before, nowMs }: { readonly before: CreditsRead; readonly nowMs: number },
): Changes & { readonly wallet: Wallet } {
  const transfers = [...(step.transfers ?? NO_TRANSFERS)];
  let { wallet } = step;
  for (const part of expired) {
    const [, amount] = part;
    wallet = { ...wallet, posted: wallet.posted - amount, lastSeq: wallet.lastSeq + 1 };
    transfers.push(expiryTransfer(wallet, part, nowMs));
  }
  const { seq: newestCredit, isMixed } = newest ?? {
    seq: wallet.newestCredit,
    // While no credit goes, a mixed wallet stays one.
    isMixed: credits.every(({ left }) => left > 0n)
      ? wallet.isMixed
      : isMixedOf(withCredits(before, credits).live, wallet.newestCredit),
  };
  return { ...step, wallet: { ...wallet, newestCredit, isMixed }, transfers, credits };
}

/** Returns the transfer of what a credit lost at its end. `wallet` is the wallet after it. */
function expiryTransfer({ lastSeq, posted }: Wallet, part: CreditPart, nowMs: number): Transfer {
  const [credit, amount] = part;
  return {
    seq: lastSeq,
    transferId: `expiry-${credit}-${lastSeq}`,
    kind: TRANSFER_KINDS.creditExpiry,
    debitAccount: ACCOUNTS.wallet,
    creditAccount: ACCOUNTS.expired,
    amount,
    postedAfter: posted,
    holdId: undefined,
    createdAtMs: nowMs,
    credits: [part],
  };
}

const NO_TRANSFERS: readonly Transfer[] = [];
const NO_COUNTERS: readonly Counter[] = [];

/** Returns the counters of a hold's limits, with the booked and reserved amounts added. */
export function changeCounters(
  money: Money,
  keys: readonly CounterKey[],
  { booked, reserved }: { readonly booked: Nanos; readonly reserved: Nanos },
): readonly Counter[] {
  if (keys.length === 0) return NO_COUNTERS;
  return keys.map((key) => {
    const counter = counterOf(money, key);
    const { counterId, periodStartMs, used, held } = counter;
    return { counterId, periodStartMs, used: used + booked, held: held + reserved };
  });
}

/** Returns the transfer of a capture. `wallet` is the wallet after it. */
function captureOf(
  wallet: Wallet,
  { holdId }: Hold,
  transition: HoldTransition,
  { booked, parts }: { readonly booked: Nanos; readonly parts: readonly CreditPart[] | undefined },
): Transfer {
  const { kind, transferId = holdId, nowMs } = transition;
  return {
    seq: wallet.lastSeq,
    transferId,
    kind,
    debitAccount: ACCOUNTS.wallet,
    creditAccount: ACCOUNTS.usageRevenue,
    amount: booked,
    postedAfter: wallet.posted,
    holdId,
    createdAtMs: nowMs,
    credits: parts,
  };
}

/** The largest amount that can be booked while the balance and these counters stay within ±NANOS_MAX. */
export function bookable(money: Money, limits: readonly CounterKey[]): Nanos {
  let most = money.wallet.posted + NANOS_MAX;
  for (const key of limits) {
    const left = NANOS_MAX - counterOf(money, key).used;
    if (left < most) most = left;
  }
  return most;
}

/** Returns a counter of the book. Throws when it was not read: writing it would overwrite the stored one. */
export function counterOf(book: Pick<Book, "counters">, key: CounterKey): Counter {
  const counter = book.counters.get(key);
  if (!counter) throw new Error("Cannot decide: a limit counter was not read");
  return counter;
}

/** Applies a rule to the hold that a request names. Declines `wallet_not_found`, then `hold_not_found`. */
export function withHold(
  { wallet, holds, counters, credits }: Book,
  { holdId }: { readonly holdId: string },
  rule: (hold: Hold, money: Money) => Decision<Settlement>,
): Decision<Settlement> {
  if (!wallet) return decline("wallet_not_found");
  const hold = holds.get(holdId);
  return hold ? rule(hold, { wallet, counters, credits }) : decline("hold_not_found");
}

/** Returns the decision of a command that resolves a hold. See {@link resolveHold}. */
export function decideResolution(money: Money, hold: Hold, transition: HoldTransition): Decision<Settlement> {
  const changes = resolveHold(money, hold, transition);
  const { state, captured } = transition;
  return { result: { state, captured, balances: balancesOf(changes.wallet), replayed: false }, changes };
}

/** Returns how a hold was resolved before, with the balances of now. */
export function replaySettlement(hold: Hold, wallet: Wallet): Decision<Settlement> {
  const { state, captured } = hold;
  return { result: { state, captured, balances: balancesOf(wallet), replayed: true } };
}
