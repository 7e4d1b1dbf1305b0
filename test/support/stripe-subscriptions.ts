// Subscriptions of the scripted Stripe: prices, pages, invoices and what time does to them. As strict as Stripe: a
// parameter that it does not know is an error, and an event carries its object as it was when the event was raised.
import { type Answer, listOf, missing, refused } from "./stripe-answers.ts";

export interface Price {
  readonly id: string;
  readonly object: "price";
  readonly unit_amount: number;
  readonly currency: string;
  readonly recurring: { readonly interval: "month" | "day"; readonly interval_count: number };
}

/** What the card of a customer does. */
export type PayerBehaviour = "ok" | "declined";

/** What changes of a price do to the running period. */
export type Proration = "none" | "create_prorations" | "always_invoice";

export interface StripeSubscription {
  readonly id: string;
  readonly object: "subscription";
  status: "incomplete" | "active" | "past_due" | "unpaid" | "canceled" | "incomplete_expired";
  readonly metadata: Readonly<Record<string, string>>;
  readonly customer: string;
  readonly created: number;
  readonly billing_cycle_anchor: number;
  cancel_at_period_end: boolean;
  cancel_at: number | null;
  canceled_at: number | null;
  ended_at: number | null;
  pause_collection: { readonly behavior: string; readonly resumes_at: null } | null;
  items: { readonly object: "list"; readonly has_more: false; readonly data: [SubscriptionItem] };
}

interface SubscriptionItem {
  readonly id: string;
  readonly object: "subscription_item";
  price: Price;
  quantity: number;
  current_period_start: number;
  current_period_end: number;
}

interface Line {
  readonly amount: number;
  readonly period: { readonly start: number; readonly end: number };
  readonly price: string;
  readonly proration: boolean;
}

export interface StripeInvoice {
  readonly id: string;
  readonly object: "invoice";
  readonly subscription: string;
  status: "open" | "paid" | "void";
  readonly billing_reason: "subscription_create" | "subscription_cycle" | "subscription_update";
  readonly created: number;
  readonly total: number;
  /** What a balance of the customer pays. */
  readonly balance: number;
  readonly lines: readonly Line[];
  amount_paid: number;
  paid_at: number | null;
  intent: string | null;
  attempts: number;
  next_attempt: number | null;
}

interface Host {
  nowMs(): number;
  id(prefix: string): string;
  raise(type: string, object: object): void;
  /** Receives a payment. Returns its PaymentIntent. */
  receive(amount: number, customer: string): string;
}

interface Page {
  readonly id: string;
  readonly form: URLSearchParams;
  readonly metadata: Readonly<Record<string, string>>;
  status: "open" | "complete" | "expired";
  subscription: string | null;
}

const DAY_S = 86_400;
/** A renewal's invoice stays a draft for an hour. */
const DRAFT_S = 3_600;
/** Days until a failed payment is tried again. After the last one, the subscription ends. */
const RETRY_DAYS = [3, 5, 7];

const PAGE_PARAMETERS =
  /^(mode|client_reference_id|metadata\[\w+\]|subscription_data\[metadata\]\[\w+\]|line_items\[0\]\[(quantity|price|price_data\]\[(currency|unit_amount|tax_behavior|product_data\]\[name|recurring\]\[interval(_count)?))\]|customer|customer_update\[address\]|automatic_tax\[enabled\]|success_url|cancel_url)$/;
const UPDATE_PARAMETERS = /^(cancel_at_period_end|pause_collection(\[behavior\])?)$/;
const LIST_PARAMETERS = /^(limit|starting_after|subscription|status|expand\[\d\]|payment\[\w+\])$/;

export class StripeSubscriptions {
  readonly prices = new Map<string, Price>();
  readonly subscriptions = new Map<string, StripeSubscription>();
  readonly invoices = new Map<string, StripeInvoice>();
  readonly behaviours = new Map<string, PayerBehaviour>();
  /** What customers have at Stripe, in cents. */
  readonly balances = new Map<string, number>();
  readonly pages = new Map<string, Page>();
  /** What happens after the last retry of a failed payment. */
  afterRetries: "canceled" | "unpaid" = "canceled";
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /** Makes a price, as in Stripe's dashboard. */
  addPrice(amount: number, interval: "month" | "day" = "month", count = 1): Price {
    const recurring = { interval, interval_count: count };
    const price: Price = {
      id: this.#host.id("price"),
      object: "price",
      unit_amount: amount,
      currency: "usd",
      recurring,
    };
    this.prices.set(price.id, price);
    return price;
  }

