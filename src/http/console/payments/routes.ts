import { Elysia } from "elysia";
import { findAccountNames } from "../../../accounts/find-items.ts";
import { createOnce } from "../../../accounts/idempotency.ts";
import type { Db } from "../../../db/database.ts";
import { printTime } from "../../../domain/id-time.ts";
import { parseUsd, printUsd } from "../../../domain/money.ts";
import { GatewayError } from "../../../errors.ts";
import { createCheckout, findCheckout, stateOfCheckout } from "../../../payments/checkouts.ts";
import { listCodes } from "../../../payments/code-list.ts";
import { printOverview, readOverview } from "../../../payments/overview.ts";
import { findPaidBy, findReceipts } from "../../../payments/receipts.ts";
import {
  createCodes,
  type IssuedCode,
  type NewCodes,
  type RedeemCode,
  redeemCode,
  revokeCode,
  stateOfCode,
} from "../../../payments/redeem-codes.ts";
import {
  addressOfWallet,
  type CheckoutPage,
  createStripeClient,
  type FullStripe,
} from "../../../payments/stripe.ts";
import type { PartsOf } from "../console-parts.ts";
import { createGuard } from "../guard.ts";
import { contextOf } from "../request-context.ts";
import { readAmount } from "../shapes.ts";
import {
  checkoutBody,
  checkoutShape,
  newCheckoutShape,
  paymentShape,
  redeemBody,
  walletShape,
  webhookShape,
} from "../wallet/shapes.ts";
import { autoTopUpRoutes } from "./auto-top-up.ts";
import { codesBody, codesQuery, codesShape, newCodesShape, revokedCodeShape } from "./code-shapes.ts";
import { planOrderRoutes } from "./plan-orders.ts";
import { signedCallRoutes } from "./signed-calls.ts";
import { receiveEvent } from "./webhook.ts";

type Parts = PartsOf<"ledger" | "settings" | "mails" | "throttle" | "log">;

const PAGE_SIZE = 50;
/** The ids of codes and of checkout sessions. Other texts are neither looked up nor stored. */
const ID = /^[\w-]{1,128}$/;

/** Money into wallets: redeem codes and Stripe Checkout. */
export function paymentsRoutes(parts: Parts) {
  const { ledger, settings } = parts;
  const stripe = settings.stripe && createStripeClient(settings.stripe);
  return new Elysia()
    .use(createGuard(parts, "Wallet"))
    .post(
      "/accounts/:account/wallet/redeem",
      async ({ account, actor, request, body }) => {
        const attempt = { address: contextOf(request).address, subject: account.id };
        const redemption = { accountId: account.id, text: body.code };
        await parts.throttle("guess", attempt, () => redeemCode(parts, actor, redemption));
        return printOverview(await readOverview(ledger, account.id, parts.now()));
      },
      { summary: "Redeem a code", needs: "wallet.write", body: redeemBody, response: walletShape },
    )
    .post(
      "/accounts/:account/wallet/checkouts",
      ({ account, actor, request, body }) =>
        createOnce<NewCheckout>(parts, { request, body }, actor, async (keep) => {
          const page = await createCheckout(parts, requireStripe(stripe), actor, {
            accountId: account.id,
            amount: parseUsd(body.amount_usd),
            hasInvoice: settings.payments.hasInvoices,
            hasTax: settings.payments.hasTax,
            ...returnPages(settings.publicUrl, account.id),
            record: (tx, made) => keep(tx, printPage(made)),
          });
          return printPage(page);
        }),
      {
        summary: "Start a payment by Stripe Checkout",
        isIdempotent: true,
        needs: "wallet.write",
        body: checkoutBody,
        response: newCheckoutShape,
      },
    )
    .get(
      "/accounts/:account/wallet/checkouts/:checkout",
      async ({ account, params }) => {
        const sought = { accountId: account.id, sessionId: requireId(params.checkout) };
        const found = await findCheckout(parts.database, sought);
        if (!found) throw new GatewayError("unknown_item");
        const state = stateOfCheckout(found, parts.now());
        return { id: found.id, amount_usd: printUsd(found.amount), state };
      },
      { summary: "Read the state of a payment", needs: "wallet.read", response: checkoutShape },
    )
    .get(
      "/accounts/:account/wallet/payments/:payment",
      ({ account, params }) =>
        readPayment(parts, () => requireStripe(stripe), account.id, requireId(params.payment)),
      {
        summary: "Find the receipt and the invoice of a payment at Stripe",
        needs: "wallet.read",
        response: paymentShape,
      },
    )
    .post("/stripe/webhook", ({ request }) => receiveEvent(parts, requireStripe(stripe), request), {
      summary: "Receive an event of Stripe",
      isPublic: true,
      parse: "none",
      response: webhookShape,
    })
    .use(signedCallRoutes(parts))
    .use(autoTopUpRoutes(parts, () => requireStripe(stripe)))
    .use(planOrderRoutes(parts, () => requireStripe(stripe)))
    .use(codesRoutes(parts));
}

