import { printUsd } from "../domain/money.ts";
import { type Cause, GatewayError } from "../errors.ts";
import type { Reply } from "./gateway.ts";
import type { Outcome } from "./request.ts";
import type { Bill } from "./settle.ts";

/** How a failure is said when what came before it was charged. */
const CHARGED: Partial<Record<Cause, Cause>> = {
  internal: "internal_charged",
  key_revoked: "key_revoked_charged",
  account_suspended: "account_suspended_charged",
  shutting_down: "shutting_down_charged",
  upstream_unavailable: "upstream_broke_charged",
  upstream_timeout: "upstream_timeout_charged",
  upstream_total_timeout: "upstream_total_timeout_charged",
};

/** Tells the client how its paid request ended: the withheld end of the answer, or an error that says what was charged. */
export function conclude(outcome: Outcome, { charged, balances }: Bill, reply: Reply): void {
  const isCharged = charged > 0n;
  reply.setHeaders({ "x-tollgate-cost-usd": printUsd(charged) });
  if (balances) reply.setHeaders({ "x-tollgate-balance-usd": printUsd(balances.available) });
  if (outcome.kind === "empty") throw new GatewayError(isCharged ? "empty_charged" : "empty_released");
  if ("error" in outcome) throw isCharged ? saidAsCharged(outcome.error) : outcome.error;
  reply.end(outcome.kind === "finished" ? outcome.ending : "");
}

function saidAsCharged(error: GatewayError): GatewayError {
  const cause = CHARGED[error.kind];
  return cause ? new GatewayError(cause, { reason: error.cause }) : error;
}
