import type { Cause } from "../errors.ts";
import type { Permit } from "../upstream/circuit-phases.ts";
import type { Gateway } from "./gateway.ts";
import { type Candidate, type HeldRequest, type Outcome, outcomeName } from "./request.ts";
import type { Timeout } from "./timeouts.ts";

/** What an ended attempt shows of its upstream. */
export interface Evidence {
  readonly outcome: Outcome;
  /** HTTP status of the upstream; 0 when no answer came. */
  readonly status: number;
  readonly timedOut: Timeout | undefined;
  /** Whether an upstream error concerns the key. */
  readonly isOfKey: boolean;
  /** Whether the key is one of a pool. */
  readonly isOfPool: boolean;
  /** Whether the host could not be reached: its other keys would fail as well. */
  readonly isUnreachable: boolean;
  /** Whether only accounts of one person have met the failures before. */
  readonly isOfOnePerson: boolean;
}

/** A 403 for the key may concern one model; every other status for it, whatever is asked with the key. */
const OF_MODEL = 403;

/** Causes that lie with the gateway or the request, and so prove nothing about the upstream. */
const NO_VERDICT: readonly Cause[] = [
  "too_many_files",
  "internal",
  "shutting_down",
  "answer_too_large",
  "prompt_too_long",
  "rejected_by_upstream",
];

/** Ends the permit of an attempt with a verdict on the upstream, or with none. */
export function endPermit(permit: Permit, evidence: Evidence): void {
  const isKeyRejected = evidence.isOfKey && evidence.status !== OF_MODEL;
  const verdict = verdictOn(evidence, isKeyRejected);
  if (verdict !== "failed") permit[verdict]();
  else if (isKeyRejected && evidence.isOfPool) permit.rejected();
  else if (isKeyRejected || evidence.isUnreachable) permit.hostFailed();
  else permit.failed(evidence.isOfOnePerson);
}

/** Chooses how the permit ends. An upstream error that may concern the request counts neither way. */
function verdictOn(
  { outcome, status, timedOut }: Evidence,
  isKeyRejected: boolean,
): "succeeded" | "abandoned" | "failed" {
  if (outcome.kind === "finished" || outcome.kind === "empty") return "succeeded";
  // The upstream works: the request may have caused the answer that cannot be represented.
  if (outcome.kind === "unrepresentable") return "succeeded";
  const isOurs =
    outcome.kind === "client_disconnected" ||
    outcome.kind === "revoked" ||
    NO_VERDICT.includes(outcome.error.kind) ||
    timedOut === "deadline";
  const concernsRequest = status >= 400 && status < 500 && !isKeyRejected;
  return isOurs || concernsRequest ? "abandoned" : "failed";
}

interface TriedRoute {
  readonly held: Pick<HeldRequest, "plan" | "quote" | "meter">;
  readonly candidate: Pick<Candidate, "route">;
  /** Clock reading. */
  readonly startedAt: number;
}

/** Counts an attempt for the figures of its route. Only a stream has a first output before its end. */
export function countAtRoute(
  { routeHours }: Pick<Gateway, "routeHours">,
  { held: { plan, quote, meter }, candidate, startedAt }: TriedRoute,
  outcome: Outcome,
): void {
  const { upstream, upstreamModel } = candidate.route;
  const firstOutputAt = quote.request.stream ? meter.firstOutputAt : undefined;
  routeHours.ended(
    { model: plan.model.id, upstream, upstreamModel },
    {
      outcome: outcomeName(outcome),
      firstOutputMs: firstOutputAt === undefined ? undefined : firstOutputAt - startedAt,
    },
  );
}
