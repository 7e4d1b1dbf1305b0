import { FAST_MODEL } from "../answers.ts";
import type { Contestant } from "../contestants.ts";
import type { ClosedLoopResult, OpenLoopResult } from "../loops.ts";
import { type BenchRequest, medianOf, type Percentiles } from "../measurements.ts";
import { type ExtraConfig, modelEntry, upstreamEntry } from "../start-gateway.ts";
import { CONNECTIONS, FAILOVER_PER_SECOND, type UpstreamPlan } from "./plan.ts";
import { MODELS } from "./wire-answers.ts";
import type { WireUpstream } from "./wire-upstream.ts";

/** How a first route fails. */
const FAILURES = ["refused", "503", "reset"] as const;
type Failure = (typeof FAILURES)[number];

const HEALTHY_LABEL = "healthy";
const HEALTHY_MODEL = "bench-healthy";
const TENTH_MODELS = { "503": "bench-tenth-503", reset: "bench-tenth-reset" } as const;

/** Nothing listens on this privileged port. */
const NOWHERE = "http://127.0.0.1:1";
/** More failures than a benchmark has, so that the circuit never opens. */
const FAILURES_NEVER_REACHED = 1_000_000;

/** A model whose first route always fails, so that its circuit opens. */
function downModel(failure: Failure): string {
  return `bench-down-${failure}`;
}

/** A model whose first route always fails and is always called. */
function eachModel(failure: Failure): string {
  return `bench-each-${failure}`;
}

/** A request whose first route answers, and one for each failure. */
const FAILOVER_REQUESTS: readonly BenchRequest[] = [
  { label: HEALTHY_LABEL, model: HEALTHY_MODEL, stream: false },
  ...FAILURES.map((failure) => ({ label: failure, model: eachModel(failure), stream: false })),
];

interface FirstRoute {
  readonly model: string;
  readonly url: string;
  readonly upstreamModel: string;
  readonly circuitFailures?: number;
}

/** Models with a first route of their own and a second route that answers. */
export function failoverConfig(url: string): ExtraConfig {
  const failing = FAILURES.flatMap((failure) => {
    const first = {
      url: failure === "refused" ? NOWHERE : url,
      upstreamModel: failure === "reset" ? MODELS.reset.always : MODELS.unavailable.always,
    };
    return [
      { ...first, model: downModel(failure) },
      { ...first, model: eachModel(failure), circuitFailures: FAILURES_NEVER_REACHED },
    ];
  });
  const firsts: readonly FirstRoute[] = [
    ...failing,
    { model: HEALTHY_MODEL, url, upstreamModel: FAST_MODEL },
    { model: TENTH_MODELS["503"], url, upstreamModel: MODELS.unavailable.tenth },
    { model: TENTH_MODELS.reset, url, upstreamModel: MODELS.reset.tenth },
  ];
  return {
    upstreams: { ...Object.fromEntries(firsts.map(upstreamOf)), spare: upstreamEntry(url) },
    models: Object.fromEntries(firsts.map(modelOf)),
  };
}

/** The first upstream of a model, which has the name of the model. */
function upstreamOf({ model, url, circuitFailures }: FirstRoute): [string, object] {
  const circuit = circuitFailures === undefined ? {} : { circuit_failures: circuitFailures };
  return [model, { ...upstreamEntry(url), ...circuit }];
}

function modelOf({ model, upstreamModel }: FirstRoute): [string, object] {
  const routes = [
    { upstream: model, model: upstreamModel, priority: 1 },
    { upstream: "spare", model: FAST_MODEL, priority: 2 },
  ];
  return [model, modelEntry(routes)];
}

/** Latencies of whole answers at a low steady rate, in ms; medians over the rounds. */
export interface FailoverLatency {
  /** The failure of the first route, or "healthy". */
  readonly label: string;
  readonly latency: Percentiles;
  /** Compared with a request whose first route answers, in the same round. */
  readonly added: Percentiles;
}

type ByLabel = OpenLoopResult["byLabel"];

