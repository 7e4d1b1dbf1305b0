import type { Route } from "../domain/model.ts";
import { GatewayError } from "../errors.ts";
import type { Trial } from "../upstream/circuit.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { Dialogue } from "../wire/dialogue.ts";
import { type Exchange, findExchange } from "../wire/exchange.ts";
import { lazily, lazilyByKey } from "../wire/lazily.ts";
import type { ModelRequest, WireProtocol } from "../wire/wire-protocol.ts";

/** At most this many routes are tried for one request. */
const TURNS_MAX = 4;

/**
 * The routes that a request can be put to, in the client's own format or another, each with how it is said there.
 * Throws `untranslatable` when some part of it keeps it from all of them, and `not_built` when there is no way.
 */
export function findWays(
  { wire, request }: { readonly wire: WireProtocol; readonly request: ModelRequest },
  routes: readonly Route[],
  upstreams: ReadonlyMap<string, Upstream>,
): ReadonlyMap<Route, Dialogue> {
  const readChat = lazily(request.readChat);
  const begin = lazilyByKey((exchange: Exchange) => exchange.begin(request, readChat));
  const ways = new Map<Route, Dialogue>();
  let refusal: unknown;
  for (const route of routes) {
    const exchange = findExchange(wire, upstreams.get(route.upstream)?.surfaces ?? []);
    try {
      if (exchange) ways.set(route, begin(exchange));
    } catch (reason) {
      refusal ??= reason;
    }
  }
  if (ways.size === 0) throw refusal ?? new GatewayError("not_built");
  return ways;
}

/** A route whose turn it is. Its trial has begun: whoever takes the turn ends it, whatever happens. */
export interface Turn {
  readonly route: Route;
  readonly upstream: Upstream;
  readonly trial: Trial;
}

/** The routes of one request in the order they are tried. */
export interface RouteQueue {
  /** `undefined` when four were given, or no route that is left may be tried now. */
  next(): Turn | undefined;
}

/**
 * Gives each route at most once: by priority, weighted by chance among equals, those that rest last. An
 * upstream is asked how it is when the turn comes, so the failures of this very request count.
 */
export function createRouteQueue(
  routes: readonly Route[],
  upstreams: ReadonlyMap<string, Upstream>,
  random: () => number = Math.random,
): RouteQueue {
  let left = routes.length > 1 ? drawOrder(routes, random) : routes;
  let turns = 0;
  return {
    next() {
      if (turns === TURNS_MAX) return undefined;
      const turn = firstTurn(left.length > 1 ? restingLast(left, upstreams) : left, upstreams);
      if (!turn) return undefined;
      turns += 1;
      left = left.filter((route) => route !== turn.route);
      return turn;
    },
  };
}

/** Sorting by random^(1/weight) draws without replacement in proportion to the weights. */
function drawOrder(routes: readonly Route[], random: () => number): readonly Route[] {
  const drawn = routes.map((route) => ({ route, lot: random() ** (1 / route.weight) }));
  drawn.sort((a, b) => a.route.priority - b.route.priority || b.lot - a.lot);
  return drawn.map(({ route }) => route);
}

/** What rests is still tried when nothing else is left: better an early call than none. */
function restingLast(routes: readonly Route[], upstreams: ReadonlyMap<string, Upstream>): readonly Route[] {
  const resting = routes.filter((route) =>
    upstreams.get(route.upstream)?.health.isResting(route.upstreamModel),
  );
  if (resting.length === 0) return routes;
  return [...routes.filter((route) => !resting.includes(route)), ...resting];
}

/**
 * Passes over those whose circuit lets nobody through; where that leaves none it insists, so that nobody can
 * shut a model to others by requests on which its upstreams fail.
 */
function firstTurn(routes: readonly Route[], upstreams: ReadonlyMap<string, Upstream>): Turn | undefined {
  return findTurn(routes, upstreams, "begin") ?? findTurn(routes, upstreams, "insist");
}

function findTurn(
  routes: readonly Route[],
  upstreams: ReadonlyMap<string, Upstream>,
  how: "begin" | "insist",
): Turn | undefined {
  for (const route of routes) {
    const upstream = upstreams.get(route.upstream);
    const trial = upstream?.health[how]();
    if (upstream && trial) return { route, upstream, trial };
  }
  return undefined;
}
