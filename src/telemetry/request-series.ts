import {
  counter,
  type Family,
  FIRST_TOKEN_SECONDS,
  Histogram,
  histogram,
  type Labels,
  TOKEN_COUNTS,
} from "./series.ts";

/** The tallies of all requests, read at each scrape. */
interface RequestTallies {
  routes(): readonly RouteTally[];
  /** What the gateway itself took, by surface. */
  readonly added: ReadonlyMap<string, Histogram>;
}

/** The series of requests: counts, times, tokens and money. */
export function requestFamilies(tallies: RequestTallies): readonly Family[] {
  return [
    countFamily(tallies),
    ...timeFamilies(tallies),
    ...tokenFamilies(tallies),
    ...moneyFamilies(tallies),
  ];
}

function countFamily({ routes }: RequestTallies): Family {
  return counter(
    "tollgate_requests_total",
    "Ended requests. The model is empty when the catalog lacks it, the upstream when none was called.",
    function* () {
      for (const { model, upstream, counts } of routes()) {
        for (const [surface, byCode] of counts) {
          for (const [code, count] of byCode) yield [{ surface, model, upstream, code }, count];
        }
      }
    },
  );
}

/**
 * The tallies of each operation, with the labels of OpenTelemetry's semantic conventions and the upstream by its
 * name in the configuration.
 */
function* operationsOf(routes: readonly RouteTally[]): Generator<readonly [Labels, OperationTally]> {
  for (const { model, provider, upstream, ...route } of routes) {
    for (const operation of ["chat", "embeddings"] as const) {
      const labels = {
        gen_ai_operation_name: operation,
        gen_ai_request_model: model,
        gen_ai_provider_name: provider,
        upstream,
      };
      const tally = route[operation];
      if (tally) yield [labels, tally];
    }
  }
}

function timeFamilies({ routes, added }: RequestTallies): readonly Family[] {
  return [
    histogram(
      "gen_ai_server_request_duration_seconds",
      "Time from a request's arrival to the end of its reply, of requests that called an upstream.",
      function* () {
        for (const [labels, tally] of operationsOf(routes())) {
          for (const [code, durations] of tally.durations) {
            yield [{ ...labels, error_type: code === "ok" ? "" : code }, durations];
          }
        }
      },
    ),
    histogram(
      "gen_ai_server_time_to_first_token_seconds",
      "Time from a request's arrival to the first output, of finished streams.",
      () => [...operationsOf(routes())].map(([labels, { firstOutput }]) => [labels, firstOutput]),
    ),
    histogram(
      "tollgate_added_latency_seconds",
      "Time of a finished request without the arrival of its body and its upstream attempts.",
      () => [...added].map(([surface, times]) => [{ surface }, times]),
    ),
  ];
}

const TOKEN_CLASSES = {
  input: "inputTokens",
  cached_input: "cachedInputTokens",
  cache_write: "cacheWriteTokens",
  cache_write_1h: "cacheWrite1hTokens",
  output: "outputTokens",
} as const satisfies Record<string, keyof SettledTally>;

function tokenFamilies({ routes }: RequestTallies): readonly Family[] {
  return [
    counter(
      "tollgate_tokens_total",
      "Charged tokens in disjoint classes; input is what was neither read from a cache nor written to one.",
      function* () {
        for (const { model, upstream, settled } of routes()) {
          if (!settled || upstream === "") continue;
          for (const [name, member] of Object.entries(TOKEN_CLASSES)) {
            yield [{ model, upstream, class: name }, settled[member]];
          }
        }
      },
    ),
    histogram(
      "gen_ai_client_token_usage",
      "Charged tokens of a request; input has the tokens of all input classes.",
      function* () {
        for (const [labels, { inputTokens, outputTokens }] of operationsOf(routes())) {
          yield [{ ...labels, gen_ai_token_type: "input" }, inputTokens];
          yield [{ ...labels, gen_ai_token_type: "output" }, outputTokens];
        }
      },
    ),
  ];
}

const NANOS_PER_USD = 1e9;

