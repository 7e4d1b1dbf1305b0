// How money leaves credits: by captures, by corrections and at their ends.
import { leastOf, type Nanos } from "../../domain/money.ts";
import type { Credit } from "../records.ts";
import type { CreditPart, CreditsRead, Hold } from "./book.ts";
import { type CreditedMoney, compareCredits, newestEndOf } from "./credits.ts";

/** What a step of a decision changes of the credits. */
export interface CreditChanges {
  /** The changed credits. */
  readonly credits: readonly Credit[];
  /** What the step's transfer took from credits, or gave to them; `undefined` where the balance says it. */
  readonly parts: readonly CreditPart[] | undefined;
  /** What then expired, because no hold claims it any more. */
  readonly expired: readonly CreditPart[];
  /** The wallet's newest credit where money came in, and whether the wallet is mixed then. */
  readonly newest?: { readonly seq: number; readonly isMixed: boolean };
}

/** The hold that a capture is for: its claim on credits that have ended since it was taken. */
export type Claim = Pick<Hold, "createdAtMs" | "granted">;

/**
 * Takes a captured amount from the credits of a mixed wallet; what they do not cover is debt. A hold that ends with it
 * may take from credits that ended after it was taken, up to its granted amount, and then claims nothing of them.
 */
export function spendCredits(credits: CreditsRead, amount: Nanos, claim: Claim | undefined): CreditChanges {
  return take(credits, credits.live, { amount, claim });
}

/** Takes a correction off the credits of a mixed wallet, from a named one first. */
export function correctCredits(
  credits: CreditsRead,
  amount: Nanos,
  creditId: string | undefined,
): CreditChanges {
  const named = credits.live.filter((credit) => credit.creditId === creditId);
  const others = credits.live.filter((credit) => credit.creditId !== creditId);
  return take(credits, [...named, ...others], { amount, claim: undefined });
}

function take(
  credits: CreditsRead,
  order: readonly Credit[],
  { amount, claim }: { readonly amount: Nanos; readonly claim: Claim | undefined },
): CreditChanges {
  const draft = new CreditDraft(credits);
  const parts = takenFrom(order, amount, claim);
  for (const [seq, taken] of parts) draft.add(seq, -taken);
  if (claim) draft.dropClaims(claim);
  return draft.finish(parts);
}

/** Returns what an amount takes from credits in their order; of ended ones only what a hold claims. */
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
