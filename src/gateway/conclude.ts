import { printUsd } from "../domain/money.ts";
import { type Cause, GatewayError } from "../errors.ts";
import { type Answer, type Bill, type HeldRequest, outcomeName, type Reply } from "./request.ts";

/** Errors that have a form of their own for a request that was charged. */
const CHARGED: Partial<Record<Cause, Cause>> = {
  internal: "internal_charged",
  key_revoked: "key_revoked_charged",
  account_suspended: "account_suspended_charged",
  shutting_down: "shutting_down_charged",
  upstream_unavailable: "upstream_broke_charged",
  upstream_timeout: "upstream_timeout_charged",
  upstream_total_timeout: "upstream_total_timeout_charged",
};

/** What came of a request: its answer and its charge. */
export interface Settled {
  readonly answer: Answer;
  readonly bill: Bill;
}

/**
 * Records a settled request in the request log, and sends the client the withheld end of its answer. Throws
 * the error of a request without one, in its charged form when the request was charged.
 */
export function conclude(held: HeldRequest, settled: Settled, reply: Reply): void {
  held.call.trace?.enter("conclude");
  const { outcome } = settled.answer;
  const { charged, balances } = settled.bill;
  const chargedUsd = printUsd(charged);
  record(held, settled, chargedUsd);
  const isCharged = charged > 0n;
  reply.setHeaders(
    balances
      ? { "x-tollgate-cost-usd": chargedUsd, "x-tollgate-balance-usd": printUsd(balances.available) }
      : { "x-tollgate-cost-usd": chargedUsd },
  );
  if (outcome.kind === "empty") throw new GatewayError(isCharged ? "empty_charged" : "empty_released");
  if ("error" in outcome) throw isCharged ? chargedForm(outcome.error) : outcome.error;
  if (outcome.kind !== "finished") reply.end("");
  else if (outcome.rest) outcome.rest.file.end(outcome.rest.bytes);
  else reply.end(outcome.ending, outcome.contentType);
}

function chargedForm(error: GatewayError): GatewayError {
  const cause = CHARGED[error.kind];
  return cause ? new GatewayError(cause, { reason: error.cause }) : error;
}

function record({ call, quote, meter }: HeldRequest, { answer, bill }: Settled, chargedUsd: string): void {
  const line = call.record;
  line.model = quote.model.id;
  line.upstream = meter.candidate?.route.upstream;
  line.attempts = answer.attempts.length;
  line.outcome = outcomeName(answer.outcome);
  line.chargedUsd = chargedUsd;
  if (meter.isUsageRejected) line.disbelieved = true;
  if (!bill.balances) line.journaled = true;
}