  /** Pays on the page of a session. Returns the subscription, or `undefined` where the card is declined. */
  buy(sessionId: string, behaviour: PayerBehaviour = "ok"): StripeSubscription | undefined {
    const page = this.pages.get(sessionId);
    if (page?.status !== "open") throw new Error("no open page");
    if (behaviour !== "ok") return undefined;
    const subscription = this.#begin(page);
    page.status = "complete";
    page.subscription = subscription.id;
    this.#host.raise("checkout.session.completed", this.#showPage(page));
    return subscription;
  }

  /** Lets time pass: periods begin, payments are tried, subscriptions end, each at its time. */
  advance(toMs: number, onStep: (nowMs: number) => void = () => undefined): void {
    for (;;) {
      const due = [...this.subscriptions.values()].flatMap((each) => this.#dueOf(each));
      const next = due.toSorted((one, other) => one.atS - other.atS)[0];
      if (!next || next.atS * 1000 > toMs) return;
      onStep(next.atS * 1000);
      next.act();
    }
  }

  /** Changes the price, as the customer portal or the dashboard does. */
  changePrice(id: string, priceId: string, proration: Proration): void {
    const subscription = this.#require(id);
    const item = subscription.items.data[0];
    const price = this.prices.get(priceId);
    if (!price) throw new Error("no such price");
    const before = item.price;
    item.price = price;
    if (proration !== "none") this.#prorate(subscription, before, proration);
    this.#updated(subscription);
  }

  cancelAtPeriodEnd(id: string, isEnding = true): void {
    const subscription = this.#require(id);
    subscription.cancel_at_period_end = isEnding;
    subscription.cancel_at = isEnding ? subscription.items.data[0].current_period_end : null;
    subscription.canceled_at = isEnding ? this.#nowS() : null;
    this.#updated(subscription);
  }

  cancel(id: string): void {
    this.#end(this.#require(id), this.#nowS());
  }

  /** Pays an open invoice now, as its customer does on Stripe's page. */
  pay(invoice: StripeInvoice): void {
    this.#receive(invoice, this.#nowS());
  }

  /** All invoices of a subscription, the oldest first. */
  invoicesOf(subscriptionId: string): readonly StripeInvoice[] {
    return this.#invoicesOf.get(subscriptionId) ?? [];
  }
  readonly #invoicesOf = new Map<string, StripeInvoice[]>();

  openInvoices(subscriptionId: string): readonly StripeInvoice[] {
    return this.invoicesOf(subscriptionId).filter(({ status }) => status === "open");
  }

  /** Answers a call; `undefined` for a path or page that is not of subscriptions. */
  answer(method: string, path: string, form: URLSearchParams): Answer | undefined {
    const [root, id, verb, more] = path.replace(/^\/v1\//, "").split("/");
    if (root === "checkout") return this.#answerPage(method, { id: verb, verb: more }, form);
    if (root === "billing_portal") return this.#openPortal(form);
    const unknown = method === "GET" && [...form.keys()].find((name) => !LIST_PARAMETERS.test(name));
    if (root === "invoices" || root === "invoice_payments" || root === "subscriptions") {
      if (unknown) return refused(400, { code: "parameter_unknown", param: unknown });
    }
    if (root === "invoices" && id !== undefined) {
      const invoice = this.invoices.get(id);
      return invoice ? { status: 200, body: this.#showInvoice(invoice) } : missing("invoice");
    }
    if (root === "invoices") return this.#listInvoices(form);
    if (root === "invoice_payments") return this.#listPayments(form);
    if (root !== "subscriptions") return undefined;
    if (id === undefined) return this.#listSubscriptions(form);
    const subscription = this.subscriptions.get(id);
    if (!subscription) return missing("subscription");
    if (method === "POST") return this.#update(subscription, form);
    if (method === "DELETE") {
      if (subscription.ended_at !== null) return missing("subscription");
      this.#end(subscription, this.#nowS());
    }
    return { status: 200, body: subscription };
  }

  #answerPage(
    method: string,
    { id, verb }: { id?: string | undefined; verb?: string | undefined },
    form: URLSearchParams,
  ) {
    if (method === "POST" && id === undefined) {
      return form.get("mode") === "subscription" ? this.#createPage(form) : undefined;
    }
    const page = this.pages.get(id ?? "");
    if (!page) return undefined;
    if (verb === "expire") {
      if (page.status !== "open") return refused(400, {});
      page.status = "expired";
      this.#host.raise("checkout.session.expired", this.#showPage(page));
    }
    return { status: 200, body: this.#showPage(page) };
  }

  #createPage(form: URLSearchParams): Answer {
    const unknown = [...form.keys()].find((name) => !PAGE_PARAMETERS.test(name));
    if (unknown) return refused(400, { code: "parameter_unknown", param: unknown });
    const price = form.get("line_items[0][price]");
    if (price !== null && !this.prices.has(price)) return missing("price");
    const amount = Number(form.get("line_items[0][price_data][unit_amount]"));
    if (price === null && !(Number.isSafeInteger(amount) && amount >= 50)) return refused(400, {});
    const customer = form.get("customer");
    if (customer !== null && !this.behaviours.has(customer)) return missing("customer");
    const metadata = readNested(form, "metadata");
    const page: Page = { id: this.#host.id("cs_test"), form, metadata, status: "open", subscription: null };
    this.pages.set(page.id, page);
    return { status: 200, body: this.#showPage(page) };
  }

  #showPage({ id, metadata, status, subscription }: Page) {
    return {
      id,
      object: "checkout.session",
      mode: "subscription",
      url: status === "open" ? `https://checkout.stripe.com/c/pay/${id}` : null,
      status,
      payment_status: status === "complete" ? "paid" : "unpaid",
      subscription,
      payment_intent: null,
      metadata,
    };
  }

  #openPortal(form: URLSearchParams): Answer {
    const customer = form.get("customer") ?? "";
    const isKnown = this.behaviours.has(customer) && form.has("return_url") && [...form].length === 2;
    const url = `https://billing.stripe.com/p/session/${customer}`;
    return isKnown
      ? { status: 200, body: { object: "billing_portal.session", customer, url } }
      : missing("customer");
  }

  #begin(page: Page): StripeSubscription {
    const { form } = page;
    const priceId = form.get("line_items[0][price]");
    const read = (name: string) => form.get(`line_items[0][price_data]${name}`);
    const interval = read("[recurring][interval]") === "day" ? "day" : "month";
    const price =
      (priceId === null ? undefined : this.prices.get(priceId)) ??
      this.addPrice(Number(read("[unit_amount]")), interval, Number(read("[recurring][interval_count]")));
    const customer = form.get("customer") ?? this.#host.id("cus");
    this.behaviours.set(customer, "ok");
    const nowS = this.#nowS();
    const item: SubscriptionItem = {
      id: this.#host.id("si"),
      object: "subscription_item",
      price,
      quantity: 1,
      current_period_start: nowS,
      current_period_end: periodEnd(price, nowS, nowS),
    };
    const subscription: StripeSubscription = {
      id: this.#host.id("sub"),
      object: "subscription",
      status: "incomplete",
      metadata: readNested(form, "subscription_data[metadata]"),
      customer,
      created: nowS,
      billing_cycle_anchor: nowS,
      cancel_at_period_end: false,
      cancel_at: null,
      canceled_at: null,
      ended_at: null,
      pause_collection: null,
      items: { object: "list", has_more: false, data: [item] },
    };
    this.subscriptions.set(subscription.id, subscription);
    this.#host.raise("customer.subscription.created", structuredClone(subscription));
    const invoice = this.#invoice(subscription, "subscription_create", [this.#wholeLine(subscription)], nowS);
    this.#receive(invoice, nowS);
    return subscription;
  }

  #wholeLine({ items }: StripeSubscription): Line {
    const { price, current_period_start: start, current_period_end: end } = items.data[0];
    return { amount: price.unit_amount, period: { start, end }, price: price.id, proration: false };
  }

