// What a subscription that Stripe bills must grant, reckoned from docs/plans.md and what Stripe has: no code of src.
import type { ReckonedCredit } from "../plans/reckoning.ts";
import type { StripeInvoice, StripeSubscription } from "../support/stripe-subscriptions.ts";
import { planOfPrice, type SoldPlan } from "./plans.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A command of an operator. A change of plan is made at Stripe alone. */
interface BilledCommand {
  readonly kind: "pause" | "resume" | "change" | "cancel";
  readonly when: "now" | "period_end";
}

/** One subscription that was bought on a page of Stripe, as far as the program must have read it. */
export class BilledReckoning {
  readonly there: StripeSubscription;
  readonly credits: ReckonedCredit[] = [];
  /** Our own id, from the first reading on. */
  id: string | undefined;
  plan: SoldPlan;
  isOver = false;
  isCancelling = false;
  #isPaused = false;
  #paidUntilMs = 0;
  /** When Stripe is asked without an event; `undefined` long after the end. */
  #nextReadMs: number | undefined;
  readonly #invoices: () => readonly StripeInvoice[];

  constructor(there: StripeSubscription, invoices: () => readonly StripeInvoice[], boughtMs: number) {
    this.there = there;
    this.plan = planOfPrice(there.items.data[0].price.id);
    this.#invoices = invoices;
    this.#nextReadMs = boughtMs + HOUR_MS;
  }

  get state(): "active" | "paused" | "ended" {
    if (this.isOver) return "ended";
    return this.#isPaused ? "paused" : "active";
  }

  /** The credit of an invoice, once it is granted. */
  creditOf(invoiceId: string): ReckonedCredit | undefined {
    return this.credits.find(({ name }) => name === invoiceId);
  }

  /** Paid invoices at Stripe that were not granted. */
  get missing(): readonly string[] {
    return this.#paid.filter(({ id }) => !this.creditOf(id)).map(({ id }) => id);
  }

  isDue(nowMs: number): boolean {
    return this.#nextReadMs !== undefined && this.#nextReadMs <= nowMs;
  }

  /** The program reads what Stripe has. A first reading finds out whether the account has another subscription. */
  read(id: string, hasOther: boolean, nowMs: number): void {
    this.isOver ||= this.id === undefined && hasOther;
    this.id = id;
    for (const invoice of this.#paid)
      if (!this.creditOf(invoice.id)) this.credits.push(grantOf(invoice, nowMs));
    const endedMs = (this.there.ended_at ?? Number.POSITIVE_INFINITY) * 1_000;
    this.#nextReadMs = endedMs + 60 * DAY_MS < nowMs ? undefined : nowMs + DAY_MS;
    this.isOver ||= this.there.ended_at !== null;
    if (this.isOver && this.there.ended_at === null) throw new Error(`${this.there.id} goes on at Stripe`);
    this.isCancelling = !this.isOver && this.there.cancel_at_period_end;
    const lines = this.#paid.map(lineOf).toSorted((one, other) => one.period.start - other.period.start);
    this.plan = planOfPrice(lines.at(-1)?.price ?? "");
    this.#paidUntilMs = Math.max(...lines.map(({ period }) => period.end * 1_000));
    this.#isPaused = this.there.pause_collection !== null;
    this.pass(nowMs);
  }

  /** Pauses at the end of the grace. */
  pass(nowMs: number): void {
    this.#isPaused ||= this.#paidUntilMs + this.plan.sale.graceDays * DAY_MS <= nowMs;
  }

  /** Whether a command must be accepted. */
  accepts({ kind, when }: BilledCommand, nowMs: number): boolean {
    this.pass(nowMs);
    if (this.isOver || kind === "change") return false;
    if (this.endsBy({ kind, when }, nowMs)) return true;
    if (kind === "pause" && this.#isPaused) return false;
    if (kind === "resume" && !this.#isPaused && !this.isCancelling) return false;
    if (kind === "cancel" && this.isCancelling) return false;
    return this.there.ended_at === null;
  }

  /** Whether a command ends the subscription here at once, also while Stripe is away. */
  endsBy({ kind, when }: BilledCommand, nowMs: number): boolean {
    return kind === "cancel" && (when === "now" || this.#paidUntilMs <= nowMs);
  }

  get #paid(): readonly StripeInvoice[] {
    return this.#invoices().filter(({ status }) => status === "paid");
  }
}

/** The line that an invoice is granted by: that of a period ahead, or of a change what it was changed to. */
function lineOf({ id, lines }: StripeInvoice): StripeInvoice["lines"][number] {
  const whole = lines.filter(({ proration }) => !proration);
  const candidates = whole.length > 0 ? whole : lines.filter(({ amount }) => amount >= 0);
  const [line] = candidates.toSorted((one, other) => other.period.start - one.period.start);
  if (!line) throw new Error(`${id} has no line of a period`);
  return line;
}

function grantOf(invoice: StripeInvoice, nowMs: number): ReckonedCredit {
  const { price, period } = lineOf(invoice);
  const { sale, grant, days, carryOver, lateDays = 1 } = planOfPrice(price);
  const paid = BigInt(invoice.amount_paid);
  const amount = paid >= sale.cents ? grant : (paid * grant) / sale.cents;
  const endMs =
    days > 0 ? period.end * 1_000 + carryOver * days * DAY_MS : monthsLater(period.end, carryOver);
  const isLate = nowMs - period.start * 1_000 > HOUR_MS;
  const expiresAtMs = isLate ? Math.max(endMs, nowMs + lateDays * DAY_MS) : endMs;
  return { name: invoice.id, amount, expiresAtMs };
}

/** The same day of a later month, or its last one. */
function monthsLater(fromS: number, months: number): number {
  const from = new Date(fromS * 1_000);
  const [year, month] = [from.getUTCFullYear(), from.getUTCMonth() + months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return Date.UTC(year, month, Math.min(from.getUTCDate(), lastDay)) + (from.getTime() % DAY_MS);
}
