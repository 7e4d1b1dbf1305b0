// An independent reckoning of credits: it keeps every hold and every part, and sums them up anew at each step.
import type { CreditSource } from "../../src/domain/credit.ts";

const WEEK_MS = 7 * 86_400_000;
const ORDER = ["promotion", "plan", "refund", "adjustment", "purchase"];

interface Lot {
  readonly id: string;
  readonly source: CreditSource;
  readonly ends: number;
  amount: bigint;
  left: bigint;
  expired: bigint;
  /** How many holds had been taken when its end was booked. */
  endedAfter: number | undefined;
  /** The place of its end among all that were booked. */
  endPlace: number | undefined;
}

interface Part {
  readonly lot: Lot | undefined;
  readonly amount: bigint;
}

interface Taken {
  /** How many holds had been taken with it. */
  readonly place: number;
  readonly granted: bigint;
  isOpen: boolean;
  readonly parts: Part[];
  refunded: bigint;
}

const NEVER = Number.POSITIVE_INFINITY;
const least = (...amounts: bigint[]) => amounts.reduce((one, other) => (one < other ? one : other));
const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);

export class CreditModel {
  readonly lots: Lot[] = [];
  readonly holds = new Map<string, Taken>();
  posted = 0n;
  readonly #open = new Set<Taken>();
  #taken = 0;
  #ends = 0;

  get held(): bigint {
    return sum([...this.#open].map(({ granted }) => granted));
  }

  get available(): bigint {
    return this.posted - this.held;
  }

  /** What the wallet owes. */
  get debt(): bigint {
    return sum(this.lots.map(({ left }) => left)) - this.posted;
  }

  topUp(
    given: { id: string; source: CreditSource; amount: bigint; ends?: number | undefined },
    now: number,
  ): void {
    this.end(now);
    const { debt } = this;
    const { id, source, amount, ends = NEVER } = given;
    const left = amount > debt ? amount - debt : 0n;
    this.lots.push({
      id,
      source,
      ends,
      amount,
      left,
      expired: 0n,
      endedAfter: undefined,
      endPlace: undefined,
    });
    this.posted += amount;
  }

  correct(amount: bigint, first: string | undefined, now: number): void {
    this.end(now);
    const named = this.#live().filter(({ id }) => id === first);
    this.#take([...named, ...this.#live().filter(({ id }) => id !== first)], amount, undefined);
    this.posted -= amount;
  }

  /** Returns whether the hold is granted. */
  hold(id: string, granted: bigint, now: number): boolean {
    if (this.viewAt(now).available < granted) return false;
    this.take(id, granted, now);
    return true;
  }

  /** Takes a hold, whatever is available. */
  take(id: string, granted: bigint, now: number): void {
    this.end(now);
    this.#taken += 1;
    const hold = { place: this.#taken, granted, isOpen: true, parts: [], refunded: 0n };
    this.holds.set(id, hold);
    this.#open.add(hold);
  }

  settle(id: string, amount: bigint, now: number): void {
    this.end(now);
    const hold = this.holds.get(id);
    if (!hold) throw new Error("no such hold");
    const newest = this.lots.at(-1);
    const isAlone = this.#live().every((lot) => lot === newest && lot.ends === NEVER);
    const parts = this.#take(this.#live(), amount, hold);
    // All of a charge counts for the only credit, also what it did not cover.
    const only = newest?.ends === NEVER ? newest : undefined;
    if (amount > 0n) hold.parts.push(...(isAlone ? [{ lot: only, amount }] : parts));
    this.posted -= amount;
    this.#close(hold);
  }

  release(id: string, now: number): void {
    this.end(now);
    const hold = this.holds.get(id);
    if (hold) this.#close(hold);
  }

  refund(id: string, refundId: string, amount: bigint, now: number, lifeMs = WEEK_MS): void {
    this.end(now);
    const hold = this.holds.get(id);
    if (!hold) throw new Error("no such hold");
    let { debt } = this;
    const newest = this.lots.at(-1);
    const back = lastOf(hold.parts, hold.refunded, amount);
    let made: Lot | undefined;
    for (const { lot, amount: part } of back) {
      const paid = least(debt, part);
      debt -= paid;
      if (part === paid) continue;
      const open = lot ? (lot.endedAfter === undefined && lot.ends > now ? lot : undefined) : endless(newest);
      if (!open && !made) {
        const ends = back.some((each) => !each.lot) ? NEVER : now + lifeMs;
        made = {
          id: refundId,
          source: "refund",
          ends,
          amount: 0n,
          left: 0n,
          expired: 0n,
          endedAfter: undefined,
          endPlace: undefined,
        };
        this.lots.push(made);
      }
      const target = open ?? made;
      if (!target) continue;
      target.left += part - paid;
      if (target === made) target.amount += part - paid;
    }
    hold.refunded += amount;
    this.posted += amount;
  }

  /** Books the ends that have come. */
  end(now: number): void {
    for (const lot of this.lots) {
      if (lot.endedAfter !== undefined || lot.ends > now || lot.left === 0n) continue;
      lot.endedAfter = this.#taken;
      lot.endPlace = this.#ends;
    }
    this.#ends += 1;
    this.#trim();
  }

  /** What a reader sees, whether or not ends are booked. */
  viewAt(now: number) {
    const after = this.#copyAt(now);
    const lots = after.lots.map(({ id, left, expired, amount }) => ({ id, left, expired, amount }));
    return { available: after.posted - after.held, lots: lots.reverse() };
  }

  #copyAt(now: number): CreditModel {
    const copy = new CreditModel();
    copy.posted = this.posted;
    copy.#ends = this.#ends;
    for (const lot of this.lots) copy.lots.push({ ...lot });
    for (const hold of this.#open) copy.#open.add(hold);
    copy.#taken = this.#taken;
    copy.end(now);
    return copy;
  }

  #close(hold: Taken): void {
    hold.isOpen = false;
    this.#open.delete(hold);
    this.#trim();
  }

  #live(): readonly Lot[] {
    const rank = ({ source }: Lot) => ORDER.indexOf(source);
    const ends = ({ endPlace = NEVER, ends: end }: Lot) => [endPlace, end] as const;
    const byEnd = (one: Lot, other: Lot) => {
      const [[place, end], [otherPlace, otherEnd]] = [ends(one), ends(other)];
      if (place !== otherPlace) return place < otherPlace ? -1 : 1;
      return end === otherEnd ? 0 : end < otherEnd ? -1 : 1;
    };
    return this.lots
      .filter(({ left }) => left > 0n)
      .sort((one, other) => byEnd(one, other) || rank(one) - rank(other));
  }

  #take(lots: readonly Lot[], amount: bigint, hold: Taken | undefined): readonly Part[] {
    const parts: Part[] = [];
    let rest = amount;
    let claim = hold?.isOpen ? hold.granted : 0n;
    for (const lot of lots) {
      const mayTake = lot.endedAfter === undefined || (hold !== undefined && hold.place <= lot.endedAfter);
      const most = lot.endedAfter === undefined ? lot.left : mayTake ? least(lot.left, claim) : 0n;
      const taken = least(rest, most);
      if (taken === 0n) continue;
      if (lot.endedAfter !== undefined) claim -= taken;
      lot.left -= taken;
      rest -= taken;
      parts.push({ lot, amount: taken });
    }
    return rest > 0n ? [...parts, { lot: undefined, amount: rest }] : parts;
  }

