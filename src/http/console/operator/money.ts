import { Elysia, t } from "elysia";
import { printUsd } from "../../../domain/money.ts";
import type { Posting } from "../../../ledger/ledger.ts";
import { bookCorrection, bookRefund, bookTopUp } from "../../../payments/bookings.ts";
import { reason, wallet } from "../accounts/shapes.ts";
import type { ConsoleParts } from "../console-parts.ts";
import { createGuard } from "../guard.ts";
import { throwBookingError } from "../ledger-errors.ts";
import { id, readAmount, usd } from "../shapes.ts";

const path = t.Object({ id });
const bookingId = t.String({
  minLength: 1,
  maxLength: 128,
  description: "Booked once, however often it is sent",
});

/** Top-ups, corrections and refunds by operators, each with an id of its own and a reason for the audit trail. */
export function operatorMoneyRoutes(parts: ConsoleParts) {
  return new Elysia()
    .use(createGuard(parts))
    .post(
      "/operator/accounts/:id/top-ups",
      async ({ params, body, actor }) => {
        const amount = readAmount(body.amount_usd);
        const booking = { accountId: params.id, id: body.id, reason: body.reason, amount };
        return printPosting(await bookTopUp(parts, actor, booking).catch(throwBookingError));
      },
      {
        needsOperator: true,
        confirmed: true,
        params: path,
        body: t.Object({ id: bookingId, amount_usd: usd, reason }),
        response: wallet,
      },
    )
    .post(
      "/operator/accounts/:id/corrections",
      async ({ params, body, actor }) => {
        const amount = readAmount(body.amount_usd);
        const booking = { accountId: params.id, id: body.id, reason: body.reason, amount };
        return printPosting(await bookCorrection(parts, actor, booking).catch(throwBookingError));
      },
      {
        needsOperator: true,
        confirmed: true,
        params: path,
        body: t.Object({ id: bookingId, amount_usd: usd, reason }),
        response: wallet,
      },
    )
    .post(
      "/operator/accounts/:id/refunds",
      async ({ params, body, actor }) => {
        const amount = body.amount_usd === undefined ? undefined : readAmount(body.amount_usd);
        const { id: refundId, receipt } = body;
        const booking = { accountId: params.id, id: refundId, reason: body.reason, receipt, amount };
        return printPosting(await bookRefund(parts, actor, booking).catch(throwBookingError));
      },
      {
        needsOperator: true,
        confirmed: true,
        params: path,
        body: t.Object({ id: bookingId, receipt: id, amount_usd: t.Optional(usd), reason }),
        response: wallet,
      },
    );
}

function printPosting({ balances, replayed }: Posting) {
  return {
    posted_usd: printUsd(balances.posted),
    held_usd: printUsd(balances.held),
    available_usd: printUsd(balances.available),
    replayed,
  };
}
