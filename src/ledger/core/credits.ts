import { CREDIT_SOURCES } from "../../domain/credit.ts";
import type { Nanos } from "../../domain/money.ts";
import type { Credit } from "../records.ts";
import type { CreditPart, CreditsRead, Hold, Wallet } from "./book.ts";

/** The credits of a book by their numbers. */
export class Credits implements CreditsRead {
  readonly #bySeq = new Map<number, Credit>();
  /** `undefined` since a credit came or went. */
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
    this.#bySeq.set(credit.seq, credit);
    const place = this.#live?.findIndex(({ seq }) => seq === credit.seq) ?? -1;
    // What a credit is spent after never changes.
    if (this.#live && place !== -1 && credit.left > 0n) this.#live[place] = credit;
    else this.#live = undefined;
  }

  [Symbol.iterator](): Iterator<Credit> {
    return this.#bySeq.values();
  }
}

/** The order of spending: the ended ones, then the first end first, then by source, then the oldest. */
function compareCredits(one: Credit, other: Credit): number {
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

/** What a step of a decision changes of the credits. */
export interface CreditChanges {
  /** The changed credits. */
  readonly credits: readonly Credit[];
  /** What the step's transfer took from credits, or gave to them; `undefined` where the balance says it. */
  readonly parts: readonly CreditPart[] | undefined;
  /** What then expired, because no hold claims it any more. */
  readonly expired: readonly CreditPart[];
  /** The wallet's newest credit afterwards, where money came in. */
  readonly newestCredit?: number;
}

/** The hold that a capture is for: its claim on credits that have ended since it was taken. */
export type Claim = Pick<Hold, "createdAtMs" | "granted">;

/**
 * Takes a captured amount from the credits of a mixed wallet; what they do not cover is debt. A hold that ends with it
 * may take from credits that ended after it was taken, up to its granted amount, and then claims nothing of them.
 */
export function spendCredits(credits: CreditsRead, amount: Nanos, claim: Claim | undefined): CreditChanges {
  const draft = new CreditDraft(credits);
  const parts = takenFrom(credits.live, amount, claim);
  for (const [seq, taken] of parts) draft.add(seq, -taken);
  if (claim) draft.dropClaims(claim);
  return draft.finish(parts);
}

/** Takes a correction off the credits of a mixed wallet, from a named one first. */
export function correctCredits(
  credits: CreditsRead,
  amount: Nanos,
  creditId: string | undefined,
): CreditChanges {
  const named = credits.live.filter((credit) => credit.creditId === creditId);
  const others = credits.live.filter((credit) => credit.creditId !== creditId);
  const draft = new CreditDraft(credits);
  const parts = takenFrom([...named, ...others], amount, undefined);
  for (const [seq, taken] of parts) draft.add(seq, -taken);
  return draft.finish(parts);
}

function takenFrom(live: readonly Credit[], amount: Nanos, claim: Claim | undefined): readonly CreditPart[] {
  const parts: CreditPart[] = [];
  let rest = amount;
  let claimed = claim?.granted ?? 0n;
  for (const credit of live) {
    if (rest === 0n) break;
    const isEnded = credit.claims !== undefined;
    const most = !isEnded ? credit.left : claim && claims(claim, credit) ? leastOf(credit.left, claimed) : 0n;
    const taken = leastOf(rest, most);
    if (taken === 0n) continue;
    parts.push([credit.seq, taken]);
    rest -= taken;
    if (isEnded) claimed -= taken;
  }
  return parts;
}

/** Whether a hold was taken before the end of a credit was booked. */
function claims({ createdAtMs }: Claim, { endedAtMs }: Credit): boolean {
  return endedAtMs !== undefined && createdAtMs < endedAtMs;
}

/**
 * Ends the credits of a mixed wallet that are due, except for what the open holds may spend of them. Every grant after
 * an end comes after this, so that all open holds are from before it. `undefined` when none is due.
 */
export function endCredits({ wallet, credits }: CreditedMoney, nowMs: number): CreditChanges | undefined {
  if (!wallet.isMixed) return undefined;
  const due = credits.live.filter((credit) => isDue(credit, nowMs));
  if (due.length === 0) return undefined;
  const draft = new CreditDraft(credits);
  const endedAtMs = Math.max(nowMs, wallet.newestHoldMs + 1, newestEndOf(credits) + 1);
  for (const credit of due) draft.change({ ...credit, claims: wallet.held, endedAtMs });
  return draft.finish([]);
}

function isDue({ claims: claimed, expiresAtMs }: Credit, nowMs: number): boolean {
  return claimed === undefined && expiresAtMs !== undefined && expiresAtMs <= nowMs;
}

/**
 * The time that a hold counts as taken at: not before the end of a credit that is booked, also if a clock that was ahead
 * has booked it. All earlier holds of the wallet are from before that end.
 */
export function takenAtMs(credits: CreditsRead, nowMs: number): number {
  return Math.max(nowMs, newestEndOf(credits));
}

function newestEndOf({ live }: CreditsRead): number {
  return live.reduce((newest, { endedAtMs = 0 }) => Math.max(newest, endedAtMs), 0);
}

/** The credits of a wallet with what is left of its newest one, also where that follows from the balance. */
export function creditsOf({ wallet, credits }: CreditedMoney): Credits {
  const all = new Credits(credits);
  if (wallet.isMixed) return all;
  const left = wallet.posted > 0n ? wallet.posted : 0n;
  const newest = credits.get(wallet.newestCredit);
  if (newest) all.set({ ...newest, left });
  else if (wallet.newestCredit !== 0) throw new Error("Cannot decide: the newest credit was not read");
  else if (left > 0n) all.set(firstCreditOf(wallet));
  return all;
}

/** What a wallet had before credits were kept. */
function firstCreditOf({ posted, createdAtMs }: Wallet): Credit {
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
  return live.reduce((sum, { left }) => sum + left, 0n) - posted;
}

/** Whether transfers of a wallet must say which credits they are taken from. */
export function isMixedOf({ live }: CreditsRead, newestCredit: number): boolean {
  return live.some(({ seq, expiresAtMs }) => seq !== newestCredit || expiresAtMs !== undefined);
}

export function withCredits(credits: CreditsRead, changed: Iterable<Credit>): Credits {
  const copy = new Credits(credits);
  for (const credit of changed) copy.set(credit);
  return copy;
}

/** The credits of a book while a step changes them. */
class CreditDraft {
  readonly #credits: CreditsRead;
  readonly #changed = new Map<number, Credit>();

  constructor(credits: CreditsRead) {
    this.#credits = credits;
  }

  change(credit: Credit): void {
    this.#changed.set(credit.seq, credit);
  }

  add(seq: number, amount: Nanos): void {
    const credit = this.#changed.get(seq) ?? this.#credits.get(seq);
    if (credit) this.change({ ...credit, left: credit.left + amount });
  }

  dropClaims(claim: Claim): void {
    for (const credit of this.#ended()) {
      if (!claims(claim, credit)) continue;
      const left = (credit.claims ?? 0n) - claim.granted;
      this.change({ ...credit, claims: left > 0n ? left : 0n });
    }
  }

  /** Takes off the ended credits what no open hold claims. A hold may claim the credits that ended after it was taken. */
  finish(parts: readonly CreditPart[]): CreditChanges {
    const expired: CreditPart[] = [];
    let kept = 0n;
    for (const credit of this.#ended()) {
      const claimed = (credit.claims ?? 0n) - kept;
      const left = leastOf(credit.left, claimed > 0n ? claimed : 0n);
      kept += left;
      const lost = credit.left - left;
      if (lost === 0n) continue;
      expired.push([credit.seq, lost]);
      this.change({ ...credit, left, expired: credit.expired + lost });
    }
    return { credits: [...this.#changed.values()], parts, expired };
  }

  /** The ended credits with something left, in the order in which their ends were booked. */
  #ended(): readonly Credit[] {
    return this.#credits.live
      .map((credit) => this.#changed.get(credit.seq) ?? credit)
      .filter(({ claims: claimed, left }) => claimed !== undefined && left > 0n)
      .sort(compareCredits);
  }
}

function leastOf(one: Nanos, other: Nanos): Nanos {
  return one < other ? one : other;
}
