import { Elysia } from "elysia";
import { createOnce } from "../../../accounts/idempotency.ts";
import { parseUsd } from "../../../domain/money.ts";
import { GatewayError } from "../../../errors.ts";
import { removeCard, setAutoTopUp } from "../../../payments/auto-top-ups.ts";
import { printAutoView, readAutoView } from "../../../payments/auto-view.ts";
import { createCardSetup } from "../../../payments/card-setups.ts";
import { addressOfWallet, type FullStripe } from "../../../payments/stripe.ts";
import { describeFault } from "../../../telemetry/log.ts";
import type { PartsOf } from "../console-parts.ts";
import { createGuard } from "../guard.ts";
import { autoTopUpBody, autoTopUpShape, newCheckoutShape } from "../wallet/shapes.ts";

type Parts = PartsOf<"settings" | "log">;

type CardPage = typeof newCheckoutShape.static;

/** The automatic top-up of an account: its terms, its card and its state. */
export function autoTopUpRoutes(parts: Parts, requireStripe: () => FullStripe) {
  const { database, settings, now, log } = parts;
  const isOffered = () => settings.stripe !== undefined && !settings.payments.hasTax;
  const print = async (accountId: string) =>
    printAutoView(await readAutoView(database, accountId, now()), isOffered());
  const requireOffered = () => {
    if (!isOffered()) throw new GatewayError("not_built");
  };
  return new Elysia({ prefix: "/accounts/:account/wallet/auto-top-up" })
    .use(createGuard(parts, "Wallet"))
    .get("", ({ account }) => print(account.id), {
      summary: "Read the automatic top-up",
      needs: "wallet.read",
      response: autoTopUpShape,
    })
    .put(
      "",
      async ({ account, actor, body }) => {
        if (body.is_on) requireOffered();
        await setAutoTopUp(parts, actor, account.id, {
          isOn: body.is_on,
          below: parseUsd(body.below_usd),
          amount: parseUsd(body.amount_usd),
          monthMax: parseUsd(body.month_max_usd),
        });
        return print(account.id);
      },
      {
        summary: "Set the automatic top-up, which ends a stop after failed payments",
        needs: "wallet.write",
        body: autoTopUpBody,
        response: autoTopUpShape,
      },
    )
    .post(
      "/card",
      ({ account, actor, request, body }) => {
        requireOffered();
        return createOnce<CardPage>(parts, { request, body }, actor, async (keep) => {
          const wallet = addressOfWallet(settings.publicUrl, account.id);
          const pages = { successUrl: `${wallet}?card=saved`, cancelUrl: wallet };
          const stripe = requireStripe();
          const page = await createCardSetup({ ...parts, stripe }, actor, {
            accountId: account.id,
            ...pages,
            record: (tx, { sessionId: id, url }) => keep(tx, { id, url }),
          });
          return { id: page.sessionId, url: page.url };
        });
      },
      {
        summary: "Open a page of Stripe on which a card is saved",
        isIdempotent: true,
        needs: "wallet.write",
        response: newCheckoutShape,
      },
    )
    .delete(
      "/card",
      async ({ account, actor }) => {
        const card = await removeCard(parts, actor, account.id);
        if (card !== undefined) {
          await requireStripe()
            .forgetCard(card)
            .catch((fault: unknown) => {
              log.warn({ account: account.id, ...describeFault(fault) }, "card not forgotten at Stripe");
            });
        }
        return print(account.id);
      },
      {
        summary: "Forget the card; automatic top-ups end",
        needs: "wallet.write",
        response: autoTopUpShape,
      },
    );
}
