import { type Cause, GatewayError } from "../errors.ts";
import type { Attempt } from "../ledger/records.ts";
import { attemptCandidate, endedBy } from "./attempt.ts";
import type { Gateway } from "./gateway.ts";
import {
  type Answer,
  type Candidate,
  failed,
  type HeldRequest,
  type Outcome,
  type Reply,
} from "./request.ts";
import { createRouteQueue } from "./route-queue.ts";
import { prepareCall } from "./upstream-call.ts";

/** SDKs ignore a `retry-after` above one minute. */
const RETRY_AFTER_S_MAX = 60;

/** Upstream failures after which a client may repeat its request: they are neither final nor charged. */
const REPEATABLE: readonly Cause[] = ["upstream_unavailable", "upstream_timeout"];

/**
 * Calls one candidate after another until one answers, none may be called, or the time is up. Only the
 * candidate that answered is charged. Never rejects, because a hold is open: a fault of any part becomes a
 * failed outcome.
 */
export async function forward(gateway: Gateway, held: HeldRequest, reply: Reply): Promise<Answer> {
  held.call.trace?.enter("forward");
  const { candidates } = held.plan;
  const attempts: Attempt[] = [];
  try {
    announce(held, reply);
    const queue = createRouteQueue(candidates);
    /** Clock reading by which all attempts must be over; set when the first one starts. */
    let deadlineAt: number | undefined;
    let outcome: Outcome | undefined;
    for (;;) {
      // No upstream has the request between two attempts.
      const ended = endedBy(gateway, { held, reply }, false);
      const next = ended ? undefined : queue.next();
      if (!next) {
        outcome = ended ?? outcome ?? failed("upstream_unavailable");
        return { outcome: withRetryAfter(outcome, candidates), attempts };
      }
      const { candidate, permit } = next;
      const prepared = await prepareCall(held, candidate);
      const startedAt = gateway.clock();
      deadlineAt ??= startedAt + longestTotalMs(candidates);
      const context = { held, reply, candidate, permit, prepared, startedAt, deadlineAt };
      const tried = await attemptCandidate(gateway, context);
      attempts.push(tried.attempt);
      outcome = tried.outcome;
      if (outcome.kind !== "failed" || outcome.isFinal || held.meter.isCommitted) {
        return { outcome: withRetryAfter(outcome, candidates), attempts };
      }
    }
  } catch (reason) {
    return { outcome: failed("internal", { reason, isFinal: true }), attempts };
  }
}

/** Sets the header of an output limit that is not the client's own, and starts the keep-alive of a stream. */
function announce({ quote }: HeldRequest, reply: Reply): void {
  const { request, outputTokensMax } = quote;
  if (outputTokensMax !== request.outputTokensMax && request.outputTokensBound === undefined) {
    reply.setHeaders({ "x-tollgate-max-tokens": String(outputTokensMax) });
  }
  if (request.stream) reply.beginStream();
}

/** The time of all attempts together, in milliseconds. */
function longestTotalMs(candidates: readonly Candidate[]): number {
  let longest = 0;
  for (const { upstream } of candidates) longest = Math.max(longest, upstream.timeouts.totalMs);
  return longest;
}

/**
 * Adds a retry time of 1 to 60 seconds to a failure when no candidate may be called now. It is the time until
 * the first cooldown or open circuit ends. Returns other outcomes unchanged.
 */
export function withRetryAfter(outcome: Outcome, candidates: readonly Candidate[]): Outcome {
  if (outcome.kind !== "failed" || !REPEATABLE.includes(outcome.error.kind)) return outcome;
  const waitMs = Math.min(
    ...candidates.map(({ route, upstream }) => upstream.health.availableInMs(route.upstreamModel)),
  );
  if (waitMs <= 0) return outcome;
  const retryAfterS = Math.min(Math.ceil(waitMs / 1000), RETRY_AFTER_S_MAX);
  const { kind, cause: reason } = outcome.error;
  return { ...outcome, error: new GatewayError(kind, { reason, retryAfterS }) };
}
