import { Elysia, t } from "elysia";
import { ACCOUNT_ORDERS, type ListedAccount, listAccountsWithUsage } from "../../../accounts/account-list.ts";
import { setMarkup } from "../../../accounts/markup.ts";
import { beginActing, endActing } from "../../../accounts/people/operators.ts";
import { resumeAccount, suspendAccount } from "../../../accounts/suspension.ts";
import { printTime } from "../../../domain/id-time.ts";
import { MARKUP_PATTERN, parseMarkup, printMarkup, printUsd } from "../../../domain/money.ts";
import { GatewayError } from "../../../errors.ts";
import { LedgerError, type Posting } from "../../../ledger/ledger.ts";
import { bookCorrection, bookRefund, bookTopUp } from "../../../payments/bookings.ts";
import { account, acting, printAccount, reason, wallet } from "../accounts/shapes.ts";
import type { PartsOf } from "../console-parts.ts";
import { throwBookingError } from "../errors.ts";
import { createGuard } from "../guard.ts";
import { id, listQuery, nothing, pageOf, readAmount, time, usd } from "../shapes.ts";
import { creditEnd, creditSource } from "../wallet/shapes.ts";

type Parts = PartsOf<"ledger" | "settings">;

const factor = t.String({
  pattern: MARKUP_PATTERN,
  description: 'Factor over upstream costs, such as "1.15": 0.0001 to 1000 with at most 4 decimals',
});
/** Null for the prices of the models. */
const markupOrNull = t.Nullable(factor);

const listedAccount = t.Composite([
  account,
  t.Object({
    available_usd: usd,
    held_usd: usd,
    posted_usd: usd,
    markup: markupOrNull,
    spent_30d_usd: usd,
    requests_30d: t.Integer(),
    keys: t.Integer({ description: "Keys that are not revoked" }),
    last_request_at: t.Nullable(time),
  }),
]);
const markedAccount = t.Composite([account, t.Object({ markup: markupOrNull })]);
const query = listQuery(...ACCOUNT_ORDERS);
const accountPath = t.Object({ id });
const PAGE_SIZE = 50;

/** Accounts as operators see them: balances, usage, suspension, and sessions inside of them. */
export function operatorAccountsRoutes(parts: Parts) {
  return new Elysia()
    .use(createGuard(parts, "Operators"))
    .get("/operator/accounts", ({ query }) => list(parts, query), {
      summary: "List all accounts",
      needsOperator: true,
      query,
      response: pageOf(listedAccount),
    })
    .post(
      "/operator/accounts/:id/suspend",
      async ({ params, body, actor }) =>
        printAccount(await suspendAccount(parts, actor, params.id, body.reason)),
      {
        summary: "Suspend an account",
        needsOperator: true,
        params: accountPath,
        body: t.Object({ reason }),
        response: account,
      },
    )
    .post(
      "/operator/accounts/:id/resume",
      async ({ params, body, actor }) =>
        printAccount(await resumeAccount(parts, actor, params.id, body.reason)),
      {
        summary: "Resume a suspended account",
        needsOperator: true,
        params: accountPath,
        body: t.Object({ reason }),
        response: account,
      },
    )
    .put(
      "/operator/accounts/:id/markup",
      async ({ params, body, actor }) => {
        const markup = body.markup === null ? undefined : parseMarkup(body.markup);
        const change = { accountId: params.id, markup, reason: body.reason };
        const changed = await setMarkup(parts, actor, change);
        return { ...printAccount(changed), markup: printMarkupOf(changed) };
      },
      {
        summary: "Set the factor over upstream costs that an account pays",
        needsOperator: true,
        params: accountPath,
        body: t.Object({ markup: markupOrNull, reason }),
        response: markedAccount,
      },
    )
    .post(
      "/operator/accounts/:id/act",
      async ({ params, body, actor }) => {
        const begun = await beginActing(parts, actor, { accountId: params.id, reason: body.reason });
        const { accountId, accountName, untilMs } = begun;
        return { account_id: accountId, account_name: accountName, until: printTime(untilMs) };
      },
      {
        summary: "Act inside an account for 30 minutes",
        needsOperator: true,
        params: accountPath,
        body: t.Object({ reason }),
        response: acting,
      },
    )
    .delete(
      "/operator/acting",
      async ({ actor }) => {
        await endActing(parts, actor);
        return {};
      },
      { summary: "Stop acting inside an account", needsOperator: true, response: nothing },
    );
}

