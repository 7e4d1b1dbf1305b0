import {
  OperationTally,
  type RouteTally,
  requestFamilies,
  type SettledRequest,
  SettledTally,
} from "./request-series.ts";
import { counter, type Family, Histogram, REQUEST_SECONDS, SHORT_SECONDS } from "./series.ts";

/** What is counted of a request when it has ended. */
export interface EndedRequest {
  readonly surface: string;
  readonly isEmbedding: boolean;
  /** The id in the catalog; "" for a model that the catalog does not have. */
  readonly model: string;
  /** The upstream that answered, or failed last; "" when none was called. */
  readonly upstream: string;
  /** `ok`, `client_closed`, or a code of the error contract. */
  readonly code: string;
  /** From arrival to the end of the reply. */
  readonly ms: number;
  /** What the gateway itself took: `ms` without the arrival of the body and the attempts. */
  readonly addedMs: number;
  /** `undefined` for a request that was not settled. */
  readonly settled: SettledRequest | undefined;
}

/** Why the ledger did not take a settlement, and where it went. */
type SettleFailure =
  /** The ledger was away: the settlement is in the outbox. */
  | "stored"
  /** The ledger declined it for good. */
  | "declined"
  /** The outbox could not store it either: the hold expires. */
  | "lost"
  /** The ledger declined it for good when the outbox replayed it. */
  | "replay_declined";

/** Counts requests. A call takes less than a microsecond. No label may name a key or an account. */
export interface RequestMetrics {
  ended(request: EndedRequest): void;
  settleFailed(failure: SettleFailure): void;
}

/** A route of the configuration. */
interface AnnouncedRoute {
  readonly model: string;
  readonly upstream: string;
  /** The upstream's `gen_ai.provider.name`. */
  readonly provider: string;
}

/** {@link RequestMetrics} that can be printed. */
export interface CountedRequests extends RequestMetrics {
  /** Prints the sums of these routes from now on: Prometheus sees no increase in a series that begins at 1. */
  announce(routes: readonly AnnouncedRoute[]): void;
  readonly families: readonly Family[];
}

/** Codes that are printed as 0 from the first request of a surface on. */
const INITIAL_CODES = ["ok", "upstream_unavailable", "upstream_timeout", "internal_error"];
const SETTLE_FAILURES: readonly SettleFailure[] = ["stored", "declined", "lost", "replay_declined"];

/** Counts in plain numbers until they are read. */
export function countRequests(): CountedRequests {
  const tallies = createRouteTallies();
  const added = new Map<string, Histogram>();
  const settleFailures = new Map(SETTLE_FAILURES.map((failure) => [failure, 0]));
  return {
    ended({ surface, isEmbedding, model, upstream, code, ms, addedMs, settled }) {
      const route = tallies.find(model, upstream);
      const counts = route.counts.get(surface) ?? addSurface(tallies, route, surface);
      counts.set(code, (counts.get(code) ?? 0) + 1);
      const name = isEmbedding ? "embeddings" : "chat";
      route[name] ??= new OperationTally();
      const operation = route[name];
      if (settled) {
        route.settled ??= new SettledTally();
        route.settled.add(settled);
        if (settled.usage) operation.addTokens(settled.usage);
      }
      if (upstream === "") return;
      obtain(operation.durations, code, REQUEST_SECONDS).observe(ms / 1000);
      if (code !== "ok") return;
      if (settled?.firstOutputMs !== undefined) operation.firstOutput.observe(settled.firstOutputMs / 1000);
      obtain(added, surface, SHORT_SECONDS).observe(addedMs / 1000);
    },
    settleFailed(failure) {
      settleFailures.set(failure, (settleFailures.get(failure) ?? 0) + 1);
    },
    announce(routes) {
      for (const { model, upstream, provider } of routes) {
        const route = tallies.find(model, upstream);
        route.provider = provider;
        route.settled ??= new SettledTally();
      }
    },
    families: [
      ...requestFamilies({ routes: tallies.all, added }),
      tierFamily(tallies.all),
      counter(
        "tollgate_settle_failures_total",
        "Settlements that the ledger did not take at once, by what became of them.",
        () => [...settleFailures].map(([result, count]) => [{ result }, count]),
      ),
    ],
  };
}

function tierFamily(routes: () => readonly RouteTally[]): Family {
  return counter(
    "tollgate_tier_requests_total",
    "Charged requests that another service tier than the standard one served, by tier.",
    function* () {
      for (const { model, upstream, settled } of routes()) {
        for (const [tier, count] of settled?.tiers ?? []) yield [{ model, upstream, tier }, count];
      }
    },
  );
}

function obtain(histograms: Map<string, Histogram>, name: string, bounds: readonly number[]): Histogram {
  const known = histograms.get(name);
  if (known) return known;
  const created = new Histogram(bounds);
  histograms.set(name, created);
  return created;
}

/**
 * Creates the counts of a surface, and those of its requests that fail before their model is known, or before an
 * upstream is called.
 */
function addSurface(tallies: RouteTallies, route: RouteTally, surface: string): Map<string, number> {
  const created = new Map(INITIAL_CODES.map((code) => [code, 0]));
  const { counts: unknown } = tallies.find("", "");
  if (!unknown.has(surface)) unknown.set(surface, new Map(created));
  const { counts: uncalled } = tallies.find(route.model, "");
  if (!uncalled.has(surface)) uncalled.set(surface, new Map([["internal_error", 0]]));
  const counts = route.counts.get(surface) ?? created;
  route.counts.set(surface, counts);
  return counts;
}

/** The routes of all models. */
interface RouteTallies {
  /** Creates the tally of a route that is new. */
  find(model: string, upstream: string): RouteTally;
  all(): readonly RouteTally[];
}

function createRouteTallies(): RouteTallies {
  const byModel = new Map<string, Map<string, RouteTally>>();
  function add(model: string, upstream: string): RouteTally {
    const created: RouteTally = {
      model,
      upstream,
      provider: "",
      counts: new Map(),
      chat: undefined,
      embeddings: undefined,
      settled: undefined,
    };
    const byUpstream = byModel.get(model) ?? new Map<string, RouteTally>();
    byModel.set(model, byUpstream.set(upstream, created));
    return created;
  }
  return {
    find: (model, upstream) => byModel.get(model)?.get(upstream) ?? add(model, upstream),
    all: () => [...byModel.values()].flatMap((byUpstream) => [...byUpstream.values()]),
  };
}
