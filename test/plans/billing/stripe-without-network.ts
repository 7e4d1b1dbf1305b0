import { Stripe } from "stripe";
import { createPlanBilling, type PlanBilling } from "../../../src/payments/stripe-billing.ts";
import { StripeBooks } from "../../support/stripe-books.ts";

/** What happens to one call: nothing, no answer before its effect, or none after it. */
export type CallTrouble = "none" | "lost_before" | "lost_after";

/** The official library with a scripted Stripe behind it, without a network: one call of a test takes microseconds. */
export function stripeWithoutNetwork(nowMs: () => number, trouble: () => CallTrouble = () => "none") {
  const books = new StripeBooks();
  books.nowMs = nowMs;
  const keys = new Map<string, { readonly status: number; readonly body: unknown }>();
  const answerOf = async (url: string, { method = "GET", body, headers }: RequestInit) => {
    const kind = trouble();
    if (kind === "lost_before") throw new Error("connection lost before the call");
    const { pathname, searchParams } = new URL(url);
    const form = method === "GET" ? searchParams : new URLSearchParams(String(body ?? ""));
    const key = new Headers(headers).get("idempotency-key") ?? "";
    const kept = keys.get(key);
    const answer = kept ?? books.answer(method, pathname, form) ?? { status: 404, body: { error: {} } };
    if (key !== "") keys.set(key, answer);
    if (kind === "lost_after") throw new Error("connection lost before the answer");
    return Response.json(answer.body, { status: answer.status });
  };
  const httpClient = Stripe.createFetchHttpClient(answerOf as typeof fetch);
  const library = new Stripe("sk_test_key", { httpClient, telemetry: false, maxNetworkRetries: 0 });
  const stripe: PlanBilling = createPlanBilling(async () => library);
  return { books, billing: books.billing, stripe };
}
