import { CREDIT_SOURCES } from "../../domain/credit.ts";
import type { Nanos } from "../../domain/money.ts";
import type { Credit } from "../records.ts";
import type { CreditsRead, Wallet } from "./book.ts";

/** The credits of a book by their numbers. */
export class Credits implements CreditsRead {
  readonly #bySeq = new Map<number, Credit>();
  /** In the order of spending; `undefined` until it is first asked for. */
  #live: Credit[] | undefined;

  constructor(credits: Iterable<Credit> = []) {
    for (const credit of credits) this.set(credit);
  }

  get size(): number {
    return this.#bySeq.size;
  }

  get live(): readonly Credit[] {
    this.#live ??= [...this.#bySeq.values()].filter(({ left }) => left > 0n).sort(compareCredits);
    return this.#live;
  }

  get(seq: number): Credit | undefined {
    return this.#bySeq.get(seq);
  }

  newestBefore(seq: number): Credit | undefined {
    let newest: Credit | undefined;
    for (const credit of this) if (credit.seq < seq && (!newest || credit.seq > newest.seq)) newest = credit;
    return newest;
  }

  set(credit: Credit): void {
    const before = this.#bySeq.get(credit.seq);
    this.#bySeq.set(credit.seq, credit);
    const live = this.#live;
    if (!live) return;
    // Kept in order: a wallet may be topped up, and a credit spent, thousands of times a second.
    const place = before && before.left > 0n ? live.findIndex(({ seq }) => seq === credit.seq) : -1;
    if (place !== -1) live.splice(place, 1);
    if (credit.left > 0n) insert(live, credit);
  }

  [Symbol.iterator](): Iterator<Credit> {
    return this.#bySeq.values();
  }
}

function insert(live: Credit[], credit: Credit): void {
  const place = live.findIndex((other) => compareCredits(credit, other) < 0);
  live.splice(place === -1 ? live.length : place, 0, credit);
}

/** The order of spending: the ended ones, then the first end first, then by source, then the oldest. */
export function compareCredits(one: Credit, other: Credit): number {
  const never = Number.POSITIVE_INFINITY;
  const [ended, otherEnded] = [one.endedAtMs ?? never, other.endedAtMs ?? never];
  if (ended !== otherEnded) return ended < otherEnded ? -1 : 1;
  const [end, otherEnd] = [one.expiresAtMs ?? never, other.expiresAtMs ?? never];
  if (end !== otherEnd) return end < otherEnd ? -1 : 1;
  return rankOf(one) - rankOf(other) || one.seq - other.seq;
}

function rankOf({ source }: Credit): number {
  return CREDIT_SOURCES.indexOf(source);
}

/** The money of a wallet by credits. */
export interface CreditedMoney {
  readonly wallet: Wallet;
  readonly credits: CreditsRead;
}

/**
 * The time that a hold counts as taken at: not before the end of a credit that is booked, also if a clock that was ahead
 * has booked it. All earlier holds of the wallet are from before that end.
 */
export function takenAtMs(credits: CreditsRead, nowMs: number): number {
  return Math.max(nowMs, newestEndOf(credits));
}

export function newestEndOf({ live }: CreditsRead): number {
  return live.reduce((newest, { endedAtMs = 0 }) => Math.max(newest, endedAtMs), 0);
}

/** The credits of a wallet with what is left of its newest one, also where that follows from the balance. */
export function creditsOf({ wallet, credits }: CreditedMoney): CreditsRead {
  if (wallet.isMixed) return credits;
  const all = new Credits(credits);
  const left = wallet.posted > 0n ? wallet.posted : 0n;
  const newest = credits.get(wallet.newestCredit);
  if (newest) all.set({ ...newest, left });
  else if (wallet.newestCredit !== 0) throw new Error("Cannot decide: the newest credit was not read");
  else if (left > 0n) all.set(firstCreditOf(wallet));
  return all;
}

/** What a wallet had before credits were kept. */
export function firstCreditOf({ posted, createdAtMs }: Wallet): Credit {
  const granted = {
    seq: 0,
    creditId: "before-credits",
    source: "purchase",
    amount: posted,
    left: posted,
  } as const;
  return {
    ...granted,
    expired: 0n,
    expiresAtMs: undefined,
    createdAtMs,
    claims: undefined,
    endedAtMs: undefined,
  };
}

/** What a wallet owes: what was booked above its credits. */
export function debtOf({ posted }: Pick<Wallet, "posted">, { live }: CreditsRead): Nanos {
  return sumOfLeft(live) - posted;
}

export function sumOfLeft(credits: readonly Credit[]): Nanos {
  return credits.reduce((sum, { left }) => sum + left, 0n);
}

/** Whether transfers of a wallet with these live credits must say which of them they are taken from. */
export function isMixedOf(live: readonly Credit[], newestCredit: number): boolean {
  return live.some(({ seq, expiresAtMs }) => seq !== newestCredit || expiresAtMs !== undefined);
}

export function withCredits(credits: CreditsRead, changed: Iterable<Credit>): Credits {
  const copy = new Credits(credits);
  for (const credit of changed) copy.set(credit);
  return copy;
}
