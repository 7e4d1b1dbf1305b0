import { Stripe } from "stripe";
import { type Answer, refused, STRIPE_TEXT } from "./stripe-answers.ts";
import { StripeBooks } from "./stripe-books.ts";

export { STRIPE_TEXT } from "./stripe-answers.ts";

/** What happens to calls of payments: no effect at all, or an error after the effect, which its key then repeats. */
type Trouble = "down" | "error_after";

/** A scripted server of Stripe's API: it creates checkout sessions and remembers what it was asked. */
export interface ScriptedStripe {
  /** Its cards, payments and refunds. */
  readonly books: StripeBooks;
  /** Troubles the calls of payments until it is told otherwise. */
  trouble(kind: Trouble | undefined): void;
  /** Forgets the idempotency keys, as Stripe does after 24 hours. */
  forgetKeys(): void;
  /** "http://127.0.0.1:PORT". */
  readonly url: string;
  /** The forms of all calls that created a session, repeated calls of one idempotency key included. */
  readonly calls: readonly CreateCall[];
  /** Answers the next calls with this status and a text that must appear nowhere. */
  failWith(status: number | undefined): void;
  /** Runs before a created session is answered. */
  beforeAnswer(hook: ((session: CheckoutSession) => Promise<void>) | undefined): void;
  stop(): Promise<void>;
}

interface CreateCall extends Call {
  readonly authorization: string;
}

export interface CheckoutSession {
  readonly id: string;
  readonly object: "checkout.session";
  readonly url: string;
  readonly amount_total: number;
  readonly currency: string;
  readonly mode: string;
  readonly payment_status: "paid" | "unpaid";
  readonly metadata: Readonly<Record<string, string>>;
}

export const WEBHOOK_SECRET = "whsec_dGVzdA";

export function startScriptedStripe(): ScriptedStripe {
  const books = new StripeBooks();
  const calls: CreateCall[] = [];
  const sessions = new Map<string, CheckoutSession>();
  const keys = new Map<string, Kept>();
  let status: number | undefined;
  let trouble: Trouble | undefined;
  let hook: ((session: CheckoutSession) => Promise<void>) | undefined;

  /** Answers a call of anything but a page of payment, once per idempotency key. */
  function answerOnce(call: Call): Answer | undefined {
    const { method, path, form, idempotencyKey } = call;
    if (method !== "POST") return books.answer(method, path, form);
    // A call without a key must be safe to repeat.
    if (idempotencyKey === "" && !/\/(cancel|detach|expire)$/.test(path))
      return refused(400, { code: "key_missing" });
    const parameters = `${path}?${form}`;
    const kept = keys.get(idempotencyKey);
    if (kept && kept.parameters !== parameters) return refused(400, { type: "idempotency_error" });
    if (kept) return kept.answer;
    const done = books.answer(method, path, form);
    const answer = done && isTroubled(path) ? { ...refused(500, {}), status: 500 } : done;
    if (answer && idempotencyKey !== "") keys.set(idempotencyKey, { parameters, answer });
    return answer;
  }

  const isPayment = (path: string) => path.startsWith("/v1/payment_intents");
  const isTroubled = (path: string) => trouble === "error_after" && isPayment(path);

  function answerTroubled(call: Call): Response | undefined {
    if (trouble === "down" && isPayment(call.path)) return failure(503);
    const answer = answerOnce(call);
    return answer && Response.json(answer.body, { status: answer.status });
  }

  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const url = new URL(request.url);
      const { method } = request;
      const form = method === "GET" ? url.searchParams : new URLSearchParams(await request.text());
      const idempotencyKey = request.headers.get("idempotency-key") ?? "";
      const call = { method, path: url.pathname, form, idempotencyKey };
      const isPage = method === "POST" && url.pathname === "/v1/checkout/sessions";
      if (method === "POST") {
        calls.push({ ...call, authorization: request.headers.get("authorization") ?? "" });
      }
      if (status !== undefined) return failure(status);
      const answer = answerTroubled(call);
      if (answer) return answer;
      if (!isPage) return Response.json(refused(404, {}).body, { status: 404 });
      const session = sessions.get(idempotencyKey) ?? createSession(form);
      sessions.set(idempotencyKey, session);
      await hook?.(session);
      return Response.json(session);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    books,
    calls,
    trouble(next) {
      trouble = next;
    },
    forgetKeys: () => keys.clear(),
    failWith(next) {
      status = next;
    },
    beforeAnswer(next) {
      hook = next;
    },
    stop: () => server.stop(true),
  };
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly form: URLSearchParams;
  readonly idempotencyKey: string;
}

interface Kept {
  readonly parameters: string;
  readonly answer: Answer;
}

function failure(status: number): Response {
  const error = { type: "invalid_request_error", code: "canary_code", message: STRIPE_TEXT };
  return Response.json({ error }, { status });
}

function createSession(form: URLSearchParams): CheckoutSession {
  const id = `cs_test_${Bun.randomUUIDv7().replaceAll("-", "")}`;
  return {
    id,
    object: "checkout.session",
    url: `https://checkout.stripe.com/c/pay/${id}`,
    amount_total: Number(form.get("line_items[0][price_data][unit_amount]")),
    currency: form.get("line_items[0][price_data][currency]") ?? "",
    mode: form.get("mode") ?? "",
    payment_status: "unpaid",
    metadata: { tollgate_order: form.get("metadata[tollgate_order]") ?? "" },
  };
}

export interface EventOptions {
  readonly type?: string;
  /** Members of the session that the event reports otherwise. */
  readonly session?: Readonly<Record<string, unknown>>;
}

/** The body of an event about a session, by default that it was paid. */
export function printEvent(session: CheckoutSession, options: EventOptions = {}): string {
  const { type = "checkout.session.completed", session: changes = {} } = options;
  return printObjectEvent(type, { ...session, payment_status: "paid", ...changes });
}

/** The body of an event about any object. */
export function printObjectEvent(type: string, object: object): string {
  const id = `evt_${Bun.randomUUIDv7()}`;
  return JSON.stringify({ id, object: "event", type, data: { object } }, null, 2);
}

/** Returns the header `stripe-signature` of a body, made by Stripe's own library. */
export function signEvent(
  body: string,
  { secret = WEBHOOK_SECRET, atMs = Date.now() }: { readonly secret?: string; readonly atMs?: number } = {},
): Promise<string> {
  const timestamp = Math.floor(atMs / 1000);
  return new Stripe("sk_test_none").webhooks.generateTestHeaderStringAsync({
    payload: body,
    secret,
    timestamp,
  });
}
