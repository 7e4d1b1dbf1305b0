import type { Route } from "../domain/model.ts";
import { type Cause, GatewayError } from "../errors.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { Outcome } from "./outcome.ts";

/** No client shall wait longer: SDKs ignore what is above a minute. */
const RETRY_AFTER_S_MAX = 60;

/** Failures of upstreams that a client may repeat as they are; those that are final or charged are not among them. */
const REPEATABLE: readonly Cause[] = ["upstream_unavailable", "upstream_timeout"];

/**
 * Adds to a failure how many seconds a client should wait, from 1 to 60, when every route of the request rests
 * or has an open circuit: until the first of them may be asked again. Leaves it as it is when one may be now.
 */
export function withRetryAfter(
  outcome: Outcome,
  routes: readonly Route[],
  upstreams: ReadonlyMap<string, Upstream>,
): Outcome {
  if (outcome.kind !== "failed" || !REPEATABLE.includes(outcome.error.kind)) return outcome;
  const waitMs = Math.min(...routes.map((route) => availableInMs(route, upstreams)));
  if (waitMs <= 0) return outcome;
  const retryAfterS = Math.min(Math.ceil(waitMs / 1000), RETRY_AFTER_S_MAX);
  const { kind, cause: reason } = outcome.error;
  return { ...outcome, error: new GatewayError(kind, { reason, retryAfterS }) };
}

function availableInMs({ upstream, upstreamModel }: Route, upstreams: ReadonlyMap<string, Upstream>): number {
  return upstreams.get(upstream)?.health.availableInMs(upstreamModel) ?? 0;
}
