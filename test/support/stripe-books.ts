// The state of the scripted Stripe: cards, payments and refunds, and the events that they raise. It is strict: a
// parameter that it does not know, a call without an idempotency key and a key with other parameters are errors.

import { type Answer, listOf, missing, refused } from "./stripe-answers.ts";
import { StripeSubscriptions } from "./stripe-subscriptions.ts";

/** What a saved card does when it is charged. */
export type CardBehaviour =
  | "ok"
  | "processing"
  | "requires_action"
  | "authentication_required"
  | (string & {});

export interface Intent {
  readonly id: string;
  readonly object: "payment_intent";
  amount: number;
  amount_received: number;
  currency: string;
  customer: string;
  status: string;
  created: number;
  metadata: Record<string, string>;
  last_payment_error: { readonly code: string; readonly decline_code?: string } | null;
  latest_charge: { readonly id: string; readonly receipt_url: string } | null;
}

export interface Refund {
  readonly id: string;
  readonly object: "refund";
  readonly amount: number;
  readonly currency: string;
  readonly payment_intent: string;
  status: string;
}

interface Card {
  readonly customer: string;
  behaviour: CardBehaviour;
}

const CHARGE_PARAMETERS =
  /^(amount|currency|customer|payment_method|off_session|confirm|return_url|description|metadata\[\w+\])$/;
const SETUP_PARAMETERS =
  /^(mode|currency|client_reference_id|metadata\[\w+\]|customer|customer_creation|success_url|cancel_url)$/;

export class StripeBooks {
  nowMs: () => number = Date.now;
  readonly cards = new Map<string, Card>();
  readonly intents = new Map<string, Intent>();
  readonly refunds: Refund[] = [];
  /** The sessions of payments, for their lists: by PaymentIntent. */
  readonly sessionsOf = new Map<string, { readonly id: string; readonly invoice?: object }>();
  /** Events that were raised and not taken, as Stripe would send them. */
  #events: { readonly type: string; readonly object: object }[] = [];
  /** Subscriptions, their invoices and pages. */
  readonly billing = new StripeSubscriptions({
    nowMs: () => this.nowMs(),
    id: (prefix) => this.#id(prefix),
    raise: (type, object) => this.#raise(type, object),
    receive: (amount, customer) => this.#addReceived(amount, customer),
  });
  readonly #setups = new Map<string, { readonly setup: string; readonly session: object }>();
  #serial = 0;

  /** Makes a card of a new customer, as if its owner had saved it. */
  addCard(behaviour: CardBehaviour = "ok", customer = this.#id("cus")): { customer: string; card: string } {
    const card = this.#id("pm");
    this.cards.set(card, { customer, behaviour });
    return { customer, card };
  }

  setBehaviour(card: string, behaviour: CardBehaviour): void {
    const known = this.cards.get(card);
    if (known) known.behaviour = behaviour;
  }

  /** Returns the raised events, and forgets them. */
  takeEvents(): readonly { readonly type: string; readonly object: object }[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** Finishes the page of a setup session: its owner saves a card. Returns the event. */
  finishSetup(sessionId: string, behaviour: CardBehaviour = "ok") {
    const known = this.#setups.get(sessionId);
    if (!known) throw new Error("no such session");
    const { card, customer } = this.addCard(behaviour);
    this.#methodOf.set(known.setup, { card, customer });
    const object = { ...known.session, setup_intent: known.setup, payment_status: "no_payment_required" };
    return { type: "checkout.session.completed", object };
  }
  readonly #methodOf = new Map<string, { readonly card: string; readonly customer: string }>();

  /** Ends a payment that was processing, days after it was made. */
  finish(intent: Intent, status: "succeeded" | "requires_payment_method"): void {
    intent.status = status;
    if (status === "succeeded") this.#receive(intent);
    else this.#decline(intent, { code: "payment_intent_payment_attempt_failed" });
  }

  /** Adds a payment that nobody has confirmed. */
  addIntent(id: string, amount: number): Intent {
    const intent: Intent = {
      id,
      object: "payment_intent",
      amount,
      amount_received: 0,
      currency: "usd",
      customer: "",
      status: "requires_confirmation",
      created: Math.floor(this.nowMs() / 1000),
      metadata: {},
      last_payment_error: null,
      latest_charge: null,
    };
    this.intents.set(id, intent);
    return intent;
  }

  /** Refunds a part of a payment, as in Stripe's dashboard. Raises `charge.refunded`. */
  refund(intentId: string, amount: number): Refund {
    const refund: Refund = {
      id: this.#id("re"),
      object: "refund",
      amount,
      currency: "usd",
      payment_intent: intentId,
      status: "succeeded",
    };
    this.refunds.unshift(refund);
    const ofIntent = this.refunds.filter(({ payment_intent: intent }) => intent === intentId);
    const refunded = ofIntent.reduce((sum, each) => sum + each.amount, 0);
    const charge = { id: `ch_${intentId}`, object: "charge", payment_intent: intentId };
    this.#raise("charge.refunded", { ...charge, amount_refunded: refunded, currency: "usd" });
    return refund;
  }

  failRefund(refund: Refund): void {
    refund.status = "failed";
    this.#raise("refund.failed", { ...refund });
  }

  /** Answers a call; `undefined` for a path that is not scripted here. */
  answer(method: string, path: string, form: URLSearchParams): Answer | undefined {
    const billed = this.billing.answer(method, path, form);
    if (billed) return billed;
    const [root = "", id, verb] = path.replace(/^\/v1\//, "").split("/");
    if (root === "checkout" && method === "POST" && form.get("mode") === "setup") return this.#setup(form);
    if (root === "checkout" && method === "GET") return this.#readSessions(path, form);
    if (root === "setup_intents") return this.#readSetup(id ?? "");
    if (root === "refunds") return this.#listRefunds(form);
    if (root === "payment_methods" && verb === "detach") return this.#detach(id ?? "");
    if (root !== "payment_intents") return undefined;
    if (method === "POST" && id === undefined) return this.#charge(form);
    if (method === "GET" && id === undefined) return this.#listIntents(form);
    const intent = this.intents.get(id ?? "");
    if (!intent) return missing("payment_intent");
    if (verb === "cancel") {
      if (intent.status === "succeeded") return refused(400, { code: "payment_intent_unexpected_state" });
      intent.status = "canceled";
      this.#raise("payment_intent.canceled", { ...intent });
    }
    return { status: 200, body: intent };
  }

  /** A payment that has paid an invoice. Returns its id. */
  #addReceived(amount: number, customer: string): string {
    const intent = this.addIntent(this.#id("pi"), amount);
    intent.customer = customer;
    intent.status = "succeeded";
    this.#receive(intent);
    return intent.id;
  }

  #charge(form: URLSearchParams): Answer {
    const unknown = [...form.keys()].find((name) => !CHARGE_PARAMETERS.test(name));
    if (unknown) return refused(400, { code: "parameter_unknown", param: unknown });
    const card = this.cards.get(form.get("payment_method") ?? "");
    if (!card || card.customer !== form.get("customer")) return missing("payment_method");
    const amount = Number(form.get("amount"));
    const isWhole = Number.isSafeInteger(amount) && amount >= 50;
    const isOffSession = form.get("off_session") === "true" && form.get("confirm") === "true";
    if (!isWhole || !isOffSession || form.get("currency") !== "usd") return refused(400, {});
    const intent = this.addIntent(this.#id("pi"), amount);
    intent.customer = card.customer;
    intent.metadata = readMetadata(form);
    return this.#confirm(intent, card.behaviour);
  }

  #confirm(intent: Intent, behaviour: CardBehaviour): Answer {
    switch (behaviour) {
      case "ok":
        intent.status = "succeeded";
        this.#receive(intent);
        return { status: 200, body: intent };
      case "processing":
      case "requires_action":
        intent.status = behaviour;
        this.#raise(`payment_intent.${behaviour}`, { ...intent });
        return { status: 200, body: intent };
      case "authentication_required":
        return this.#decline(intent, { code: behaviour, decline_code: behaviour });
      default:
        return this.#decline(intent, { code: "card_declined", decline_code: behaviour });
    }
  }

  #receive(intent: Intent): void {
    intent.amount_received = intent.amount;
    intent.latest_charge = {
      id: `ch_${intent.id}`,
      receipt_url: `https://pay.stripe.com/receipts/${intent.id}`,
    };
    this.#raise("payment_intent.succeeded", { ...intent });
  }

