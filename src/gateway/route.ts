import type { Body } from "../bodies/body.ts";
import type { Planned } from "../bodies/open-body.ts";
import type { Route, Surface } from "../domain/model.ts";
import { GatewayError } from "../errors.ts";
import type { Permit } from "../upstream/circuit.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { AnswerReader } from "../wire/codec-session.ts";
import type { PrintOptions } from "../wire/codecs.ts";
import type { WireProtocol } from "../wire/protocol.ts";
import { type Exchange, findExchange, verbatimContext } from "../wire/protocol-pair.ts";

/** At most this many routes are tried for one request. */
const TURNS_MAX = 4;

/** A route that a request may be put to. */
export interface Candidate {
  readonly route: Route;
  /** The formats that its upstream speaks. */
  readonly surfaces: readonly Surface[];
  readonly options: PrintOptions;
}

/** The routes that can answer a request. */
export interface Ways {
  readonly ways: ReadonlyMap<Route, AnswerReader>;
  /** Bytes of the largest translated body, without inline media; 0 when nothing is translated. */
  readonly textBytes: number;
}

/**
 * Finds the routes that a request can be put to, in the client's own format or another. Throws `untranslatable` when
 * some part of it keeps it from all of them, and `not_built` when there is no way.
 */
export async function findWays(
  { wire, body }: { readonly wire: WireProtocol; readonly body: Body },
  candidates: readonly Candidate[],
): Promise<Ways> {
  const known = candidates.map((candidate) => ({
    ...candidate,
    exchange: findExchange(wire, candidate.surfaces),
  }));
  const plans = await planTranslations(body, known);
  const verbatim = verbatimContext(body.request);
  const readers = new Map<Exchange, AnswerReader>();
  const ways = new Map<Route, AnswerReader>();
  let textBytes = 0;
  let refusal: unknown;
  for (const { route, exchange } of known) {
    const plan = exchange && plans.get(exchange);
    if (!exchange) continue;
    if (plan && "refusal" in plan) {
      refusal ??= plan.refusal;
      continue;
    }
    const reader = readers.get(exchange) ?? exchange.answers(plan?.context ?? verbatim);
    readers.set(exchange, reader);
    ways.set(route, reader);
    textBytes = Math.max(textBytes, plan?.textBytes ?? 0);
  }
  if (ways.size === 0) throw refusal ?? new GatewayError("not_built");
  return { ways, textBytes };
}

interface KnownCandidate extends Candidate {
  readonly exchange: Exchange | undefined;
}

const NO_PLANS: ReadonlyMap<Exchange, Planned> = new Map();

/** What comes of putting a request to upstreams of other formats. Nothing is asked where all speak its own. */
async function planTranslations(
  body: Body,
  candidates: readonly KnownCandidate[],
): Promise<ReadonlyMap<Exchange, Planned>> {
  const questions = new Map<Exchange, Map<string, PrintOptions>>();
  for (const { exchange, options } of candidates) {
    if (!exchange || exchange.isVerbatim) continue;
    const kinds = questions.get(exchange) ?? new Map<string, PrintOptions>();
    const kind = kindOf(options);
    if (!kinds.has(kind)) kinds.set(kind, options);
    questions.set(exchange, kinds);
  }
  if (questions.size === 0) return NO_PLANS;
  const exchanges = [...questions];
  const planned = await body.plan(
    exchanges.map(([{ wire }, kinds]) => ({ surface: wire.surface, options: [...kinds.values()] })),
  );
  return new Map(
    exchanges.flatMap(([exchange], index) => {
      const plan = planned[index];
      return plan ? [[exchange, plan] as const] : [];
    }),
  );
}

/** Bodies for routes that differ in nothing but names are about as large. */
function kindOf({ traits }: PrintOptions): string {
  return `${traits.reasoning} ${traits.sampling}`;
}

/** A route whose turn it is. Its trial has begun: whoever takes the turn ends it, whatever happens. */
export interface Turn {
  readonly route: Route;
  readonly upstream: Upstream;
  readonly trial: Permit;
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
    upstreams.get(route.upstream)?.health.isCoolingDown(route.upstreamModel),
  );
  if (resting.length === 0) return routes;
  return [...routes.filter((route) => !resting.includes(route)), ...resting];
}

/**
 * Passes over those whose circuit lets nobody through; where that leaves none it insists, so that nobody can
 * shut a model to others by requests on which its upstreams fail.
 */
function firstTurn(routes: readonly Route[], upstreams: ReadonlyMap<string, Upstream>): Turn | undefined {
  return findTurn(routes, upstreams, "acquire") ?? findTurn(routes, upstreams, "forceAcquire");
}

function findTurn(
  routes: readonly Route[],
  upstreams: ReadonlyMap<string, Upstream>,
  how: "acquire" | "forceAcquire",
): Turn | undefined {
  for (const route of routes) {
    const upstream = upstreams.get(route.upstream);
    const trial = upstream?.health[how]();
    if (upstream && trial) return { route, upstream, trial };
  }
  return undefined;
}
