import { Elysia } from "elysia";
import { GatewayError } from "../../errors.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";
import {
  checkoutBody,
  checkoutShape,
  codesBody,
  codesShape,
  newCheckoutShape,
  newCodesShape,
  pageQuery,
  redeemBody,
  revokedCodeShape,
  walletShape,
  webhookShape,
} from "./wallet-shapes.ts";

/** Money into wallets: redeem codes and Stripe Checkout. */
export function paymentsRoutes(parts: ConsoleParts) {
  return new Elysia()
    .use(createGuard(parts))
    .post("/accounts/:account/wallet/redeem", () => notBuilt(), {
      needs: "wallet.write",
      body: redeemBody,
      response: walletShape,
    })
    .post("/accounts/:account/wallet/checkouts", () => notBuilt(), {
      needs: "wallet.write",
      body: checkoutBody,
      response: newCheckoutShape,
    })
    .get("/accounts/:account/wallet/checkouts/:checkout", () => notBuilt(), {
      needs: "wallet.read",
      response: checkoutShape,
    })
    .post("/stripe/webhook", () => notBuilt(), { isPublic: true, parse: "none", response: webhookShape })
    .get("/operator/codes", () => notBuilt(), { needsOperator: true, query: pageQuery, response: codesShape })
    .post("/operator/codes", () => notBuilt(), {
      needsOperator: true,
      body: codesBody,
      response: newCodesShape,
    })
    .delete("/operator/codes/:code", () => notBuilt(), { needsOperator: true, response: revokedCodeShape });
}

function notBuilt(): never {
  throw new GatewayError("not_built");
}
