import type { CreditSource } from "../../src/domain/credit.ts";
import type { JournalLine } from "../../src/ledger/records.ts";
import { Reckoning } from "../plans/reckoning.ts";
import { instantOf, wallOf } from "../plans/zone-calendar.ts";
import type { RandomSource } from "../support/seeded-random.ts";
import type { AutoReckoning } from "./auto-reckoning.ts";
import type { BilledReckoning } from "./billed-reckoning.ts";
import { reckonedPlan } from "./plans.ts";
import { WalletBook } from "./wallet-book.ts";

/** A movement that must come, in any order among others of one moment. */
export interface Expected {
  readonly amount: bigint;
  readonly source?: CreditSource | undefined;
  readonly ends?: number | undefined;
  /** Of a correction, the credit that is taken first. */
  readonly creditId?: string | undefined;
  /** As a statement has it. */
  readonly reason?: string;
}

/** A subscription that an operator has made, or one that Stripe bills. */
type AnyReckoning = Reckoning | BilledReckoning;

export interface SubscriptionYear {
  readonly id: string;
  readonly reckoning: AnyReckoning;
  readonly timeZone: string;
  /** How many of its credits are expected in the journal. */
  expected: number;
}

/** A request of the account. */
export interface HeldRequest {
  readonly holdId: string;
  readonly atMs: number;
  readonly granted: bigint;
  readonly endsAtMs: number;
  state: "open" | "expired" | "ended";
  captured: bigint;
  refunded: bigint;
}

/** A payment that may be refunded or disputed. */
export interface PaymentYear {
  readonly intentId: string;
  readonly cents: number;
  /** The top-up that it has paid for, and the credit of it. That of an invoice is known once it is granted. */
  readonly topUpId: string;
  readonly credited: bigint;
  /** The subscription that must be read before a refund is booked; `undefined` where its invoice is granted. */
  readonly unread?: BilledReckoning | undefined;
}

const DAY_MS = 86_400_000;

/** Everything that one account must have, reckoned apart from the program. */
export class AccountYear {
  readonly id: string;
  readonly draw: RandomSource;
  readonly book = new WalletBook();
  readonly expected = new Map<string, Expected>();
  readonly subscriptions: SubscriptionYear[] = [];
  /** What its owners have bought at Stripe. */
  readonly billed: BilledReckoning[] = [];
  readonly holds: HeldRequest[] = [];
  readonly payments: PaymentYear[] = [];
  /** Signed payments of the shop, and what is left of each. */
  readonly orders: { readonly id: string; left: bigint }[] = [];
  readonly codes: {
    readonly id: string;
    readonly text: string;
    readonly amount: bigint;
    readonly days: number | undefined;
  }[] = [];
  readonly reasons = new Map<string, string>();
  auto: AutoReckoning | undefined;
  /** The lines of the journal that were compared. */
  #followed = 0;

  constructor(id: string, draw: RandomSource) {
    this.id = id;
    this.draw = draw;
  }

  get subscription(): SubscriptionYear | undefined {
    return this.subscriptions.findLast(({ reckoning }) => !reckoning.isOver);
  }

