/**
 * What a provider of payments does for wallets. Stripe implements it in this process; a provider of the operator's own
 * stands outside, and does the same by signed calls.
 */
export interface PaymentProvider<Order, Page, Event, Refund> {
  /** Create: opens a page on which a person pays an order. Credits nothing. */
  createPage(order: Order): Promise<Page>;
  /** Confirm: reads a signed event, such as that an order is paid. `undefined` for one that concerns no payment. */
  readEvent(event: SignedEvent): Promise<Event | undefined>;
  /** Refund: what the payer of a payment has back, the oldest first. */
  listRefunds(paymentId: string): Promise<readonly Refund[]>;
  /** Reconcile: finds the order that a payment was made for. */
  findSession(paymentId: string): Promise<string | undefined>;
}

/** An event as it was sent. */
interface SignedEvent {
  readonly body: Uint8Array;
  /** The header that signs it. */
  readonly signature: string | undefined;
  readonly nowMs: number;
}
