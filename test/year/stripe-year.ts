import { printObjectEvent, type ScriptedStripe, signEvent } from "../support/scripted-stripe.ts";
import type { RandomSource } from "../support/seeded-random.ts";
import type { AccountYear, PaymentYear } from "./account-year.ts";
import type { Act } from "./acts.ts";

const CENT = 10_000_000n;
const DAY_MS = 86_400_000;

/** An event on its way, and what it must lead to. Both may happen any number of times. */
interface Delivery {
  readonly atMs: number;
  readonly accountId: string;
  readonly body: string;
  reckon(): void;
}

interface Dispute {
  readonly id: string;
  readonly payment: PaymentYear;
  readonly account: AccountYear;
  readonly endsAtMs: number;
}

/** What happens at Stripe, and the events of it: each comes twice, late, or before an earlier one. */
export class StripeYear {
  readonly #stripe: ScriptedStripe;
  readonly #draw: RandomSource;
  readonly #under = new Set<Delivery>();
  readonly #disputes = new Set<Dispute>();
  /** What was seen of each refund and dispute: taken, or ended without a trace. */
  readonly #seen = new Map<string, "taken" | "ended">();
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
    this.own(account, { intentId: intent.id, topUpId: sessionId, cents });
    const session = { id: sessionId, object: "checkout.session", mode: "payment", payment_status: "paid" };
    const paid = { amount_total: cents, currency: "usd", payment_intent: intent.id, metadata: {} };
    const topUp = { amount: BigInt(cents) * CENT };
    this.#send(account, nowMs, ["checkout.session.completed", { ...session, ...paid }], () =>
      this.#once(sessionId, () => account.expect(sessionId, topUp)),
    );
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

  /** Sends the events that the scripted Stripe has raised. */
  raise(nowMs: number): void {
    for (const { type, object } of this.#stripe.books.takeEvents()) {
      const intentId = "payment_intent" in object ? String(object.payment_intent) : undefined;
      const found = this.#owners.get(intentId ?? "");
      this.#send(found?.account, nowMs, [type, object], () => {
        if (found) this.#seeRefunds(found.account, found.payment);
      });
    }
  }
  readonly #owners = new Map<string, { readonly account: AccountYear; readonly payment: PaymentYear }>();

  /** Remembers whose payment it is. */
  own(account: AccountYear, payment: PaymentYear): void {
    account.payments.push(payment);
    this.#owners.set(payment.intentId, { account, payment });
  }

  /** Takes the events that arrive at a time: those of one account in the drawn order. */
  async arrive(
    nowMs: number,
  ): Promise<readonly { readonly act: Act; readonly accountId: string; reckon(): void }[]> {
    const due = [...this.#under].filter(({ atMs }) => atMs <= nowMs);
    for (const each of due) this.#under.delete(each);
    return Promise.all(
      due.map(async ({ body, accountId, reckon }) => {
        const signature = await signEvent(body, { atMs: nowMs });
        return { act: { kind: "event", body, signature }, accountId, reckon } as const;
      }),
    );
  }

  #report({ id, payment, account }: Dispute, type: string, status: string, nowMs: number): void {
    const object = { id, object: "dispute", payment_intent: payment.intentId };
    const amounts = { amount: payment.cents, currency: "usd", status };
    const kind = `dispute of payment ${payment.topUpId}`;
    const seen = {
      id,
      amount: BigInt(payment.cents) * CENT,
      reason: kind,
      end: "won",
      isGiven: status !== "won",
    };
    this.#send(account, nowMs, [type, { ...object, ...amounts }], () => this.#see(account, payment, seen));
  }

  /** Refunds are read from Stripe's list, whatever event it was. */
  #seeRefunds(account: AccountYear, payment: PaymentYear): void {
    const { refunds } = this.#stripe.books;
    for (const { id, amount, status } of refunds.filter((each) => each.payment_intent === payment.intentId)) {
      const reason = `refund of payment ${payment.topUpId}`;
      const seen = { id, amount: BigInt(amount) * CENT, reason, end: "failed", isGiven: status !== "failed" };
      this.#see(account, payment, seen);
    }
  }

  #see(
    account: AccountYear,
    { topUpId: creditId }: PaymentYear,
    {
      id,
      amount,
      reason,
      end,
      isGiven,
    }: { id: string; amount: bigint; reason: string; end: string; isGiven: boolean },
  ): void {
    const before = this.#seen.get(id);
    if (before === "ended") return;
    this.#seen.set(id, isGiven ? "taken" : "ended");
    if (before === undefined && isGiven) account.expect(id, { amount: -amount, creditId, reason });
    if (before === "taken" && !isGiven)
      account.expect(`${id}:returned`, { amount, reason: `${reason}, ${end}` });
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
    reckon: () => void,
  ): void {
    const body = printObjectEvent(type, object);
    for (let times = this.#draw() < 0.5 ? 2 : 1; times > 0; times -= 1) {
      const atMs = nowMs + (this.#draw() < 0.4 ? 0 : this.#draw() * 5 * DAY_MS);
      this.#under.add({ atMs, accountId: account?.id ?? "", body, reckon });
    }
  }

  #id(prefix: string): string {
    this.#serial += 1;
    return `${prefix}${this.#serial}`;
  }
}