  /** Takes off ended lots what no open hold from before their end can spend, as a flow from holds to lots. */
  #trim(): void {
    if (!this.lots.some(({ endedAfter, left }) => endedAfter !== undefined && left > 0n)) return;
    const rest = [...this.#open].map(({ place, granted }) => ({ place, granted }));
    for (const lot of this.#live()) {
      if (lot.endedAfter === undefined) continue;
      let kept = 0n;
      for (const hold of rest) {
        if (hold.place > lot.endedAfter) continue;
        const claimed = least(hold.granted, lot.left - kept);
        hold.granted -= claimed;
        kept += claimed;
      }
      lot.expired += lot.left - kept;
      this.posted -= lot.left - kept;
      lot.left = kept;
    }
  }
}

function endless(lot: Lot | undefined): Lot | undefined {
  return lot?.ends === NEVER ? lot : undefined;
}

/** Returns the last parts that come to an amount, the last first, after some that were taken before. */
function lastOf(parts: readonly Part[], before: bigint, amount: bigint): readonly Part[] {
  const found: Part[] = [];
  let [skipped, rest] = [before, amount];
  for (const part of parts.toReversed()) {
    const free = part.amount - least(part.amount, skipped);
    skipped -= part.amount - free;
    const back = least(free, rest);
    rest -= back;
    if (back > 0n) found.push({ lot: part.lot, amount: back });
  }
  return found;
}
