import { printObjectEvent, type ScriptedStripe, signEvent } from "../support/scripted-stripe.ts";
import { drawInteger, drawOne, type RandomSource } from "../support/seeded-random.ts";
import type { StripeInvoice } from "../support/stripe-subscriptions.ts";
import type { AccountYear, PaymentYear } from "./account-year.ts";
import type { Act } from "./acts.ts";
import { BilledReckoning } from "./billed-reckoning.ts";
import { PRICE_IDS } from "./plans.ts";

const CENT = 10_000_000n;
const DAY_MS = 86_400_000;
const BILLED_ACTS = [
  ...["decline", "decline", "mend", "mend", "mend", "pay", "pay"],
  ...["end", "cancel", "change", "change"],
];
const PRORATIONS = ["none", "create_prorations", "always_invoice"] as const;

/** An event on its way, and what it must lead to. Both may happen any number of times. */
interface Delivery {
  readonly atMs: number;
  readonly accountId: string;
  readonly body: string;
  /** The subscription that the program must read for it, as things are before it arrives. */
  reads(): BilledReckoning | undefined;
  reckon(): void;
}

/** An event that has arrived. */
interface Arrival extends Pick<Delivery, "accountId" | "reads" | "reckon"> {
  readonly act: Act;
}

/** A refund or dispute as Stripe has it. */
interface SeenReversal {
  readonly id: string;
  readonly kind: "refund" | "dispute";
  readonly amount: bigint;
  readonly isGiven: boolean;
}

interface Dispute {
  readonly id: string;
  readonly payment: PaymentYear;
  readonly account: AccountYear;
  readonly endsAtMs: number;
}

/** A subscription at Stripe, and whose it is. */
interface Bought {
  readonly account: AccountYear;
  readonly billed: BilledReckoning;
}

/** What a refund or dispute has taken of a payment, and of its credit. */
interface Taken {
  readonly reversed: bigint;
  readonly amount: bigint;
}

/** What happens at Stripe, and the events of it: each comes twice, late, or before an earlier one. */
export class StripeYear {
  readonly #stripe: ScriptedStripe;
  readonly #draw: RandomSource;
  readonly #under = new Set<Delivery>();
  readonly #disputes = new Set<Dispute>();
  /** What was seen of each refund and dispute: taken, or ended without a trace. */
  readonly #seen = new Map<string, "taken" | "ended">();
  /** What refunds and disputes of each payment have taken, and not given back. */
  readonly #taken = new Map<string, Map<string, Taken>>();
  readonly #billed = new Map<string, Bought>();
  #serial = 0;

  constructor(stripe: ScriptedStripe, draw: RandomSource) {
    this.#stripe = stripe;
    this.#draw = draw;
  }

  get isQuiet(): boolean {
    return this.#under.size === 0;
  }

