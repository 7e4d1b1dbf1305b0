import type { Permit } from "../upstream/circuit.ts";
import type { Candidate } from "./request.ts";

/** At most this many candidates are tried for one request. */
const ATTEMPTS_MAX = 4;

/** A candidate that may be called now. The taker of the permit must end it, whatever happens. */
interface RoutePermit {
  readonly candidate: Candidate;
  readonly permit: Permit;
}

/** The candidates of one request in the order in which they are tried. */
export interface RouteQueue {
  /** Returns `undefined` after four permits, or when no remaining candidate may be called now. */
  next(): RoutePermit | undefined;
}

/**
 * Returns each candidate at most once: by priority, at random by weight within a priority, cooling-down ones
 * last. Cooldowns and circuits are read at each call of `next`, so that failures of this request count as
 * well.
 */
export function createRouteQueue(
  candidates: readonly Candidate[],
  random: () => number = Math.random,
): RouteQueue {
  let left = candidates.length > 1 ? drawOrder(candidates, random) : candidates;
  let permits = 0;
  return {
    next() {
      if (permits === ATTEMPTS_MAX) return undefined;
      const next = firstPermit(left.length > 1 ? coolingLast(left) : left);
      if (!next) return undefined;
      permits += 1;
      left = left.length > 1 ? left.filter((candidate) => candidate !== next.candidate) : [];
      return next;
    },
  };
}

/** Sorting by random^(1/weight) draws without replacement in proportion to the weights. */
function drawOrder(candidates: readonly Candidate[], random: () => number): readonly Candidate[] {
  const drawn = candidates.map((candidate) => ({ candidate, lot: random() ** (1 / candidate.route.weight) }));
  drawn.sort((a, b) => a.candidate.route.priority - b.candidate.route.priority || b.lot - a.lot);
  return drawn.map(({ candidate }) => candidate);
}

/** Moves candidates with a running cooldown to the end: they are called only when nothing else is left. */
function coolingLast(candidates: readonly Candidate[]): readonly Candidate[] {
  const cooling = candidates.filter(({ route, upstream }) =>
    upstream.health.isCoolingDown(route.upstreamModel),
  );
  if (cooling.length === 0) return candidates;
  return [...candidates.filter((candidate) => !cooling.includes(candidate)), ...cooling];
}

/**
 * Acquires a permit of the first candidate whose circuit grants one, else forces one. A caller whose requests
 * make an upstream fail could otherwise deny the model to other callers.
 */
function firstPermit(candidates: readonly Candidate[]): RoutePermit | undefined {
  for (const candidate of candidates) {
    const permit = candidate.upstream.health.acquire();
    if (permit) return { candidate, permit };
  }
  for (const candidate of candidates) {
    const permit = candidate.upstream.health.forceAcquire();
    if (permit) return { candidate, permit };
  }
  return undefined;
}
