import type { Protocol, Route } from "../domain/model.ts";
import type { Upstream } from "../upstream/upstream.ts";

/** At most this many routes are tried for one request. */
const ATTEMPTS_MAX = 4;

/** Those routes whose upstream speaks a protocol. */
export function routesSpeaking(
  protocol: Protocol,
  routes: readonly Route[],
  upstreams: ReadonlyMap<string, Upstream>,
): readonly Route[] {
  return routes.filter(({ upstream }) => upstreams.get(upstream)?.protocols.includes(protocol));
}

/** The order in which routes are tried: by priority, weighted by chance among equals. */
export function orderRoutes(routes: readonly Route[], random: () => number): readonly Route[] {
  if (routes.length === 1) return routes;
  // Sorting by random^(1/weight) draws without replacement in proportion to the weights.
  const drawn = routes.map((route) => ({ route, lot: random() ** (1 / route.weight) }));
  drawn.sort((a, b) => a.route.priority - b.route.priority || b.lot - a.lot);
  return drawn.slice(0, ATTEMPTS_MAX).map(({ route }) => route);
}
