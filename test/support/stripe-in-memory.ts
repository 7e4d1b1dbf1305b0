import type { ChargeOrder, PaymentState, SavedCards } from "../../src/payments/stripe-cards.ts";
import { centsToNanos, nanosToCents } from "../../src/payments/stripe-library.ts";
import type { Intent, StripeBooks } from "./stripe-books.ts";

/** What happens to one call: nothing, no answer before its effect, or none after it. */
export type CallTrouble = "none" | "lost_before" | "lost_after";

/**
 * The saved cards of a scripted Stripe without a network, for tests with thousands of calls. Keys are kept until
 * `forgetKeys`. `trouble` decides about each call; "lost" calls throw, as in a process that dies.
 */
export function cardsInMemory(books: StripeBooks, trouble: () => CallTrouble) {
  const keys = new Map<string, PaymentState>();
  const call = async <Result>(effect: () => Result): Promise<Result> => {
    const kind = trouble();
    if (kind === "lost_before") throw new Error("killed before the call");
    const result = effect();
    // Another gateway may act before the answer arrives.
    await Promise.resolve();
    if (kind === "lost_after") throw new Error("killed before the answer");
    return result;
  };
  const charge = (order: ChargeOrder): PaymentState => {
    const kept = keys.get(order.orderId);
    if (kept) return kept;
    const form = new URLSearchParams({
      amount: String(nanosToCents(order.amount)),
      currency: "usd",
      customer: order.customerId,
      payment_method: order.paymentMethodId,
      off_session: "true",
      confirm: "true",
      "metadata[tollgate_auto_top_up]": order.orderId,
    });
    books.answer("POST", "/v1/payment_intents", form);
    const made = [...books.intents.values()].at(-1);
    const state: PaymentState = made ? stateOf(made) : { kind: "unknown", code: "none" };
    keys.set(order.orderId, state);
    return state;
  };
  const find = (orderId: string) =>
    [...books.intents.values()].find(({ metadata }) => metadata.tollgate_auto_top_up === orderId);
  const cards: SavedCards = {
    createCardPage: async () => ({ sessionId: "cs_none", url: "https://checkout.stripe.com/" }),
    readCard: async () => undefined,
    forgetCard: async () => undefined,
    charge: (order) => call(() => charge(order)),
    async findCharge({ orderId }) {
      const found = await call(() => find(orderId));
      return found && stateOf(found);
    },
    readCharge: (intentId) =>
      call((): PaymentState => {
        const intent = books.intents.get(intentId);
        return intent ? stateOf(intent) : { kind: "unknown", code: "missing" };
      }),
    cancelCharge: async (intentId) => {
      const kind = trouble();
      const intent = books.intents.get(intentId);
      if (kind === "none" && intent && intent.status !== "succeeded") intent.status = "canceled";
    },
  };
  return { cards, forgetKeys: () => keys.clear() };
}

function stateOf({ id: intentId, status, amount_received, currency }: Intent): PaymentState {
  if (status === "succeeded") {
    return { kind: "paid", intentId, amount: centsToNanos(amount_received), currency };
  }
  return status === "processing"
    ? { kind: "processing", intentId }
    : { kind: "refused", intentId, code: status };
}