  #invoice(
    { id: subscription, customer }: StripeSubscription,
    billing_reason: StripeInvoice["billing_reason"],
    lines: readonly Line[],
    created: number,
  ): StripeInvoice {
    const pending = this.#pending.get(subscription) ?? [];
    this.#pending.delete(subscription);
    const all = [...pending, ...lines];
    const total = all.reduce((sum, { amount }) => sum + amount, 0);
    const had = this.balances.get(customer) ?? 0;
    const balance = Math.max(0, Math.min(had, total));
    // A negative invoice adds to the balance.
    this.balances.set(customer, had - (total < 0 ? total : balance));
    const invoice: StripeInvoice = {
      id: this.#host.id("in"),
      object: "invoice",
      subscription,
      status: "open",
      billing_reason,
      created,
      total,
      balance,
      lines: all,
      amount_paid: 0,
      paid_at: null,
      intent: null,
      attempts: 0,
      next_attempt: null,
    };
    this.invoices.set(invoice.id, invoice);
    this.#invoicesOf.set(subscription, [...this.invoicesOf(subscription), invoice]);
    return invoice;
  }
  readonly #pending = new Map<string, Line[]>();

  #receive(invoice: StripeInvoice, atS: number): void {
    const subscription = this.#require(invoice.subscription);
    const due = Math.max(0, invoice.total - invoice.balance);
    invoice.status = "paid";
    invoice.paid_at = atS;
    invoice.next_attempt = null;
    invoice.amount_paid = due;
    invoice.intent = due > 0 ? this.#host.receive(due, subscription.customer) : null;
    this.#host.raise("invoice.paid", this.#showInvoice(invoice));
    const isOwing = this.openInvoices(subscription.id).length > 0;
    if (subscription.ended_at === null && subscription.status !== "active" && !isOwing) {
      subscription.status = "active";
      this.#updated(subscription);
    }
  }

  /** What happens next to a subscription: the earliest of its own times. */
  #dueOf(subscription: StripeSubscription): readonly { readonly atS: number; act(): void }[] {
    const retries = this.openInvoices(subscription.id).flatMap((invoice) =>
      invoice.next_attempt === null
        ? []
        : [{ atS: invoice.next_attempt, act: () => this.#attempt(subscription, invoice) }],
    );
    if (subscription.ended_at !== null) return retries;
    const atS = subscription.items.data[0].current_period_end;
    return [...retries, { atS, act: () => this.#renew(subscription) }];
  }

  #renew(subscription: StripeSubscription): void {
    const item = subscription.items.data[0];
    const startS = item.current_period_end;
    if (subscription.cancel_at_period_end) {
      this.#end(subscription, startS);
      return;
    }
    item.current_period_start = startS;
    item.current_period_end = periodEnd(item.price, subscription.billing_cycle_anchor, startS);
    this.#updated(subscription);
    const invoice = this.#invoice(
      subscription,
      "subscription_cycle",
      [this.#wholeLine(subscription)],
      startS,
    );
    if (subscription.pause_collection) invoice.status = "void";
    // An unpaid subscription makes invoices that nobody is charged for.
    else if (subscription.status !== "unpaid") invoice.next_attempt = startS + DRAFT_S;
  }

  #attempt(subscription: StripeSubscription, invoice: StripeInvoice): void {
    const atS = invoice.next_attempt ?? this.#nowS();
    if (this.behaviours.get(subscription.customer) === "ok") {
      this.#receive(invoice, atS);
      return;
    }
    const days = RETRY_DAYS[invoice.attempts];
    invoice.attempts += 1;
    invoice.next_attempt = days === undefined ? null : atS + days * DAY_S;
    this.#host.raise("invoice.payment_failed", this.#showInvoice(invoice));
    if (subscription.ended_at !== null) return;
    if (days === undefined && this.afterRetries === "canceled") {
      this.#end(subscription, atS);
      return;
    }
    subscription.status = days === undefined ? "unpaid" : "past_due";
    this.#updated(subscription);
  }

  /** The invoices of an ended subscription are not collected by themselves; their customer may pay them. */
  #end(subscription: StripeSubscription, atS: number): void {
    subscription.status = "canceled";
    subscription.canceled_at ??= atS;
    subscription.ended_at = atS;
    for (const invoice of this.openInvoices(subscription.id)) invoice.next_attempt = null;
    this.#host.raise("customer.subscription.deleted", structuredClone(subscription));
  }

  /** The rest of the period at the former price is given back, and at the new one charged. */
  #prorate(subscription: StripeSubscription, before: Price, proration: Proration): void {
    const { price, current_period_start: start, current_period_end: end } = subscription.items.data[0];
    const nowS = this.#nowS();
    const period = { start: nowS, end };
    const part = (amount: number) => Math.round((amount * (end - nowS)) / (end - start));
    const lines = [
      { amount: -part(before.unit_amount), period, price: before.id, proration: true },
      { amount: part(price.unit_amount), period, price: price.id, proration: true },
    ];
    if (proration === "create_prorations") {
      this.#pending.set(subscription.id, [...(this.#pending.get(subscription.id) ?? []), ...lines]);
      return;
    }
    const invoice = this.#invoice(subscription, "subscription_update", lines, nowS);
    if (this.behaviours.get(subscription.customer) === "ok" || invoice.total <= 0)
      this.#receive(invoice, nowS);
    else {
      invoice.next_attempt = nowS;
      this.#attempt(subscription, invoice);
    }
  }

  #update(subscription: StripeSubscription, form: URLSearchParams): Answer {
    const unknown = [...form.keys()].find((name) => !UPDATE_PARAMETERS.test(name));
    if (unknown) return refused(400, { code: "parameter_unknown", param: unknown });
    if (subscription.ended_at !== null) return refused(400, { code: "resource_missing" });
    const ending = form.get("cancel_at_period_end");
    if (ending !== null) this.cancelAtPeriodEnd(subscription.id, ending === "true");
    const behavior = form.get("pause_collection[behavior]");
    if (behavior !== null) subscription.pause_collection = { behavior, resumes_at: null };
    if (form.get("pause_collection") === "") subscription.pause_collection = null;
    this.#updated(subscription);
    return { status: 200, body: subscription };
  }

  #listSubscriptions(form: URLSearchParams): Answer {
    return page([...this.subscriptions.values()].filter(({ ended_at }) => ended_at === null).reverse(), form);
  }

  #listInvoices(form: URLSearchParams): Answer {
    const [subscription, status] = [form.get("subscription"), form.get("status")];
    const known = subscription === null ? [...this.invoices.values()] : this.invoicesOf(subscription);
    const found = known.filter((each) => (status ?? each.status) === each.status);
    return page(
      found.reverse().map((each) => this.#showInvoice(each)),
      form,
    );
  }

  #listPayments(form: URLSearchParams): Answer {
    const intent = form.get("payment[payment_intent]");
    if (form.get("payment[type]") !== "payment_intent" || intent === null) return refused(400, {});
    const found = [...this.invoices.values()].filter((each) => each.intent === intent);
    return listOf(found.map((each) => ({ object: "invoice_payment", invoice: this.#showInvoice(each) })));
  }

  #showInvoice(invoice: StripeInvoice) {
    const { id, subscription, status, billing_reason, created, total, amount_paid, paid_at, intent } =
      invoice;
    const payment = { type: "payment_intent", payment_intent: intent };
    return {
      id,
      object: "invoice",
      status,
      billing_reason,
      created,
      currency: "usd",
      total,
      total_taxes: [],
      amount_paid,
      amount_due: Math.max(0, total - invoice.balance),
      hosted_invoice_url: `https://invoice.stripe.com/i/${id}`,
      status_transitions: { paid_at },
      parent: { type: "subscription_details", subscription_details: { subscription, metadata: {} } },
      payments: {
        object: "list",
        has_more: false,
        data: intent === null ? [] : [{ object: "invoice_payment", status: "paid", payment }],
      },
      lines: {
        object: "list",
        has_more: false,
        data: invoice.lines.map(({ amount, period, price, proration }, index) => ({
          id: `il_${id}_${index}`,
          object: "line_item",
          amount,
          period,
          pricing: { type: "price_details", price_details: { price, product: "prod_1" } },
          parent: {
            type: "subscription_item_details",
            subscription_item_details: { proration, subscription, subscription_item: "si_1" },
          },
        })),
      },
    };
  }

  #updated(subscription: StripeSubscription): void {
    this.#host.raise("customer.subscription.updated", structuredClone(subscription));
  }

  #require(id: string): StripeSubscription {
    const subscription = this.subscriptions.get(id);
    if (!subscription) throw new Error("no such subscription");
    return subscription;
  }

  #nowS(): number {
    return Math.floor(this.#host.nowMs() / 1000);
  }
}

