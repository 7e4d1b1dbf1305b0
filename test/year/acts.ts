// What people, programs and Stripe do to the gateways of a year. Every act may be repeated after a death.
import { COMMAND_LINE } from "../../src/accounts/audit-trail.ts";
import type { Database } from "../../src/db/database.ts";
import type { Mails } from "../../src/delivery/mail/mails.ts";
import type { CreditSource } from "../../src/domain/credit.ts";
import { parseUsd } from "../../src/domain/money.ts";
import { receiveEvent } from "../../src/http/console/payments/webhook.ts";
import type { LocalLedger } from "../../src/ledger/engine/local.ts";
import { setAutoTopUp } from "../../src/payments/auto-top-ups.ts";
import { bookCorrection, bookTopUp } from "../../src/payments/bookings.ts";
import { createCheckout } from "../../src/payments/checkouts.ts";
import { redeemCode } from "../../src/payments/redeem-codes.ts";
import { issueCodes } from "../../src/payments/signed-codes.ts";
import type { PaymentCaller } from "../../src/payments/signed-days.ts";
import { payIn, takeBack } from "../../src/payments/signed-payments.ts";
import type { FullStripe } from "../../src/payments/stripe.ts";
import { commandBilled } from "../../src/plans/billing/commands.ts";
import { orderPlan } from "../../src/plans/billing/orders.ts";
import { type BillingParts, syncBilled } from "../../src/plans/billing/sync.ts";
import type { PlanCommand } from "../../src/plans/decide.ts";
import { command, subscribe } from "../../src/plans/plans.ts";
import type { Log } from "../../src/telemetry/log.ts";
import { PLANS, planOf } from "./plans.ts";

/** What an act needs of a gateway. */
export interface ActParts {
  readonly database: Database;
  readonly ledger: LocalLedger;
  readonly stripe: FullStripe;
  readonly mails: Mails;
  readonly now: () => number;
  readonly log: Log;
}

type CallerName = "shop" | "kiosk";

export interface Acts {
  readonly subscribe: { readonly accountId: string; readonly planId: string; readonly timeZone: string };
  readonly command: {
    readonly subscriptionId: string;
    readonly version: number;
    readonly does: "pause" | "resume" | "change" | "cancel";
    readonly planId?: string | undefined;
    readonly when?: "now" | "period_end" | undefined;
  };
  /** The answer is the id of the page. */
  readonly order_plan: { readonly accountId: string; readonly planId: string };
  readonly command_billed: Acts["command"] & { readonly stripeId: string };
  readonly read_billed: { readonly stripeId: string };
  readonly hold: {
    readonly walletId: string;
    readonly holdId: string;
    readonly amount: bigint;
    readonly ttlMs: number;
  };
  readonly settle: { readonly walletId: string; readonly holdId: string; readonly amount: bigint };
  readonly release: { readonly walletId: string; readonly holdId: string };
  readonly refund: {
    readonly walletId: string;
    readonly holdId: string;
    readonly refundId: string;
    readonly amount: bigint;
  };
  readonly top_up: {
    readonly accountId: string;
    readonly id: string;
    readonly amount: bigint;
    readonly source: CreditSource;
    readonly expiresAtMs: number | undefined;
  };
  readonly correct: {
    readonly accountId: string;
    readonly id: string;
    readonly amount: bigint;
    readonly creditId: string | undefined;
    readonly reason: string;
  };
  readonly checkout: { readonly accountId: string; readonly amount: bigint };
  readonly event: { readonly body: string; readonly signature: string };
  readonly redeem: { readonly accountId: string; readonly text: string };
  readonly codes: {
    readonly id: string;
    readonly amount: bigint;
    readonly count: number;
    readonly creditDays: number | undefined;
  };
  readonly pay_in: {
    readonly caller: CallerName;
    readonly id: string;
    readonly accountId: string;
    readonly amount: bigint;
    readonly source: CreditSource;
    readonly expiresAtMs: number | undefined;
  };
  readonly take_back: { readonly id: string; readonly paymentId: string; readonly amount: bigint };
  readonly auto_top_up: {
    readonly accountId: string;
    readonly below: bigint;
    readonly amount: bigint;
    readonly monthMax: bigint;
  };
}

type ActKind = keyof Acts;

/** An act, and what it is done with. */
export type Act = { [Kind in ActKind]: { readonly kind: Kind } & Acts[Kind] }[ActKind];

/** The ids that an act has made, as far as its author must know them. */
export interface ActAnswer {
  readonly id?: string;
  readonly codes?: readonly { readonly id: string; readonly code: string }[];
}

const PAGES = { successUrl: "https://t.example.com/ok", cancelUrl: "https://t.example.com/back" };
const REQUEST = { surface: "chat", model: "m" } as const;
const ENDED = { outcome: "ok", source: "reported", attempts: [] } as const;
const RULES = { onRefund: "debit", onDispute: "debit", hasInvoices: false, hasTax: false } as const;

