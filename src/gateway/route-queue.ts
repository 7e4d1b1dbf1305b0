import type { RouteReason } from "../domain/model.ts";
import { platform } from "../platform.ts";
import type { Permit } from "../upstream/circuit-phases.ts";
import type { KeySlot } from "../upstream/key-bounds.ts";
import type { Upstream, UpstreamKey } from "../upstream/upstream.ts";
import type { Candidate } from "./request.ts";
import { compareTargets, orderTargets, type RouteRequest, reasonOf, type Target } from "./route-order.ts";

/** At most this many targets are tried for one request. */
export const ATTEMPTS_MAX = 4;

/** A candidate that may be called now with a key. The taker must end permit and slot, whatever happens. */
export interface RoutePermit {
  readonly candidate: Candidate;
  readonly key: UpstreamKey;
  readonly permit: Permit;
  /** What the request takes of the key's bounds; `undefined` without bounds. */
  readonly slot: KeySlot | undefined;
  /** `undefined` for a request with one route and one key. */
  readonly reason: RouteReason | undefined;
}

/** The targets of one request in the order in which they are tried. */
export interface RouteQueue {
  /** Returns `undefined` after four permits, or when no remaining target may be called now. */
  next(): RoutePermit | undefined;
  /** Drops the keys of an upstream whose host cannot be reached: another key would not help. */
  drop(upstream: Upstream): void;
}

/**
 * Returns each candidate and key at most once: by priority, by the model's choice within a priority, among
 * equals by the prompt's beginning or at random by weight; cooling-down ones last. Cooldowns, circuits and
 * bounds are read at each call of `next`, so that failures of this request count as well. A key whose bounds
 * are full is not called.
 */
export function createRouteQueue(request: RouteRequest, random: () => number = platform.random): RouteQueue {
  const [candidate] = request.candidates;
  const key = candidate?.upstream.keys[0];
  const isSole = request.candidates.length === 1 && candidate?.upstream.keys.length === 1;
  return isSole && candidate && key ? new SoleTarget(candidate, key, request) : queueTargets(request, random);
}

/** The queue of a request without a choice. A class of its own, so that such a request pays for none. */
class SoleTarget implements RouteQueue {
  readonly #candidate: Candidate;
  readonly #key: UpstreamKey;
  readonly #request: RouteRequest;
  #isTaken = false;

  constructor(candidate: Candidate, key: UpstreamKey, request: RouteRequest) {
    this.#candidate = candidate;
    this.#key = key;
    this.#request = request;
  }

  next(): RoutePermit | undefined {
    if (this.#isTaken) return undefined;
    this.#isTaken = true;
    const candidate = this.#candidate;
    const key = this.#key;
    let taken = take(key, this.#request);
    if (taken === "open") taken = take(key, this.#request, true);
    if (typeof taken !== "object") return undefined;
    return { candidate, key, permit: taken.permit, slot: taken.slot, reason: undefined };
  }

  drop(): void {}
}

function queueTargets(request: RouteRequest, random: () => number): RouteQueue {
  const order = orderTargets(request, random);
  const { choice } = request;
  let left = order.targets;
  let isSorted = false;
  let permits = 0;

  function preferred(): Target | undefined {
    if (isSorted) return left[0];
    let best = left[0];
    for (const target of left) if (best && compareTargets(target, best) < 0) best = target;
    return best;
  }

  function sorted(): readonly Target[] {
    if (!isSorted) left = left.toSorted(compareTargets);
    isSorted = true;
    return left;
  }

  function grant(target: Target, taken: Taken, isPreferred: boolean): RoutePermit {
    const reason = isPreferred && permits === 0 ? reasonOf(order, target, choice) : "failover";
    permits += 1;
    left = left.filter((each) => each !== target);
    const { candidate, key } = target;
    return { candidate, key, ...taken, reason };
  }

  return {
    next() {
      const best = permits < ATTEMPTS_MAX ? preferred() : undefined;
      if (!best) return undefined;
      // Most requests are served by the first target; the others are not even sorted then.
      if (left.length > 1 && !isCooling(best)) {
        const taken = take(best.key, request);
        if (typeof taken === "object") return grant(best, taken, true);
      }
      const next = takeFirst(coolingLast(sorted()), request);
      return next && grant(next.target, next.taken, next.target === best);
    },
    drop(upstream) {
      left = left.filter(({ candidate }) => candidate.upstream !== upstream);
    },
  };
}

/** What a target gave. */
type Taken = Pick<RoutePermit, "permit" | "slot">;

function isCooling({ candidate, key }: Target): boolean {
  return key.health.isCoolingDown(candidate.route.upstreamModel);
}

/** Moves targets with a running cooldown to the end: they are called only when nothing else is left. */
function coolingLast(targets: readonly Target[]): readonly Target[] {
  const cooling = targets.filter(isCooling);
  if (cooling.length === 0) return targets;
  return [...targets.filter((target) => !cooling.includes(target)), ...cooling];
}

/**
 * Takes a permit of the first target that grants one. Forces one when every circuit is open: a caller whose
 * requests make an upstream fail could otherwise deny the model to other callers. Does not force one while a
 * key is merely full, which passes by itself.
 */
function takeFirst(targets: readonly Target[], request: RouteRequest) {
  let isAnyFull = false;
  for (const target of targets) {
    const taken = take(target.key, request);
    if (typeof taken === "object") return { target, taken };
    if (taken === "full") isAnyFull = true;
  }
  if (isAnyFull) return undefined;
  for (const target of targets) {
    const taken = take(target.key, request, true);
    if (typeof taken === "object") return { target, taken };
  }
  return undefined;
}

/** Takes a permit and, of a key with bounds, a slot; both or neither. */
function take(
  { health, bounds }: UpstreamKey,
  { accountId, tokens }: RouteRequest,
  isForced = false,
): Taken | "open" | "full" {
  const permit = isForced ? health.forceAcquire(accountId) : health.acquire(accountId);
  if (!permit) return "open";
  if (!bounds) return { permit, slot: undefined };
  const slot = bounds.take(tokens);
  if (slot) return { permit, slot };
  permit.abandoned();
  return "full";
}