  #decline(intent: Intent, error: { readonly code: string; readonly decline_code?: string }): Answer {
    intent.status = "requires_payment_method";
    intent.last_payment_error = error;
    this.#raise("payment_intent.payment_failed", { ...intent });
    return refused(402, { type: "card_error", ...error, payment_intent: intent });
  }

  #setup(form: URLSearchParams): Answer {
    const unknown = [...form.keys()].find((name) => !SETUP_PARAMETERS.test(name));
    if (unknown) return refused(400, { code: "parameter_unknown", param: unknown });
    if (form.has("customer") === form.has("customer_creation")) return refused(400, {});
    const id = this.#id("cs_test");
    const url = `https://checkout.stripe.com/c/setup/${id}`;
    const metadata = readMetadata(form);
    const session = { id, object: "checkout.session", mode: "setup", url, metadata };
    this.#setups.set(id, { setup: this.#id("seti"), session });
    return { status: 200, body: session };
  }

  #readSetup(id: string): Answer {
    const method = this.#methodOf.get(id);
    if (!method) return missing("setup_intent");
    const { card, customer } = method;
    const payment_method = { id: card, type: "card", card: { brand: "visa", last4: "4242" } };
    return {
      status: 200,
      body: { id, object: "setup_intent", status: "succeeded", customer, payment_method },
    };
  }

  #readSessions(path: string, form: URLSearchParams): Answer {
    const id = path.split("/")[4];
    const sessions = [...this.sessionsOf].map(([payment_intent, session]) => ({
      ...session,
      payment_intent,
    }));
    if (id === undefined) {
      return listOf(sessions.filter((session) => session.payment_intent === form.get("payment_intent")));
    }
    const session = sessions.find((each) => each.id === id);
    return session ? { status: 200, body: session } : missing("session");
  }

  #listRefunds(form: URLSearchParams): Answer {
    return listOf(this.refunds.filter((refund) => refund.payment_intent === form.get("payment_intent")));
  }

  #listIntents(form: URLSearchParams): Answer {
    const from = Number(form.get("created[gte]") ?? 0);
    const ofCustomer = [...this.intents.values()].filter(
      ({ customer, created }) => customer === form.get("customer") && created >= from,
    );
    return listOf(ofCustomer.reverse());
  }

  #detach(card: string): Answer {
    return this.cards.delete(card) ? { status: 200, body: { id: card } } : missing("payment_method");
  }

  #raise(type: string, object: object): void {
    this.#events.push({ type, object });
  }

  #id(prefix: string): string {
    this.#serial += 1;
    return `${prefix}_${this.#serial}${Bun.randomUUIDv7().replaceAll("-", "")}`;
  }
}

function readMetadata(form: URLSearchParams): Record<string, string> {
  const entries = [...form].flatMap(([name, value]) => {
    const member = /^metadata\[(\w+)\]$/.exec(name)?.[1];
    return member === undefined ? [] : [[member, value] as const];
  });
  return Object.fromEntries(entries);
}
