// What a subscription must grant, reckoned from docs/plans.md alone: no code of src/plans, and no calendar of it.
import { instantOf, wallOf } from "./zone-calendar.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** What a reckoning knows of a plan. */
export interface ReckonedPlan {
  readonly id: string;
  /** 0 for a month. */
  readonly days: number;
  readonly grant: bigint;
  readonly carryOver: number;
  /** Days that a late credit lasts at least. Default: 1. */
  readonly lateDays?: number;
}

/** A credit that must be granted. */
export interface ReckonedCredit {
  readonly name: string;
  readonly amount: bigint;
  readonly expiresAtMs: number;
}

export type ReckonedCommand =
  | { readonly kind: "pause" }
  | { readonly kind: "resume" }
  | {
      readonly kind: "change";
      readonly plan: ReckonedPlan;
      readonly when?: "now" | "period_end" | undefined;
    }
  | { readonly kind: "cancel"; readonly when: "now" | "period_end" };

/** One subscription in its zone, with every period that it has had. */
export class Reckoning {
  readonly credits: ReckonedCredit[] = [];
  readonly #timeZone: string;
  #plan: ReckonedPlan;
  #next: ReckonedPlan | undefined;
  /** The anchor, and how many periods began since. */
  #anchorMs: number;
  #sinceAnchor = 0;
  #begun = 0;
  #best = 0n;
  #isPaused = false;
  #isCancelled = false;
  #isOver = false;

  constructor(plan: ReckonedPlan, nowMs: number, timeZone = "UTC") {
    this.#plan = plan;
    this.#timeZone = timeZone;
    this.#anchorMs = nowMs;
    this.#begin(nowMs, nowMs);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get plan(): ReckonedPlan {
    return this.#plan;
  }

  /** Lets time pass. */
  pass(nowMs: number): void {
    while (!this.#isOver && this.#endMs() <= nowMs) {
      if (this.#isCancelled) this.#isOver = true;
      else if (this.#isPaused) return;
      else this.#begin(this.#endMs(), nowMs);
    }
  }

  /** Carries out a command of a version. Returns whether it is accepted. */
  command(command: ReckonedCommand, version: number, nowMs: number): boolean {
    this.pass(nowMs);
    if (this.#isOver) return false;
    if (command.kind === "pause") {
      if (this.#isPaused) return false;
      this.#isPaused = true;
    } else if (command.kind === "resume") {
      if (!this.#isPaused && !this.#isCancelled) return false;
      this.#isPaused = false;
      this.#isCancelled = false;
      if (this.#endMs() <= nowMs) this.#beginAnew(nowMs, nowMs);
    } else if (command.kind === "cancel") {
      if (command.when === "period_end" && this.#endMs() > nowMs) {
        if (this.#isCancelled) return false;
        this.#isCancelled = true;
        this.#next = undefined;
      } else this.#isOver = true;
    } else return this.#change(command, version, nowMs);
    return true;
  }

  #change({ plan, when }: ReckonedCommand & { kind: "change" }, version: number, nowMs: number): boolean {
    if (this.#isCancelled) return false;
    if (plan.id === this.#plan.id && !this.#next) return false;
    const isUpgrade = plan.days === this.#plan.days && plan.grant >= this.#plan.grant;
    if (when === "now" && plan.days !== this.#plan.days) return false;
    if (when === "period_end" || (when === undefined && !isUpgrade)) {
      this.#next = plan.id === this.#plan.id ? undefined : plan;
      return true;
    }
    this.#plan = plan;
    this.#next = undefined;
    const [startMs, endMs] = [this.#boundary(this.#sinceAnchor - 1), this.#endMs()];
    const leftMs = Math.min(endMs - nowMs, endMs - startMs);
    if (plan.grant > this.#best && leftMs > 0) {
      const amount = ((plan.grant - this.#best) * BigInt(leftMs)) / BigInt(endMs - startMs);
      const expiresAtMs = this.#boundary(this.#sinceAnchor + plan.carryOver);
      if (amount > 0n)
        this.credits.push({ name: `${this.#begun - 1}-raise-${version + 1}`, amount, expiresAtMs });
    }
    if (plan.grant > this.#best) this.#best = plan.grant;
    return true;
  }

  #begin(startMs: number, nowMs: number): void {
    if (this.#next && this.#next.days !== this.#plan.days) this.#beginAnew(startMs, nowMs);
    else this.#grant(startMs, nowMs);
  }

  #beginAnew(startMs: number, nowMs: number): void {
    this.#anchorMs = startMs;
    this.#sinceAnchor = 0;
    if (this.#next) this.#plan = this.#next;
    this.#next = undefined;
    this.#grant(startMs, nowMs);
  }

  #grant(startMs: number, nowMs: number): void {
    this.#plan = this.#next ?? this.#plan;
    this.#next = undefined;
    this.#sinceAnchor += 1;
    this.#best = this.#plan.grant;
    const endMs = this.#boundary(this.#sinceAnchor + this.#plan.carryOver);
    const isLate = nowMs - startMs > HOUR_MS;
    const leastMs = nowMs + (this.#plan.lateDays ?? 1) * DAY_MS;
    const expiresAtMs = isLate && endMs < leastMs ? leastMs : endMs;
    this.credits.push({ name: String(this.#begun), amount: this.#plan.grant, expiresAtMs });
    this.#begun += 1;
  }

  #endMs(): number {
    return this.#boundary(this.#sinceAnchor);
  }

  /** The calendar by hand: the day of the anchor, or the last one of its month, at the anchor's time of the clock. */
  #boundary(index: number): number {
    if (index === 0) return this.#anchorMs;
    const wallMs = wallOf(this.#anchorMs, this.#timeZone);
    if (this.#plan.days > 0) return instantOf(wallMs + index * this.#plan.days * DAY_MS, this.#timeZone);
    const anchor = new Date(wallMs);
    const [year, month] = [anchor.getUTCFullYear(), anchor.getUTCMonth() + index];
    const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
    const dayMs = Date.UTC(year, month, Math.min(anchor.getUTCDate(), lastDay));
    return instantOf(dayMs + (wallMs % DAY_MS), this.#timeZone);
  }
}
