import type { RouteChoice } from "../domain/model.ts";
import { NO_USAGE } from "../domain/usage.ts";
import { type Cause, GatewayError } from "../errors.ts";
import type { Attempt } from "../ledger/records.ts";
import type { Upstream, UpstreamKey } from "../upstream/upstream.ts";
import { outputLimitOf } from "./abilities.ts";
import { pricesOf } from "./answer-prices.ts";
import { attemptCandidate, endedBy } from "./attempt.ts";
import type { Gateway } from "./gateway.ts";
import { estimateInputTokens, type Quote, tokensOf, totalOutputMaxOf, usualUnitsOf } from "./quote.ts";
import {
  type Answer,
  type Candidate,
  failed,
  type HeldRequest,
  type Outcome,
  type Reply,
} from "./request.ts";
import type { RouteRequest } from "./route-order.ts";
import { ATTEMPTS_MAX, createRouteQueue } from "./route-queue.ts";
import { prepareCall } from "./upstream-call.ts";

/** SDKs ignore a `retry-after` above one minute. */
const RETRY_AFTER_S_MAX = 60;

/** Most answers are shorter than their limit; 500 tokens are a page of text. */
const OUTPUT_TOKENS_USUAL = 500;

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
    const request = new HeldRouteRequest(held);
    const queue = createRouteQueue(request);
    /** Clock reading by which all attempts must be over; set when the first one starts. */
    let deadlineAt: number | undefined;
    let failures: Failures | undefined;
    for (;;) {
      // No upstream has the request between two attempts.
      const ended = endedBy(gateway, { held, reply }, false);
      const next = ended ? undefined : queue.next();
      if (!next) {
        const outcome = ended ?? failures?.outcome(candidates) ?? failed("upstream_unavailable");
        return { outcome: withRetryAfter(outcome, request), attempts };
      }
      const { candidate, key } = next;
      if (candidate.route.outputTokensMax !== undefined) announceLimit(held, candidate, reply);
      const preparing = prepareCall(held, candidate);
      const prepared = preparing instanceof Promise ? await preparing : preparing;
      const startedAt = gateway.clock();
      deadlineAt ??= startedAt + longestTotalMs(candidates);
      const context = { held, reply, ...next, prepared, startedAt, deadlineAt };
      const tried = await attemptCandidate(gateway, context);
      attempts.push(tried.attempt);
      if (tried.isUnreachable) {
        queue.drop(candidate.upstream);
        countHostFailure(candidate.upstream, key);
      }
      const { outcome } = tried;
      if (outcome.kind !== "failed" || outcome.isFinal || held.meter.isCommitted) {
        return { outcome: withRetryAfter(outcome, request), attempts };
      }
      failures ??= new Failures();
      failures.add(candidate, outcome);
    }
  } catch (reason) {
    return { outcome: failed("internal", { reason, isFinal: true }), attempts };
  }
}

/** The failures of one request that let it move on. */
class Failures {
  /** The candidates that the request was too large for. */
  readonly #tooLargeFor = new Set<Candidate>();
  #tooLarge: Outcome | undefined;
  /** A failure that may pass, so that a repetition may succeed. */
  #passing: Outcome | undefined;

  add(candidate: Candidate, outcome: Extract<Outcome, { kind: "failed" }>): void {
    if (outcome.error.row.code !== "invalid_request") {
      this.#passing = outcome;
      return;
    }
    this.#tooLarge = outcome;
    this.#tooLargeFor.add(candidate);
  }

  /** The last failure that may pass. Without one, the request is too large for every candidate, or `undefined`. */
  outcome(candidates: readonly Candidate[]): Outcome | undefined {
    if (this.#passing) return this.#passing;
    const isTooLarge = this.#tooLargeFor.size >= Math.min(candidates.length, ATTEMPTS_MAX);
    return isTooLarge ? this.#tooLarge : undefined;
  }
}

/** A class, because most requests have no choice and never call its functions. */
class HeldRouteRequest implements RouteRequest {
  readonly candidates: readonly Candidate[];
  readonly choice: RouteChoice;
  readonly stream: boolean;
  readonly accountId: string;
  readonly tokens: number;
  readonly #held: HeldRequest;