/** The callers of signed calls: the second one meets the maximum of its day. */
const CALLERS: Readonly<Record<CallerName, PaymentCaller>> = {
  shop: { id: "shop", secrets: [], callMax: parseUsd("10000"), dayMax: parseUsd("100000") },
  kiosk: { id: "kiosk", secrets: [], callMax: parseUsd("60"), dayMax: parseUsd("100") },
};

export const KIOSK_DAY_MAX = CALLERS.kiosk.dayMax;

function signedBy(caller: CallerName) {
  return { caller: CALLERS[caller], actor: { kind: "payment_caller", id: caller, name: caller } } as const;
}

/** Performs an act. Rejects with GatewayError and LedgerError. */
export async function perform(parts: ActParts, act: Act): Promise<ActAnswer> {
  const { ledger } = parts;
  switch (act.kind) {
    case "subscribe": {
      const { accountId, planId, timeZone } = act;
      return { id: (await subscribe(parts, COMMAND_LINE, { accountId, timeZone, plan: planOf(planId) })).id };
    }
    case "command":
    case "command_billed":
      return commandOf(parts, act);
    case "order_plan": {
      const order = { accountId: act.accountId, plan: planOf(act.planId), hasTax: false, ...PAGES };
      return { id: (await orderPlan(parts, COMMAND_LINE, order)).sessionId };
    }
    case "read_billed":
      await syncBilled(billingOf(parts), act.stripeId);
      return {};
    case "hold": {
      const { walletId, holdId, amount, ttlMs } = act;
      const wanted = { walletId, holdId, amount, minimum: amount, ttlMs };
      await ledger.hold({ ...wanted, keyId: "key", facts: REQUEST });
      return {};
    }
    case "settle":
      await ledger.settle({ walletId: act.walletId, holdId: act.holdId, amount: act.amount, facts: ENDED });
      return {};
    case "release":
      await ledger.release({ walletId: act.walletId, holdId: act.holdId, facts: ENDED });
      return {};
    case "refund": {
      const { walletId, holdId, refundId, amount } = act;
      await ledger.refund({ walletId, holdId, refundId, amount });
      return {};
    }
    default:
      return payment(parts, act);
  }
}

type PaymentAct = Exclude<
  Act,
  {
    readonly kind:
      | "subscribe"
      | "command"
      | "command_billed"
      | "order_plan"
      | "read_billed"
      | "hold"
      | "settle"
      | "release"
      | "refund";
  }
>;

async function payment(parts: ActParts, act: PaymentAct): Promise<ActAnswer> {
  switch (act.kind) {
    case "top_up":
      await bookTopUp(parts, COMMAND_LINE, act);
      return {};
    case "correct":
      await bookCorrection(parts, COMMAND_LINE, act);
      return {};
    case "checkout":
      return {
        id: (await createCheckout(parts, parts.stripe, COMMAND_LINE, { ...act, ...PAGES })).sessionId,
      };
    case "event":
      await receive(parts, act);
      return {};
    case "redeem":
      await redeemCode(parts, COMMAND_LINE, act);
      return {};
    case "codes":
      return issueCodes(parts, signedBy("shop"), act);
    case "pay_in":
      return { id: (await payIn(parts, signedBy(act.caller), { ...act, reason: undefined })).row.id };
    case "take_back":
      return {
        id: (await takeBack(parts, signedBy("shop"), { ...act, reason: `Order ${act.paymentId}` })).row.id,
      };
    case "auto_top_up":
      await setAutoTopUp(parts, COMMAND_LINE, act.accountId, { ...act, isOn: true });
      return {};
  }
}

async function commandOf(
  parts: ActParts,
  act: Extract<Act, { readonly kind: "command" | "command_billed" }>,
): Promise<ActAnswer> {
  const { subscriptionId, version, does: kind, planId, when } = act;
  const send = (wanted: PlanCommand) => {
    const change = { subscriptionId, version, command: wanted };
    return act.kind === "command"
      ? command(parts, COMMAND_LINE, change)
      : commandBilled(billingOf(parts), COMMAND_LINE, change);
  };
  if (kind === "change") await send({ kind, plan: planOf(planId ?? ""), ...(when && { when }) });
  else if (kind === "cancel") await send({ kind, when: when ?? "now" });
  else await send({ kind });
  return {};
}

/** What subscriptions that Stripe bills need. */
export function billingOf(parts: ActParts): BillingParts {
  return { ...parts, plans: () => PLANS };
}

/** Delivers an event to the route of the console, as Stripe's server would. */
async function receive(parts: ActParts, { body, signature }: Acts["event"]): Promise<void> {
  const headers = { "stripe-signature": signature };
  const request = new Request("http://gateway/webhook", { method: "POST", body, headers });
  const settings = {
    ...{ publicUrl: "http://gateway", signUp: "invited" as const, isDemoOnly: false, trustedProxies: [] },
    ...{ payments: RULES, plans: PLANS },
  };
  await receiveEvent({ ...parts, settings }, parts.stripe, request);
}
