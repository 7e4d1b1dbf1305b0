import { Elysia, t } from "elysia";
import { GatewayError } from "../../errors.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { createGuard } from "./guard.ts";
import {
  holdsShape,
  month,
  pageQuery,
  proofShape,
  statementsShape,
  transfersQuery,
  transfersShape,
  walletShape,
} from "./wallet-shapes.ts";

/** The wallet of an account: its equation, transfers, running holds, statements and proof. */
export function walletRoutes(parts: ConsoleParts) {
  return new Elysia({ prefix: "/accounts/:account/wallet" })
    .use(createGuard(parts))
    .get("", () => notBuilt(), { needs: "wallet.read", response: walletShape })
    .get("/transfers", () => notBuilt(), {
      needs: "wallet.read",
      query: transfersQuery,
      response: transfersShape,
    })
    .get("/holds", () => notBuilt(), { needs: "wallet.read", query: pageQuery, response: holdsShape })
    .get("/statements", () => notBuilt(), { needs: "wallet.read", response: statementsShape })
    .get("/statement.csv", () => notBuilt(), { needs: "wallet.read", query: t.Object({ month }) })
    .get("/proof", () => notBuilt(), { needs: "wallet.read", response: proofShape });
}

function notBuilt(): never {
  throw new GatewayError("not_built");
}
