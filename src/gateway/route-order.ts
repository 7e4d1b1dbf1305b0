import type { RouteChoice, RouteReason } from "../domain/model.ts";
import type { UpstreamKey } from "../upstream/upstream.ts";
import type { Candidate } from "./request.ts";

/** Times within a fifth above the best count as equal. */
const EQUAL_TIME_FACTOR = 1.2;
/** With prompt affinity, this many more running requests than at the least busy key count as equal. */
const EQUAL_RUNNING = 2;
const HASHES = 2 ** 32;

/** What the choice among the routes and keys of a request depends on. */
export interface RouteRequest {
  /** Never empty. */
  readonly candidates: readonly Candidate[];
  readonly choice: RouteChoice;
  readonly stream: boolean;
  /** Whose request it is: a circuit may be open for one account only. */
  readonly accountId?: string | undefined;
  /** The most tokens that the request may take of a key's bounds. */
  readonly tokens: number;
  /** Returns the cost that is expected of an answer; any unit. */
  expectedCost(candidate: Candidate): number;
  /** Returns a hash of the prompt's beginning; `undefined` without affinity. Read only when there is a choice. */
  beginning(): number | undefined;
}

/** One candidate with one of its upstream's keys. */
export interface Target {
  readonly candidate: Candidate;
  readonly key: UpstreamKey;
  /** Orders the targets of one priority; lower values are tried first. */
  rank: number;
  /** Orders targets of one rank. Drawn at random in proportion to the weights, or by the prompt's beginning. */
  lot: number;
}

/** The targets of a request, and what decides among them. */
export interface TargetOrder {
  /** In the order of the candidates and their keys; see {@link compareTargets}. */
  readonly targets: readonly Target[];
  /** Whether the prompt's beginning made the lots. */
  readonly isAffine: boolean;
}

/** Compares by priority, rank and lot. */
export function compareTargets(one: Target, other: Target): number {
  return priorityOf(one) - priorityOf(other) || one.rank - other.rank || one.lot - other.lot;
}

/**
 * Ranks the targets of a request and draws their lots. A lot is −ln(u) ÷ share: the lowest of a group is that
 * of a target with a probability of its share, whether `u` is a random number or a hash. With hashes this is
 * weighted rendezvous hashing: a target that goes or comes moves only the requests that it had or gets.
 */
export function orderTargets(request: RouteRequest, random: () => number): TargetOrder {
  const targets: Target[] = [];
  for (const candidate of request.candidates) {
    for (const key of candidate.upstream.keys) targets.push({ candidate, key, rank: 0, lot: 0 });
  }
  if (!hasPeers(targets)) return { targets, isAffine: false };
  const beginning = request.beginning();
  for (const target of targets) {
    const u = beginning === undefined ? random() : mixedOf(beginning, target);
    target.lot = -Math.log(u) / (target.candidate.route.weight * target.key.share);
  }
  const isAffine = beginning !== undefined;
  if (request.choice !== "priority") rankTargets(targets, request, isAffine);
  return { targets, isAffine };
}

/** Why the best target is taken: the last criterion that set it apart from others. */
export function reasonOf({ targets, isAffine }: TargetOrder, best: Target, choice: RouteChoice): RouteReason {
  const peers = targets.filter((target) => priorityOf(target) === priorityOf(best));
  if (peers.length === 1) return "priority";
  const equals = peers.filter(({ rank }) => rank === best.rank).length;
  if (equals > 1 && isAffine) return "affinity";
  return equals < peers.length ? choice : "weight";
}

function priorityOf({ candidate }: Target): number {
  return candidate.route.priority;
}

/** Whether two targets have one priority. */
function hasPeers(targets: readonly Target[]): boolean {
  const priorities = new Set<number>();
  for (const target of targets) priorities.add(priorityOf(target));
  return priorities.size < targets.length;
}

/** Mixes the hash of a beginning with a target, evenly over the numbers between 0 and 1. */
function mixedOf(beginning: number, { candidate, key }: Target): number {
  const seed = Bun.hash.xxHash32(candidate.route.upstreamModel, key.seed);
  let hash = Math.imul(beginning ^ seed, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13) ^ seed, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (((hash ^ (hash >>> 13)) >>> 0) + 0.5) / HASHES;
}

/** Sets the ranks; what differs little from the best of its priority gets its rank. */
function rankTargets(targets: readonly Target[], request: RouteRequest, isAffine: boolean): void {
  const best = new Map<number, number>();
  for (const target of targets) {
    target.rank = measureOf(target, request);
    const priority = priorityOf(target);
    best.set(priority, Math.min(best.get(priority) ?? Number.POSITIVE_INFINITY, target.rank));
  }
  for (const target of targets) {
    const least = best.get(priorityOf(target)) ?? 0;
    if (target.rank <= leastOf(least, target, request.choice, isAffine)) target.rank = least;
  }
}

/** The cost of an answer, the milliseconds to the first output, or the running requests by weight. */
function measureOf({ candidate, key }: Target, request: RouteRequest): number {
  const { route } = candidate;
  switch (request.choice) {
    case "priority":
      return 0;
    case "cheapest":
      return request.expectedCost(candidate);
    case "fastest":
      return key.times.expectedMs(route.upstreamModel, request.stream);
    case "least_busy":
      return key.health.running() / (route.weight * key.weight);
  }
}

/** The highest measure that counts as equal to the least one. */
function leastOf(least: number, { candidate, key }: Target, choice: RouteChoice, isAffine: boolean): number {
  if (choice === "fastest") return least * EQUAL_TIME_FACTOR;
  if (choice === "least_busy" && isAffine) {
    return least + EQUAL_RUNNING / (candidate.route.weight * key.weight);
  }
  return least;
}