  constructor(held: HeldRequest) {
    const { plan, quote } = held;
    this.candidates = plan.candidates;
    this.choice = plan.model.routeChoice ?? "priority";
    this.stream = quote.request.stream;
    this.accountId = held.hold.walletId;
    this.tokens = tokensOf(quote);
    this.#held = held;
  }

  expectedCost(candidate: Candidate): number {
    return expectedCostOf(this.#held.quote, candidate);
  }

  beginning(): number | undefined {
    const { plan, body } = this.#held;
    return plan.model.promptAffinity === false ? undefined : body.beginning();
  }
}

/**
 * Returns the upstream cost of a usual answer on a candidate, or its price where the cost is unknown, in
 * pico-USD: to compare routes, not to charge.
 */
function expectedCostOf(quote: Quote, candidate: Candidate): number {
  const inputTokens = estimateInputTokens(quote);
  const outputTokens = Math.min(totalOutputMaxOf(quote), OUTPUT_TOKENS_USUAL * quote.request.choices);
  const { price, cost = price } = pricesOf(quote, candidate, { ...NO_USAGE, inputTokens, outputTokens });
  const ofUnits = cost.unit ? usualUnitsOf(quote.request) * Number(cost.unit.picos) : 0;
  return inputTokens * Number(cost.input) + outputTokens * Number(cost.output) + ofUnits;
}

/** Counts a host that cannot be reached for the keys that were not tried as well. */
function countHostFailure({ keys }: Upstream, tried: UpstreamKey): void {
  for (const key of keys) if (key !== tried) key.health.countFailure();
}

/** Sets the header of an output limit that is not the client's own, and starts the keep-alive of a stream. */
function announce({ quote }: HeldRequest, reply: Reply): void {
  setLimitHeader(quote, quote.outputTokensMax, reply);
  if (quote.request.stream) reply.beginStream();
}

/** Sets the header of a route whose own output limit is lower. */
function announceLimit({ quote }: HeldRequest, { route }: Candidate, reply: Reply): void {
  setLimitHeader(quote, outputLimitOf(route, quote.outputTokensMax), reply);
}

function setLimitHeader({ request }: Quote, outputTokensMax: number, reply: Reply): void {
  if (outputTokensMax === request.outputTokensMax || request.outputTokensBound !== undefined) return;
  reply.setHeaders({ "x-tollgate-max-tokens": String(outputTokensMax) });
}

/** The time of all attempts together, in milliseconds. */
function longestTotalMs(candidates: readonly Candidate[]): number {
  let longest = 0;
  for (const { upstream } of candidates) longest = Math.max(longest, upstream.timeouts.totalMs);
  return longest;
}

/**
 * Adds a retry time of 1 to 60 seconds to a failure when no key of a candidate may be called now. It is the
 * time until the first one may be: its cooldown and open circuit have ended, and its bounds have room. Returns
 * other outcomes unchanged.
 */
export function withRetryAfter(
  outcome: Outcome,
  { candidates, tokens, accountId }: Pick<RouteRequest, "candidates" | "tokens" | "accountId">,
): Outcome {
  if (outcome.kind !== "failed" || !REPEATABLE.includes(outcome.error.kind)) return outcome;
  let waitMs = Number.POSITIVE_INFINITY;
  for (const { route, upstream } of candidates) {
    for (const { health, bounds } of upstream.keys) {
      const ofBounds = bounds?.waitMs(tokens) ?? 0;
      waitMs = Math.min(waitMs, Math.max(health.availableInMs(route.upstreamModel, accountId), ofBounds));
    }
  }
  if (waitMs <= 0) return outcome;
  const retryAfterS = Math.min(Math.ceil(waitMs / 1000), RETRY_AFTER_S_MAX);
  const { kind, cause: reason } = outcome.error;
  return { ...outcome, error: new GatewayError(kind, { reason, retryAfterS }) };
}
