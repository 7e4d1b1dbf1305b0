import type { Intent } from "../support/stripe-books.ts";

/** What an owner has chosen. */
interface Terms {
  readonly below: bigint;
  readonly amount: bigint;
  readonly monthMax: bigint;
}

const NANOS_PER_CENT = 10_000_000n;

/** The automatic top-up of one account, reckoned from docs/payments.md and what Stripe has seen. */
export class AutoReckoning {
  readonly customer: string;
  readonly card: string;
  #terms: Terms | undefined;
  #state: "on" | "stopped" | "off" = "off";
  #failures = 0;
  /** The payment whose bank has not answered. */
  #open: Intent | undefined;
  readonly #paid: { readonly month: string; readonly intent: Intent }[] = [];

  constructor({ customer, card }: { readonly customer: string; readonly card: string }) {
    this.customer = customer;
    this.card = card;
  }

  get isOn(): boolean {
    return this.#state !== "off";
  }

  get open(): Intent | undefined {
    return this.#open;
  }

  get intents(): readonly Intent[] {
    return this.#paid.map(({ intent }) => intent);
  }

  set(terms: Terms): void {
    this.#terms = terms;
    this.#state = "on";
    this.#failures = 0;
  }

  /** Whether a payment must be made at a time, with so much available. */
  wants(available: bigint, nowMs: number): boolean {
    if (!this.#terms || this.#open || this.#state === "off") return false;
    const { below, amount, monthMax } = this.#terms;
    if (this.#state === "stopped" && available >= below) this.#state = "on";
    if (this.#state === "stopped" || available >= below) return false;
    return this.#sumOf(monthOf(nowMs)) + amount <= monthMax;
  }

  /** Takes the payment of a crossing. Throws for one that its owner has not allowed. */
  pay(intent: Intent, nowMs: number): void {
    const month = monthOf(nowMs);
    this.#paid.push({ month, intent });
    const { amount = 0n, monthMax = 0n } = this.#terms ?? {};
    if (BigInt(intent.amount) * NANOS_PER_CENT !== amount)
      throw new Error(`${intent.id} is of another amount`);
    if (this.#state === "off") throw new Error(`${intent.id} was paid although top-ups are off`);
    if (intent.status === "processing") this.#open = intent;
    else this.#finish(intent);
    if (this.#sumOf(month) > monthMax) throw new Error(`${intent.id} exceeds the month's maximum`);
  }

  /** A bank has answered the open payment. */
  settle(): void {
    const intent = this.#open;
    this.#open = undefined;
    if (intent) this.#finish(intent);
  }

  #finish({ status }: Intent): void {
    if (status === "succeeded") {
      this.#failures = 0;
      if (this.#state === "stopped") this.#state = "on";
      return;
    }
    this.#failures += 1;
    this.#state = this.#failures >= 2 || this.#state === "off" ? "off" : "stopped";
  }

  #sumOf(month: string): bigint {
    const counted = this.#paid.filter(
      (each) => each.month >= month && ["succeeded", "processing"].includes(each.intent.status),
    );
    return counted.reduce((sum, { intent }) => sum + BigInt(intent.amount) * NANOS_PER_CENT, 0n);
  }
}

function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 7);
}
