import type { Registry } from "prom-client";
import { type ReadBackground, registerBackground } from "./background-metrics.ts";
import {
  type CountedUpstreams,
  countUpstreams,
  type PromClient,
  type UpstreamMetrics,
} from "./upstream-metrics.ts";

/** The store that decided: Redis, the memory of this process, or none. */
type LimiterStore = "redis" | "memory" | "none";

/** "unavailable" is a decline because no store could decide. */
type LimiterOutcome = "admitted" | "rate" | "concurrency" | "unavailable";

/** Counts what the limiter does. A call costs a few nanoseconds. No label may name a key or an account. */
export interface LimiterMetrics {
  /**
   * Sets whether Redis decides, for one shard. Otherwise this process decides alone, or declines everything.
   */
  shared(shard: string, isShared: boolean): void;
  /** Counts one decision. */
  decided(store: LimiterStore, outcome: LimiterOutcome): void;
  /**
   * Sets the number of gateways of this database that count limits alone, including this one. N of them admit
   * N times the limits.
   */
  peerGateways(count: number): void;
}

/** The metrics of a gateway, for Prometheus. */
export interface Metrics {
  readonly limiter: LimiterMetrics;
  readonly upstream: UpstreamMetrics & Pick<CountedUpstreams, "attempts">;
  /** Shows the state of the work in the background. Must be called before the first reading. */
  watchBackground(read: ReadBackground): void;
  /**
   * Prints the current values in the text format of Prometheus.
   *
   * @see https://prometheus.io/docs/instrumenting/exposition_formats/
   */
  print(): Promise<string>;
  readonly contentType: string;
}

interface LimiterState {
  readonly sharedByShard: Map<string, boolean>;
  readonly decisions: Readonly<Record<LimiterStore, Record<LimiterOutcome, number>>>;
  peerGateways: number;
}

/**
 * The series that are printed as 0 from the start: Prometheus sees no increase in a series that begins at 1.
 */
const INITIAL_OUTCOMES: Readonly<Record<LimiterStore, readonly LimiterOutcome[]>> = {
  redis: ["admitted", "rate", "concurrency"],
  memory: ["admitted", "rate", "concurrency"],
  none: ["unavailable"],
};

/**
 * Creates the metrics of one gateway, separate from others in the process. They are plain numbers until they
 * are read.
 */
export function createMetrics(): Metrics {
  const state: LimiterState = {
    sharedByShard: new Map(),
    decisions: { redis: noDecisions(), memory: noDecisions(), none: noDecisions() },
    peerGateways: 0,
  };
  const upstream = countUpstreams();
  let background: ReadBackground | undefined;
  let registry: Promise<Registry> | undefined;
  return {
    limiter: {
      shared: (shard, isShared) => void state.sharedByShard.set(shard, isShared),
      decided(store, outcome) {
        state.decisions[store][outcome] += 1;
      },
      peerGateways(count) {
        state.peerGateways = count;
      },
    },
    upstream,
    watchBackground(read) {
      background = read;
    },
    async print() {
      registry ??= register(state, upstream, background);
      return (await registry).metrics();
    },
    contentType: "text/plain; version=0.0.4; charset=utf-8",
  };
}

function noDecisions(): Record<LimiterOutcome, number> {
  return { admitted: 0, rate: 0, concurrency: 0, unavailable: 0 };
}

/** Loads the library at the first reading, because it would add 30 ms to the start. */
async function register(
  state: LimiterState,
  upstream: CountedUpstreams,
  background: ReadBackground | undefined,
): Promise<Registry> {
  const client = await import("prom-client");
  const registry = new client.Registry();
  registerProcess(client, registry);
  registerLimiter(client, registry, state);
  upstream.register(client, registry);
  if (background) registerBackground(client, registry, { read: background, now: Date.now });
  return registry;
}

function registerLimiter(client: PromClient, registry: Registry, state: LimiterState): void {
  const registers = [registry];
  new client.Gauge({
    name: "tollgate_limiter_shared",
    help: "1 while Redis counts the limits, 0 while it is away; by shard, none without REDIS_URL.",
    labelNames: ["shard"],
    registers,
    collect() {
      for (const [shard, isShared] of state.sharedByShard) this.set({ shard }, isShared ? 1 : 0);
    },
  });
  new client.Counter({
    name: "tollgate_limiter_decisions_total",
    help: "Requests that the limiter decided, by store and outcome.",
    labelNames: ["store", "outcome"],
    registers,
    collect() {
      this.reset();
      for (const { store, outcome, count } of rowsOf(state)) this.inc({ store, outcome }, count);
    },
  });
  new client.Gauge({
    name: "tollgate_limiter_gateways",
    help: "Gateways of this database that count limits alone; all gateways with REDIS_URL count as one.",
    registers,
    collect() {
      this.set(state.peerGateways);
    },
  });
}

function rowsOf({ decisions }: LimiterState) {
  const stores = Object.keys(decisions) as LimiterStore[];
  const outcomes = Object.keys(noDecisions()) as LimiterOutcome[];
  return stores
    .flatMap((store) => outcomes.map((outcome) => ({ store, outcome, count: decisions[store][outcome] })))
    .filter(({ store, outcome, count }) => count > 0 || INITIAL_OUTCOMES[store].includes(outcome));
}

/**
 * The process metrics of prom-client that are correct on Bun. Left out because they are wrong:
 * - heap sizes: address space, and a used heap larger than the total;
 * - handles, requests, resources and garbage collections: always 0;
 * - the version of Node;
 * - mean, minimum and deviation of the lag: NaN without samples.
 */
const CORRECT_ON_BUN = [
  "process_cpu_user_seconds_total",
  "process_cpu_system_seconds_total",
  "process_cpu_seconds_total",
  "process_start_time_seconds",
  "process_resident_memory_bytes",
  "process_virtual_memory_bytes",
  "process_open_fds",
  "process_max_fds",
  "nodejs_eventloop_lag_seconds",
  "nodejs_eventloop_lag_max_seconds",
  "nodejs_eventloop_lag_p50_seconds",
  "nodejs_eventloop_lag_p90_seconds",
  "nodejs_eventloop_lag_p99_seconds",
];

/** Registers CPU time (from now on), memory, open files, and the event-loop lag since the last reading. */
function registerProcess(client: PromClient, registry: Registry): void {
  client.collectDefaultMetrics({ register: registry });
  for (const { name } of registry.getMetricsAsArray()) {
    if (!CORRECT_ON_BUN.includes(name)) registry.removeSingleMetric(name);
  }
}