/** Finds what Stripe has about a payment of an account, or about the invoice of a plan's credit. */
async function readPayment({ database }: Parts, stripeOf: () => FullStripe, accountId: string, id: string) {
  const [own] = await findReceipts(database, accountId, [id]);
  if (own === undefined) throw new GatewayError("unknown_item");
  const { receiptUrl, invoiceUrl } = await stripeOf().readLinks(await findPaidBy(database, accountId, id));
  return { id, receipt_url: receiptUrl ?? null, invoice_url: invoiceUrl ?? null };
}

function requireId(id: string): string {
  if (!ID.test(id)) throw new GatewayError("unknown_item");
  return id;
}

/** Payments are refused unless both secrets are set: a payment without a webhook would never be credited. */
function requireStripe(stripe: FullStripe | undefined): FullStripe {
  if (!stripe) throw new GatewayError("not_built");
  return stripe;
}

/** The wallet's page. It polls the checkout, whose credit comes from the webhook alone. */
function returnPages(publicUrl: string, accountId: string) {
  const page = addressOfWallet(publicUrl, accountId);
  return { successUrl: `${page}?checkout={CHECKOUT_SESSION_ID}`, cancelUrl: page };
}

/** Redeem codes, which operators create, list and revoke. */
function codesRoutes(parts: Parts) {
  const { database, now } = parts;
  return new Elysia({ prefix: "/operator/codes" })
    .use(createGuard(parts, "Operators"))
    .get(
      "",
      async ({ query: { page: token, size = PAGE_SIZE, q: text, sort, state } }) => {
        const nowMs = now();
        const { items, next } = await listCodes(database, { text, state, sort, token, size, nowMs });
        const redeemers = items.flatMap(({ accountId }) => accountId ?? []);
        const names = await findAccountNames(database, redeemers);
        return { items: items.map((code) => printCodeRow(code, names, nowMs)), next };
      },
      { summary: "List the redeem codes", needsOperator: true, query: codesQuery, response: codesShape },
    )
    .post(
      "",
      ({ actor, request, body }) =>
        createOnce<NewCodesAnswer>(parts, { request, body }, actor, async (keep) => {
          const wanted = readNewCodes(body, now());
          const record = (tx: Db, made: readonly IssuedCode[]) => keep(tx, printIssued(made));
          return printIssued(await createCodes(parts, actor, wanted, record));
        }),
      {
        summary: "Create redeem codes; they are shown once",
        isIdempotent: true,
        needsOperator: true,
        confirmed: true,
        body: codesBody,
        response: newCodesShape,
      },
    )
    .delete(
      "/:code",
      async ({ actor, params }) => {
        const id = requireId(params.code);
        await revokeCode(parts, actor, id);
        return { id, revoked: true };
      },
      { summary: "Revoke a redeem code", needsOperator: true, response: revokedCodeShape },
    );
}

function readNewCodes(body: typeof codesBody.static, nowMs: number): NewCodes {
  const amount = readAmount(body.amount_usd);
  const { count = 1, note, expires_at: expiresAt, source, credit_days: creditDays } = body;
  const expiresAtMs = expiresAt ? Date.parse(expiresAt) : undefined;
  if (expiresAtMs !== undefined && expiresAtMs <= nowMs) {
    throw new GatewayError("wrong_shape", { path: "expires_at" });
  }
  const credit = { source, creditDays: creditDays ?? undefined };
  return { amount, count, note: note?.toWellFormed(), expiresAtMs, ...credit };
}

type NewCheckout = typeof newCheckoutShape.static;
type NewCodesAnswer = typeof newCodesShape.static;

function printPage({ sessionId, url }: CheckoutPage): NewCheckout {
  return { id: sessionId, url };
}

function printIssued(issued: readonly IssuedCode[]): NewCodesAnswer {
  return { codes: issued.map(({ id, code, amount }) => ({ id, code, amount_usd: printUsd(amount) })) };
}

function printCodeRow(code: RedeemCode, names: ReadonlyMap<string, string>, nowMs: number) {
  const { id, hint, amount, note, createdBy, accountId } = code;
  return {
    id,
    hint,
    amount_usd: printUsd(amount),
    note,
    state: stateOfCode(code, nowMs),
    created_by: createdBy,
    created_at: printTime(code.createdAtMs),
    expires_at: printTime(code.expiresAtMs ?? undefined),
    source: code.source ?? "purchase",
    credit_days: code.creditDays,
    redeemed_at: printTime(code.redeemedAtMs ?? undefined),
    account_id: accountId,
    account_name: accountId === null ? null : (names.get(accountId) ?? null),
    credited_at: printTime(code.creditedAtMs ?? undefined),
  };
}