/** The end of the period that begins at `startS`, counted from the anchor: a month that lacks the day has its last. */
function periodEnd(
  { recurring: { interval, interval_count: count } }: Price,
  anchorS: number,
  startS: number,
): number {
  if (interval === "day") return startS + count * DAY_S;
  for (let months = count; ; months += count) {
    const endS = addMonths(anchorS, months);
    if (endS > startS) return endS;
  }
}

function addMonths(anchorS: number, months: number): number {
  const anchor = new Date(anchorS * 1000);
  const [year, month] = [anchor.getUTCFullYear(), anchor.getUTCMonth() + months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return Date.UTC(year, month, Math.min(anchor.getUTCDate(), lastDay)) / 1000 + (anchorS % DAY_S);
}

function page(all: readonly { readonly id: string }[], form: URLSearchParams): Answer {
  const after = form.get("starting_after");
  const from = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
  const limit = Number(form.get("limit") ?? 10);
  const data = all.slice(from, from + limit);
  const has_more = all.length > from + limit;
  return { status: 200, body: { object: "list", data, has_more, url: "/v1/list" } };
}

function readNested(form: URLSearchParams, name: string): Record<string, string> {
  const prefix = `${name}[`;
  const entries = [...form].filter(([key]) => key.startsWith(prefix));
  return Object.fromEntries(entries.map(([key, value]) => [key.slice(prefix.length, -1), value]));
}