/** Measures the cost of each failed first attempt without an open circuit. All kinds are sent alternately. */
export async function measureFailoverLatency(
  gateway: Contestant,
  upstream: WireUpstream,
  { rounds, steadyMs: ms }: UpstreamPlan,
): Promise<readonly FailoverLatency[]> {
  const loop = { perSecond: FAILOVER_PER_SECOND, requests: FAILOVER_REQUESTS, ms };
  const before = await upstream.counts();
  const warmUp = await gateway.openLoop(loop);
  const results: ByLabel[] = [];
  for (let round = 0; round < rounds; round += 1) results.push((await gateway.openLoop(loop)).byLabel);
  const { failures } = await upstream.counts();
  checkFailures(failures - before.failures, [warmUp.byLabel, ...results]);
  return FAILOVER_REQUESTS.map(({ label }) => latencyOf(label, results));
}

/** Throws when first routes did not fail. Refused connections cannot be counted. */
function checkFailures(failures: number, results: readonly ByLabel[]): void {
  const answers = results.map((byLabel) => (byLabel["503"]?.answers ?? 0) + (byLabel.reset?.answers ?? 0));
  const expected = answers.reduce((sum, each) => sum + each, 0);
  if (failures < expected) throw new Error(`Only ${failures} of ${expected} first attempts failed`);
}

function latencyOf(label: string, results: readonly ByLabel[]): FailoverLatency {
  const medianBy = (read: (of: (label: string) => number) => number, at: keyof Percentiles) =>
    medianOf(results.map((byLabel) => read((name) => byLabel[name]?.latencyMs[at] ?? Number.NaN)));
  const medians = (read: (of: (label: string) => number) => number): Percentiles => ({
    p50: medianBy(read, "p50"),
    p99: medianBy(read, "p99"),
  });
  return {
    label,
    latency: medians((of) => of(label)),
    added: medians((of) => of(label) - of(HEALTHY_LABEL)),
  };
}

/** A closed loop of whole answers; medians over the rounds. */
export interface FailoverRate {
  readonly name: string;
  readonly perSecond: number;
  readonly latency: Percentiles;
  /** Ratio to the rate of requests whose first route answers; median of consecutive rounds. */
  readonly ratio: number;
  /** Failed first calls per answer; always 0 for refused connections, which cannot be counted. */
  readonly failedShare: number;
}

interface Pair {
  readonly healthy: ClosedLoopResult;
  readonly failing: ClosedLoopResult;
  readonly failures: number;
}

/** Measures rates while first routes fail for one in ten requests, or always, with an open circuit. */
export async function measureFailoverRates(
  gateway: Contestant,
  upstream: WireUpstream,
  { rounds, roundMs, warmUpMs }: UpstreamPlan,
): Promise<readonly FailoverRate[]> {
  const run = (model: string, ms: number) =>
    gateway.closedLoop({ kind: "whole", model, connections: CONNECTIONS, ms });
  const runPair = async (model: string): Promise<Pair> => {
    const healthy = await run(HEALTHY_MODEL, roundMs);
    const before = await upstream.counts();
    const failing = await run(model, roundMs);
    const { failures } = await upstream.counts();
    return { healthy, failing, failures: failures - before.failures };
  };
  const results: FailoverRate[] = [];
  for (const { name, model, isDown } of casesOf()) {
    for (const each of [HEALTHY_MODEL, model]) await run(each, warmUpMs);
    const pairs: Pair[] = [];
    for (let round = 0; round < rounds; round += 1) pairs.push(await runPair(model));
    const rate = rateOf(name, pairs);
    if (!isDown && !(rate.failedShare > 0)) throw new Error(`No first attempt failed: ${name}`);
    results.push(rate);
  }
  return results;
}

function casesOf() {
  return [
    ...Object.entries(TENTH_MODELS).map(([how, model]) => ({
      name: `1 in 10: ${how}`,
      model,
      isDown: false,
    })),
    ...FAILURES.map((how) => ({ name: `for good: ${how}`, model: downModel(how), isDown: true })),
  ];
}

function rateOf(name: string, pairs: readonly Pair[]): FailoverRate {
  const medianBy = (read: (pair: Pair) => number) => medianOf(pairs.map(read));
  return {
    name,
    perSecond: medianBy(({ failing }) => failing.perSecond),
    latency: {
      p50: medianBy(({ failing }) => failing.latencyMs.p50),
      p99: medianBy(({ failing }) => failing.latencyMs.p99),
    },
    ratio: medianBy(({ healthy, failing }) => failing.perSecond / healthy.perSecond),
    failedShare: medianBy(({ failing, failures }) => failures / failing.answers),
  };
}