async function list(parts: Parts, { page, size = PAGE_SIZE, q, sort }: typeof query.static) {
  const wanted = { text: q, sort, token: page, size };
  const { items, next } = await listAccountsWithUsage(parts, wanted).catch((fault: unknown) => {
    const isForeign = fault instanceof LedgerError && fault.code === "invalid_query";
    throw isForeign ? new GatewayError("wrong_shape", { path: "page" }) : fault;
  });
  return { items: items.map(printListed), next };
}

function printListed(listed: ListedAccount) {
  const { balances, spent30d, requests30d, keys, lastRequestAtMs } = listed;
  return {
    ...printAccount(listed),
    available_usd: printUsd(balances.available),
    held_usd: printUsd(balances.held),
    posted_usd: printUsd(balances.posted),
    markup: printMarkupOf(listed),
    spent_30d_usd: printUsd(spent30d),
    requests_30d: requests30d,
    keys,
    last_request_at: printTime(lastRequestAtMs),
  };
}

function printMarkupOf({ markup }: Pick<ListedAccount, "markup">): string | null {
  return markup === undefined ? null : printMarkup(markup);
}

const bookingId = t.String({
  minLength: 1,
  maxLength: 128,
  description: "Booked once, however often it is sent",
});

/** Top-ups, corrections and refunds by operators, each with an id of its own and a reason for the audit trail. */
export function operatorMoneyRoutes(parts: Parts) {
  return new Elysia()
    .use(createGuard(parts, "Operators"))
    .post(
      "/operator/accounts/:id/top-ups",
      async ({ params, body, actor }) => {
        const amount = readAmount(body.amount_usd);
        const granted = { source: body.source, expiresAtMs: readCreditEnd(body.expires_at) };
        const booking = { accountId: params.id, id: body.id, reason: body.reason, amount, ...granted };
        return printPosting(await bookTopUp(parts, actor, booking).catch(throwBookingError));
      },
      {
        summary: "Top up the wallet of an account",
        needsOperator: true,
        confirmed: true,
        params: accountPath,
        body: t.Object({
          id: bookingId,
          amount_usd: usd,
          source: t.Optional(creditSource),
          expires_at: creditEnd,
          reason,
        }),
        response: wallet,
      },
    )
    .post(
      "/operator/accounts/:id/corrections",
      async ({ params, body, actor }) => {
        const amount = readAmount(body.amount_usd);
        const { id: bookedId, credit_id: creditId } = body;
        const booking = { accountId: params.id, id: bookedId, reason: body.reason, amount, creditId };
        return printPosting(await bookCorrection(parts, actor, booking).catch(throwBookingError));
      },
      {
        summary: "Take money off the wallet of an account",
        needsOperator: true,
        confirmed: true,
        params: accountPath,
        body: t.Object({ id: bookingId, amount_usd: usd, credit_id: t.Optional(bookingId), reason }),
        response: wallet,
      },
    )
    .post(
      "/operator/accounts/:id/refunds",
      async ({ params, body, actor }) => {
        const amount = body.amount_usd === undefined ? undefined : readAmount(body.amount_usd);
        const { id: refundId, receipt } = body;
        const refunded = { receipt, amount, creditDays: parts.settings.refundCreditDays };
        const booking = { accountId: params.id, id: refundId, reason: body.reason, ...refunded };
        return printPosting(await bookRefund(parts, actor, booking).catch(throwBookingError));
      },
      {
        summary: "Refund a request",
        needsOperator: true,
        confirmed: true,
        params: accountPath,
        body: t.Object({ id: bookingId, receipt: id, amount_usd: t.Optional(usd), reason }),
        response: wallet,
      },
    );
}

/** A past end is refused by the ledger, which knows whether the booking is a repetition. */
function readCreditEnd(expiresAt: string | null | undefined): number | undefined {
  return expiresAt ? Date.parse(expiresAt) : undefined;
}

function printPosting({ balances, replayed }: Posting) {
  return {
    posted_usd: printUsd(balances.posted),
    held_usd: printUsd(balances.held),
    available_usd: printUsd(balances.available),
    replayed,
  };
}
