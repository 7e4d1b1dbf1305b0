import { Stripe } from "stripe";

/** A scripted server of Stripe's API: it creates checkout sessions and remembers what it was asked. */
export interface ScriptedStripe {
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

interface CreateCall {
  readonly form: URLSearchParams;
  readonly idempotencyKey: string;
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

/** A text of Stripe's that must reach no answer and no log. */
export const STRIPE_TEXT = "no-such-key-sk_test_canary";

export const WEBHOOK_SECRET = "whsec_dGVzdA";

export function startScriptedStripe(): ScriptedStripe {
  const calls: CreateCall[] = [];
  const sessions = new Map<string, CheckoutSession>();
  let status: number | undefined;
  let hook: ((session: CheckoutSession) => Promise<void>) | undefined;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const form = new URLSearchParams(await request.text());
      const idempotencyKey = request.headers.get("idempotency-key") ?? "";
      calls.push({ form, idempotencyKey, authorization: request.headers.get("authorization") ?? "" });
      if (status !== undefined) {
        const error = { type: "invalid_request_error", code: "canary_code", message: STRIPE_TEXT };
        return Response.json({ error }, { status });
      }
      const session = sessions.get(idempotencyKey) ?? createSession(form);
      sessions.set(idempotencyKey, session);
      await hook?.(session);
      return Response.json(session);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    calls,
    failWith(next) {
      status = next;
    },
    beforeAnswer(next) {
      hook = next;
    },
    stop: () => server.stop(true),
  };
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
  const object = { ...session, payment_status: "paid", ...changes };
  return JSON.stringify(
    { id: `evt_${Bun.randomUUIDv7()}`, object: "event", type, data: { object } },
    null,
    2,
  );
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