function moneyFamilies({ routes }: RequestTallies): readonly Family[] {
  const usd = (name: string, help: string, read: (settled: SettledTally) => number) =>
    counter(name, help, function* () {
      for (const { model, upstream, settled } of routes()) {
        if (settled) yield [{ model, upstream }, read(settled) / NANOS_PER_USD];
      }
    });
  return [
    usd(
      "tollgate_granted_usd_total",
      "Money that was on hold for settled requests, in USD.",
      ({ granted }) => granted,
    ),
    usd("tollgate_captured_usd_total", "Cost of settled requests, in USD.", ({ captured }) => captured),
    usd(
      "tollgate_upstream_cost_usd_total",
      "What upstreams bill for settled requests whose upstream cost is known, in USD.",
      ({ upstreamCost }) => upstreamCost,
    ),
    usd(
      "tollgate_costed_usd_total",
      "Cost of settled requests whose upstream cost is known, in USD.",
      ({ costed }) => costed,
    ),
    usd(
      "tollgate_overspent_usd_total",
      "Cost above the hold, of requests that were charged more than was on hold for them, in USD.",
      ({ overspent }) => overspent,
    ),
  ];
}

/** The money in nano-USD and the tokens of a settled request. */
export interface SettledRequest {
  readonly granted: bigint;
  readonly charged: bigint;
  /** `undefined` when it is unknown. */
  readonly upstreamCost?: bigint | undefined;
  /** The service tier; `undefined` for the standard one. */
  readonly tier?: string | undefined;
  /** From arrival to the first output of a stream; `undefined` for a whole answer. */
  readonly firstOutputMs: number | undefined;
  /** `undefined` when nothing was charged. */
  readonly usage: ChargedTokens | undefined;
}

/** The charged tokens in disjoint classes. */
interface ChargedTokens {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly cacheWrite1hTokens: number;
  readonly outputTokens: number;
}

/** The settled requests of a route. Amounts are nano-USD, exact up to 9 million USD. */
export class SettledTally implements ChargedTokens {
  granted = 0;
  captured = 0;
  /** Sum of the known upstream costs. */
  upstreamCost = 0;
  /** The part of `captured` whose upstream cost is known. */
  costed = 0;
  /** Sum of `charged − granted` over the requests that were charged more than was granted. */
  overspent = 0;
  inputTokens = 0;
  cachedInputTokens = 0;
  cacheWriteTokens = 0;
  cacheWrite1hTokens = 0;
  outputTokens = 0;
  /** Requests by service tier; `undefined` before the first that was not of the standard one. */
  tiers: Map<string, number> | undefined;

  add({ granted, charged, upstreamCost, usage, tier }: SettledRequest): void {
    this.granted += Number(granted);
    this.captured += Number(charged);
    if (upstreamCost !== undefined) {
      this.upstreamCost += Number(upstreamCost);
      this.costed += Number(charged);
    }
    if (charged > granted) this.overspent += Number(charged - granted);
    if (tier !== undefined) {
      this.tiers ??= new Map();
      this.tiers.set(tier, (this.tiers.get(tier) ?? 0) + 1);
    }
    if (!usage) return;
    const { inputTokens, cachedInputTokens, cacheWriteTokens, cacheWrite1hTokens, outputTokens } = usage;
    this.inputTokens += inputTokens;
    this.cachedInputTokens += cachedInputTokens;
    this.cacheWriteTokens += cacheWriteTokens;
    this.cacheWrite1hTokens += cacheWrite1hTokens;
    this.outputTokens += outputTokens;
  }
}

/** The requests of one operation on a route. */
export class OperationTally {
  /** By code. Requests that called no upstream are left out: they would hide how long the others take. */
  readonly durations = new Map<string, Histogram>();
  readonly firstOutput = new Histogram(FIRST_TOKEN_SECONDS);
  readonly inputTokens = new Histogram(TOKEN_COUNTS);
  readonly outputTokens = new Histogram(TOKEN_COUNTS);

  addTokens(usage: ChargedTokens): void {
    const { inputTokens, cachedInputTokens, cacheWriteTokens, cacheWrite1hTokens, outputTokens } = usage;
    this.inputTokens.observe(inputTokens + cachedInputTokens + cacheWriteTokens + cacheWrite1hTokens);
    this.outputTokens.observe(outputTokens);
  }
}

/** The requests of one model at one upstream, which is "" for those that called none. */
export interface RouteTally {
  readonly model: string;
  readonly upstream: string;
  /** The upstream's `gen_ai.provider.name`; "" until the route is announced. */
  provider: string;
  /** Requests by surface and code. */
  readonly counts: Map<string, Map<string, number>>;
  chat: OperationTally | undefined;
  embeddings: OperationTally | undefined;
  settled: SettledTally | undefined;
}