  /** A payer pays the page of a checkout. */
  payCheckout(account: AccountYear, sessionId: string, cents: number, nowMs: number): void {
    const intent = this.#stripe.books.addIntent(this.#id("pi_y"), cents);
    intent.status = "succeeded";
    this.#stripe.books.sessionsOf.set(intent.id, { id: sessionId });
    const credited = BigInt(cents) * CENT;
    this.own(account, { intentId: intent.id, topUpId: sessionId, cents, credited });
    const session = { id: sessionId, object: "checkout.session", mode: "payment", payment_status: "paid" };
    const paid = { amount_total: cents, currency: "usd", payment_intent: intent.id, metadata: {} };
    this.#send(account, nowMs, ["checkout.session.completed", { ...session, ...paid }], {
      reckon: () => this.#once(sessionId, () => account.expect(sessionId, { amount: credited })),
    });
  }

  /** An owner pays the page of a plan. */
  buyPlan(account: AccountYear, sessionId: string, nowMs: number): void {
    const { billing } = this.#stripe.books;
    const there = billing.buy(sessionId);
    if (!there) throw new Error("no card pays");
    const billed = new BilledReckoning(there, () => billing.invoicesOf(there.id), nowMs);
    account.billed.push(billed);
    this.#billed.set(there.id, { account, billed });
    this.raise(nowMs);
  }

  /** What an owner does in the portal, Stripe's dashboard, or the card of a subscription. */
  actOnBilled({ draw }: AccountYear, { there }: BilledReckoning, nowMs: number): void {
    const { billing } = this.#stripe.books;
    const { id, customer, ended_at: endedS } = there;
    const kind = drawOne(draw, BILLED_ACTS);
    if (kind === "decline") billing.behaviours.set(customer, "declined");
    if (kind === "mend") billing.behaviours.set(customer, "ok");
    const isLong = endedS !== null && endedS * 1_000 < nowMs - 30 * DAY_MS;
    if (kind === "pay" && !isLong) for (const invoice of billing.openInvoices(id)) billing.pay(invoice);
    if (endedS === null) {
      if (kind === "end") billing.cancelAtPeriodEnd(id, draw() < 0.6);
      if (kind === "cancel" && draw() < 0.4) billing.cancel(id);
      if (kind === "change") billing.changePrice(id, drawOne(draw, PRICE_IDS), drawOne(draw, PRORATIONS));
    }
    this.raise(nowMs);
  }

  /** Lets periods begin and payments be tried, and fail for good in one of two ways. */
  advance(nowMs: number): void {
    const { billing } = this.#stripe.books;
    billing.afterRetries = this.#draw() < 0.5 ? "canceled" : "unpaid";
    billing.advance(nowMs);
    this.raise(nowMs);
  }

  /** A part of a payment is refunded in the dashboard. Some refunds fail later. */
  refund(payment: PaymentYear, nowMs: number): void {
    const { books } = this.#stripe;
    const before = books.refunds.filter(({ payment_intent: intent }) => intent === payment.intentId);
    const rest = payment.cents - before.reduce((sum, { amount }) => sum + amount, 0);
    if (rest <= 0) return;
    const cents = this.#draw() < 0.4 ? rest : Math.ceil(rest * this.#draw());
    const refund = books.refund(payment.intentId, cents);
    this.raise(nowMs);
    if (this.#draw() < 0.2) {
      books.failRefund(refund);
      this.raise(nowMs);
    }
  }

  dispute(account: AccountYear, payment: PaymentYear, nowMs: number): void {
    const id = this.#id("du_y");
    const endsAtMs = nowMs + (5 + 40 * this.#draw()) * DAY_MS;
    const dispute = { id, payment, account, endsAtMs };
    this.#disputes.add(dispute);
    this.#report(dispute, "charge.dispute.created", "needs_response", nowMs);
  }

  /** Ends disputes whose bank has decided. */
  decide(nowMs: number): void {
    for (const dispute of this.#disputes) {
      if (dispute.endsAtMs > nowMs) continue;
      this.#disputes.delete(dispute);
      const end = this.#draw() < 0.5 ? "won" : "lost";
      this.#report(dispute, "charge.dispute.closed", end, nowMs);
    }
  }

  /** Sends the events that the scripted Stripe has raised. All those of subscriptions may be lost at once. */
  raise(nowMs: number): void {
    const isLost = this.#draw() < 0.2;
    for (const { type, object } of this.#stripe.books.takeEvents()) {
      const bought = this.#billed.get(/sub_\w+/.exec(JSON.stringify(object))?.[0] ?? "");
      if (bought) {
        this.#own(bought, type, object);
        if (!isLost) this.#send(bought.account, nowMs, [type, object], { reads: () => bought.billed });
      } else {
        const intentId = "payment_intent" in object ? String(object.payment_intent) : undefined;
        const found = this.#owners.get(intentId ?? "");
        this.#send(found?.account, nowMs, [type, object], {
          reads: () => found?.payment.unread,
          reckon: () => found && this.#seeRefunds(found.account, found.payment),
        });
      }
    }
  }

  /** A paid invoice may be refunded, whether or not the program knows of it. The next one may be paid by a balance. */
  #own({ account, billed }: Bought, type: string, object: object): void {
    const { invoices, balances } = this.#stripe.books.billing;
    const invoice = type === "invoice.paid" && "id" in object ? invoices.get(String(object.id)) : undefined;
    if (!invoice) return;
    if (invoice.intent) this.own(account, paymentOf(billed, invoice));
    if (this.#draw() < 0.2) balances.set(billed.there.customer, drawInteger(this.#draw, 1, 2_500));
  }

  readonly #owners = new Map<string, { readonly account: AccountYear; readonly payment: PaymentYear }>();

  /** Remembers whose payment it is. */
  own(account: AccountYear, payment: PaymentYear): void {
    account.payments.push(payment);
    this.#owners.set(payment.intentId, { account, payment });
  }

  /** Takes the events that arrive at a time: those of one account in the drawn order. */
  async arrive(nowMs: number): Promise<readonly Arrival[]> {
    const due = [...this.#under].filter(({ atMs }) => atMs <= nowMs);
    for (const each of due) this.#under.delete(each);
    return Promise.all(
      due.map(async ({ body, ...arrival }) => {
        const signature = await signEvent(body, { atMs: nowMs });
        return { ...arrival, act: { kind: "event", body, signature } } as const;
      }),
    );
  }

  #report({ id, payment, account }: Dispute, type: string, status: string, nowMs: number): void {
    const object = { id, object: "dispute", payment_intent: payment.intentId };
    const amounts = { amount: payment.cents, currency: "usd", status };
    const amount = BigInt(payment.cents) * CENT;
    this.#send(account, nowMs, [type, { ...object, ...amounts }], {
      reads: () => payment.unread,
      reckon: () => this.#see(account, payment, { id, kind: "dispute", amount, isGiven: status !== "won" }),
    });
  }

  /** Refunds are read from Stripe's list, whatever event it was. */
  #seeRefunds(account: AccountYear, payment: PaymentYear): void {
    const { refunds } = this.#stripe.books;
    for (const { id, amount, status } of refunds.filter((each) => each.payment_intent === payment.intentId)) {
      const isGiven = status !== "failed";
      this.#see(account, payment, { id, kind: "refund", amount: BigInt(amount) * CENT, isGiven });
    }
  }

  #see(account: AccountYear, payment: PaymentYear, { id, kind, amount, isGiven }: SeenReversal): void {
    const before = this.#seen.get(id);
    if (before === "ended") return;
    this.#seen.set(id, isGiven ? "taken" : "ended");
    const { topUpId: creditId, intentId } = payment;
    const reason = `${kind} of payment ${creditId}`;
    const taken = this.#taken.get(intentId) ?? new Map<string, Taken>();
    this.#taken.set(intentId, taken);
    if (before === undefined && isGiven) {
      const part = shareOf(payment, [...taken.values()], amount);
      taken.set(id, { reversed: amount, amount: part });
      account.expect(id, { amount: -part, creditId, reason });
    } else if (before === "taken" && !isGiven) {
      const end = kind === "dispute" ? "won" : "failed";
      const part = taken.get(id)?.amount ?? 0n;
      account.expect(`${id}:returned`, { amount: part, reason: `${reason}, ${end}` });
      taken.delete(id);
    }
  }

  #once(id: string, act: () => void): void {
    if (this.#seen.has(id)) return;
    this.#seen.set(id, "taken");
    act();
  }

  #send(
    account: AccountYear | undefined,
    nowMs: number,
    [type, object]: readonly [string, object],
    effects: Partial<Pick<Delivery, "reads" | "reckon">>,
  ): void {
    const body = printObjectEvent(type, object);
    const leads = { reads: () => undefined, reckon: () => undefined, ...effects };
    for (let times = this.#draw() < 0.5 ? 2 : 1; times > 0; times -= 1) {
      const atMs = nowMs + (this.#draw() < 0.4 ? 0 : this.#draw() * 5 * DAY_MS);
      this.#under.add({ atMs, accountId: account?.id ?? "", body, ...leads });
    }
  }

  #id(prefix: string): string {
    this.#serial += 1;
    return `${prefix}${this.#serial}`;
  }
}

/** The payment of an invoice: its credit is known once it is granted. */
function paymentOf(billed: BilledReckoning, { id, intent, amount_paid: cents }: StripeInvoice): PaymentYear {
  return {
    intentId: intent ?? "",
    cents,
    get topUpId() {
      return `plan-${billed.id}-${id}`;
    },
    get credited() {
      return billed.creditOf(id)?.amount ?? 0n;
    },
    get unread() {
      return billed.creditOf(id) ? undefined : billed;
    },
  };
}

/** The part of a credit that a reversal takes: those of one payment sum up to the part of their sum. */
function shareOf({ cents, credited }: PaymentYear, taken: readonly Taken[], reversed: bigint): bigint {
  const all = taken.reduce((sum, each) => sum + each.reversed, reversed);
  const before = taken.reduce((sum, { amount }) => sum + amount, 0n);
  return (all * credited) / (BigInt(cents) * CENT) - before;
}