  /** When the last compared line was booked. */
  get followedAtMs(): number {
    return this.book.lines[this.#followed - 1]?.atMs ?? 0;
  }

  /** Whether the journal must have more lines than were compared. */
  get isAhead(): boolean {
    return this.expected.size > 0 || this.book.lines.length > this.#followed;
  }

  /** The source of a credit, by the id of what granted it. */
  sourceOf(id: string): string {
    return this.book.money.lots.find((lot) => lot.id === id)?.source ?? "none";
  }

  expect(id: string, expected: Expected): void {
    this.expected.set(id, expected);
    if (expected.reason !== undefined) this.reasons.set(id, expected.reason);
  }

  subscribed(id: string, planId: string, timeZone: string, nowMs: number): void {
    const reckoning = new Reckoning(reckonedPlan(planId), nowMs, timeZone);
    this.subscriptions.push({ id, reckoning, timeZone, expected: 0 });
    this.expectGrants();
  }

  /** The program reads a subscription at Stripe, which has the id here from its first reading on. */
  readBilled(billed: BilledReckoning, id: string, nowMs: number): void {
    const isNew = billed.id === undefined;
    billed.read(id, this.subscription !== undefined, nowMs);
    if (isNew) this.subscriptions.push({ id, reckoning: billed, timeZone: "UTC", expected: 0 });
    this.expectGrants();
  }

  /** Lets periods begin. */
  pass(nowMs: number): void {
    for (const { reckoning } of this.subscriptions) reckoning.pass(nowMs);
    this.expectGrants();
  }

  expectGrants(): void {
    for (const each of this.subscriptions) {
      const { credits } = each.reckoning;
      for (const { name, amount, expiresAtMs: ends } of credits.slice(each.expected))
        if (amount > 0n) this.expect(`plan-${each.id}-${name}`, { amount, source: "plan", ends });
      each.expected = credits.length;
    }
  }

  /** Ends credits and holds whose time has come, as a sweep does. */
  sweep(nowMs: number): void {
    this.book.end(nowMs);
    for (const hold of this.holds) {
      if (hold.state !== "open" || hold.endsAtMs > nowMs) continue;
      hold.state = "expired";
      this.book.move(nowMs, { kind: "", id: hold.holdId, amount: 0n }, () =>
        this.book.money.release(hold.holdId, nowMs),
      );
    }
  }

  /** Whether a request of such an amount must be let through. */
  admits(amount: bigint, nowMs: number): boolean {
    return amount <= this.book.availableAt(nowMs) && amount <= (this.#leftOfLimits(nowMs) ?? amount);
  }

  /** Follows new lines of the journal, up to one or to their end: each must be the one that is reckoned. */
  follow(lines: readonly JournalLine[], untilId?: string): void {
    const { book } = this;
    for (const line of lines) {
      if (line.seq <= this.#followed) continue;
      if (line.seq > book.lines.length) this.#take(line);
      const { createdAtMs: atMs, seq, kind, transferId: id, holdId, amount, postedAfter: balance } = line;
      const actual = { atMs, kind, id, holdId, amount, seq, balance };
      const reckoned = book.lines[line.seq - 1];
      if (!Bun.deepEquals(actual, reckoned))
        throw new Error(`${this.id} has ${show(actual)}, and must have ${show(reckoned)}`);
      this.#followed = seq;
      if (id === untilId) return;
    }
    const missing = untilId ?? show(book.lines[this.#followed]);
    if (missing !== undefined) throw new Error(`${this.id} lacks ${missing}`);
  }

  #take({ createdAtMs, kind, transferId: id }: JournalLine): void {
    if (kind === "credit_expiry") {
      this.book.end(createdAtMs);
      return;
    }
    const expected = this.expected.get(id);
    if (!expected) throw new Error(`${this.id} has an unexpected ${kind} ${id}`);
    this.expected.delete(id);
    const { amount, source = "purchase", ends, creditId } = expected;
    const isTopUp = amount > 0n;
    this.book.move(createdAtMs, { kind: isTopUp ? "top_up" : "correction", id, amount }, () =>
      isTopUp
        ? this.book.money.topUp({ id, source, amount, ends }, createdAtMs)
        : this.book.money.correct(-amount, creditId, createdAtMs),
    );
  }

  /** What the limits of the plan have left, in the periods of the subscription's zone. */
  #leftOfLimits(nowMs: number): bigint | undefined {
    const { subscription } = this;
    if (!subscription) return undefined;
    const { limits } = reckonedPlan(subscription.reckoning.plan.id);
    const lefts = limits.map(({ amount, isMonth }) => {
      const fromMs = startOf(nowMs, subscription.timeZone, isMonth);
      const counted = this.holds.filter(({ atMs }) => atMs >= fromMs);
      const used = counted.map(({ state, granted, captured }) => (state === "open" ? granted : captured));
      return amount - used.reduce((sum, each) => sum + each, 0n);
    });
    return lefts.length === 0 ? undefined : lefts.reduce((one, other) => (one < other ? one : other));
  }
}

function startOf(nowMs: number, timeZone: string, isMonth: boolean): number {
  const wall = new Date(wallOf(nowMs, timeZone));
  const dayMs = wall.getTime() - (wall.getTime() % DAY_MS);
  return instantOf(isMonth ? dayMs - (wall.getUTCDate() - 1) * DAY_MS : dayMs, timeZone);
}

function show(value: object | undefined): string | undefined {
  return value && JSON.stringify(value, (_, each) => (typeof each === "bigint" ? String(each) : each));
}
