import type { Cause } from "../errors.ts";
import type { Attempt } from "../ledger/ledger.ts";
import { describeFault, type LogFields } from "../telemetry/log.ts";
import type { Permit } from "../upstream/circuit.ts";
import { UpstreamFault } from "../wire/protocol.ts";
import type { AttemptContext } from "./attempt.ts";
import type { Gateway } from "./gateway.ts";
import { type Outcome, outcomeName } from "./outcome.ts";
import type { Timeout } from "./watch.ts";

/** How one attempt went. */
interface Report {
  readonly outcome: Outcome;
  readonly attempt: Attempt;
  readonly timedOut: Timeout | undefined;
}

/** Ends an attempt's trial, counts it, and logs why it failed. */
export function reportAttempt(
  { metrics, log }: Gateway,
  { call, turn: { route, upstream, trial } }: AttemptContext,
  { outcome, attempt, timedOut }: Report,
): void {
  trial[verdictOn(outcome, attempt.status, timedOut)]();
  metrics.running(upstream.name, -1);
  metrics.attempted(upstream.name, outcomeName(outcome));
  if (outcome.kind !== "failed" && outcome.kind !== "unsayable") return;
  const { error } = outcome;
  const facts = { request: call.id, model: route.upstreamModel, ...attempt, cause: error.kind };
  // A request that is wrong is its sender's business; everything else is the operator's.
  const level = error.row.code === "invalid_request" ? "info" : "warn";
  const reason = timedOut ? { timeout: timedOut } : describeReason(error.cause);
  log[level]({ ...facts, ...reason }, "attempt failed");
}

/** Why a call failed, for the log. Without where it was thrown: that is ever the same few places. */
export function describeReason(fault: unknown): LogFields {
  if (fault === undefined) return {};
  const { at: _, ...described } = describeFault(fault);
  // These texts are ours and fixed.
  return fault instanceof UpstreamFault ? { ...described, why: fault.message } : described;
}

/** Ends that are of our own making, or of the request's. */
const NO_SIGN: readonly Cause[] = ["internal", "shutting_down", "answer_too_large", "prompt_too_long"];

/** What an attempt shows of its upstream: a refusal that is about the request, or may be, shows nothing. */
function verdictOn(outcome: Outcome, status: number, timedOut: Timeout | undefined): keyof Permit {
  if (outcome.kind === "finished" || outcome.kind === "empty") return "succeeded";
  // It answered, and what a model writes its client can have asked for.
  if (outcome.kind === "unsayable") return "succeeded";
  const isOurs =
    outcome.kind === "hung_up" ||
    outcome.kind === "revoked" ||
    NO_SIGN.includes(outcome.error.kind) ||
    timedOut === "deadline";
  const isAboutRequest = status >= 400 && status < 500 && status !== 401 && status !== 402;
  return isOurs || isAboutRequest ? "abandoned" : "failed";
}
