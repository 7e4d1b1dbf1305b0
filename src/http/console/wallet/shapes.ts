// The schemas of wallet and payments: what the routes take and answer.
import { t } from "elysia";
import { CREDIT_SOURCES } from "../../../domain/credit.ts";
import { CREDIT_ORDERS } from "../../../payments/find-credits.ts";
import { id, listQuery, oneOf, pageOf, pageQuery, time, usd } from "../shapes.ts";

const transferKind = oneOf([
  "top_up",
  "correction",
  "settlement",
  "expiry_capture",
  "late_settlement",
  "refund",
  "charge",
  "credit_expiry",
]);

export const transfersQuery = t.Composite([
  pageQuery,
  t.Object({ from: t.Optional(time), to: t.Optional(time), kind: t.Optional(transferKind) }),
]);

/** A calendar month in UTC: "2026-11". */
export const month = t.String({ pattern: "^\\d{4}-(0[1-9]|1[0-2])$", description: "a UTC month: 2026-11" });

export const creditSource = oneOf(CREDIT_SOURCES);

/** When a credit ends; null or missing for never. */
export const creditEnd = t.Optional(t.Nullable(time));

const credit = t.Object({
  seq: t.Integer({ description: "the number of the transfer that granted it" }),
  id: t.String({ description: "of the top-up or refund that granted it" }),
  source: creditSource,
  left_usd: usd,
  expires_at: t.Nullable(time),
  state: oneOf(["live", "ended", "spent"]),
  amount_usd: usd,
  expired_usd: t.String({ description: "what it lost at its end" }),
  created_at: time,
});

export const walletShape = t.Object({
  posted_usd: usd,
  held_usd: usd,
  credit_usd: usd,
  available_usd: usd,
  running: t.Integer({ description: "open holds" }),
  oldest_hold_at: t.Nullable(time),
  spent_today_usd: usd,
  spent_month_usd: usd,
  runway_days: t.Nullable(t.Number({ description: "days until nothing is available, at the 7-day rate" })),
  totals: t.Object({ topped_up_usd: usd, charged_usd: usd, refunded_usd: usd, expired_usd: usd }),
  credits: t.Array(credit, { description: "up to 20 that can be spent, in the order of spending" }),
  next_end: t.Nullable(
    t.Object({ at: time, amount_usd: usd }, { description: "what expires next, unless it is spent before" }),
  ),
  state: oneOf(["active", "frozen"]),
});

export const creditsQuery = t.Composite([
  listQuery(...CREDIT_ORDERS),
  t.Object({ live: t.Optional(t.Boolean()) }),
]);

export const creditsShape = pageOf(credit);

export const transfersShape = pageOf(
  t.Object({
    seq: t.Integer(),
    at: time,
    kind: transferKind,
    id: t.String(),
    amount_usd: usd,
    balance_after_usd: usd,
    request_id: t.Nullable(t.String()),
    reason: t.Nullable(
      t.String({
        description: "of a correction, or of what gives it back; of the end of a credit, the credit's id",
      }),
    ),
    has_receipt: t.Boolean({ description: "a payment at Stripe, which has a receipt there" }),
  }),
);

export const holdsShape = pageOf(
  t.Object({
    request_id: t.String(),
    key_id: t.String(),
    key_name: t.Nullable(t.String()),
    model: t.String(),
    granted_usd: usd,
    accrued_usd: usd,
    created_at: time,
    expires_at: time,
  }),
);

export const statementsShape = t.Object({
  items: t.Array(t.Object({ month, opening_usd: usd, closing_usd: usd, lines: t.Integer() })),
});

export const chargebackBy = oneOf(["project", "member", "key"], {
  description: "what the statement is split by",
});

const transferSums = {
  charged_usd: usd,
  refunded_usd: usd,
  topped_up_usd: usd,
  expired_usd: t.String({ description: "what credits lost at their ends" }),
  other_usd: t.String({ description: "corrections" }),
  change_usd: t.String({ description: "of the balance; the sum of all lines is closing less opening" }),
  transfers: t.Integer(),
};

/** The statement of a month, split by project, member or key. */
export const chargebackShape = t.Object({
  month,
  is_running: t.Boolean({ description: "the month is not over: its closing is that of now" }),
  by: chargebackBy,
  opening_usd: usd,
  closing_usd: usd,
  lines: t.Array(
    t.Object({
      kind: t.String({
        description:
          "project, member or key; none: receipts without one; dropped_receipts; wallet: top-ups, corrections and ends of credits",
      }),
      id: t.Nullable(t.String()),
      name: t.Nullable(t.String()),
      ...transferSums,
    }),
  ),
  total: t.Object(transferSums),
});

export const proofShape = t.Object({
  checked_at: time,
  top_ups_usd: usd,
  charges_usd: usd,
  refunds_usd: usd,
  expired_usd: usd,
  computed_posted_usd: usd,
  posted_usd: usd,
  held_sum_usd: usd,
  held_usd: usd,
  transfers: t.Integer(),
  open_holds: t.Integer(),
  is_busy: t.Boolean({ description: "the wallet changed too often for its holds to be compared" }),
  ok: t.Boolean(),
});

/** 20 symbols of Crockford's base 32, with any separators that a person may type. */
export const redeemBody = t.Object({ code: t.String({ minLength: 1, maxLength: 100 }) });

export const checkoutBody = t.Object({
  amount_usd: t.String({ pattern: "^\\d{1,5}(\\.\\d{1,2})?$", description: "USD from 5.00 to 10000.00" }),
});

export const newCheckoutShape = t.Object({ id, url: t.String() });

export const checkoutShape = t.Object({
  id,
  amount_usd: usd,
  state: oneOf(["open", "paid", "expired"]),
});

export const paymentShape = t.Object({
  id,
  receipt_url: t.Nullable(t.String()),
  invoice_url: t.Nullable(t.String()),
});

/** Amounts in whole cents, or to the nano where they are compared alone. */
export const autoTopUpBody = t.Object({
  is_on: t.Boolean(),
  below_usd: t.String({ pattern: "^\\d{1,5}(\\.\\d{1,9})?$", description: "USD from 0 to 10000" }),
  amount_usd: t.String({ pattern: "^\\d{1,5}(\\.\\d{1,2})?$", description: "USD from 5.00 to 10000.00" }),
  month_max_usd: t.String({ pattern: "^\\d{1,6}(\\.\\d{1,2})?$", description: "USD up to 100000.00" }),
});

export const autoTopUpShape = t.Object({
  is_offered: t.Boolean({ description: "payments are set up, and Stripe adds no taxes to them" }),
  state: oneOf(["on", "stopped", "off", "no_card"]),
  text: t.String({ description: "what happens next, in one sentence" }),
  card: t.Nullable(t.String({ description: "visa 4242" })),
  below_usd: t.Nullable(usd),
  amount_usd: t.Nullable(usd),
  month_max_usd: t.Nullable(usd),
  month_usd: t.String({ description: "what counts against the maximum of this UTC month" }),
  last: t.Nullable(
    t.Object({
      at: time,
      amount_usd: usd,
      state: oneOf(["pending", "paid", "failed"]),
      failure: t.Nullable(t.String({ description: "in Stripe's words: insufficient_funds" })),
      id: t.Nullable(t.String({ description: "of its top-up" })),
    }),
  ),
});

export const webhookShape = t.Object({ received: t.Literal(true) });
