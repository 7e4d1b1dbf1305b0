import type { Registry } from "prom-client";
import { type CountedUpstreams, countUpstreams, type UpstreamMetrics } from "./upstream-metrics.ts";

/** Who decided: Redis, this process's memory, or nobody could. */
type LimiterStore = "redis" | "memory" | "none";

/** "unavailable" is a refusal because nobody could decide. */
type LimiterOutcome = "admitted" | "rate" | "concurrency" | "unavailable";

/** What the limiter tells of itself. Costs a few nanoseconds a call; no label may name a key or an account. */
export interface LimiterMetrics {
  /** Whether Redis decides, for one shard of it; while it does not, this process alone does, or all is refused. */
  shared(shard: string, isShared: boolean): void;
  /** One decision. */
  decided(store: LimiterStore, outcome: LimiterOutcome): void;
  /** How many gateways of this database count limits for themselves, this one included: N admit N times as much. */
  neighbours(count: number): void;
}

/** What a gateway counts of itself, for Prometheus. */
export interface Metrics {
  readonly limiter: LimiterMetrics;
  readonly upstream: UpstreamMetrics;
  /** All of it in Prometheus' text format, as it is now. */
  print(): Promise<string>;
  readonly contentType: string;
}

type PromClient = typeof import("prom-client");

interface LimiterState {
  readonly sharedByShard: Map<string, boolean>;
  readonly decisions: Readonly<Record<LimiterStore, Record<LimiterOutcome, number>>>;
  neighbours: number;
}

/** What is said from the start, as 0: Prometheus sees no growth in a row that begins with 1. */
const USUAL: Readonly<Record<LimiterStore, readonly LimiterOutcome[]>> = {
  redis: ["admitted", "rate", "concurrency"],
  memory: ["admitted", "rate", "concurrency"],
  none: ["unavailable"],
};

/** Metrics of one gateway, none shared with others of the process. Until they are read they are plain numbers. */
export function createMetrics(): Metrics {
  const state: LimiterState = {
    sharedByShard: new Map(),
    decisions: { redis: noDecisions(), memory: noDecisions(), none: noDecisions() },
    neighbours: 0,
  };
  const upstream = countUpstreams();
  let registry: Promise<Registry> | undefined;
  return {
    limiter: {
      shared: (shard, isShared) => void state.sharedByShard.set(shard, isShared),
      decided(store, outcome) {
        state.decisions[store][outcome] += 1;
      },
      neighbours(count) {
        state.neighbours = count;
      },
    },
    upstream,
    async print() {
      registry ??= register(state, upstream);
      return (await registry).metrics();
    },
    contentType: "text/plain; version=0.0.4; charset=utf-8",
  };
}

function noDecisions(): Record<LimiterOutcome, number> {
  return { admitted: 0, rate: 0, concurrency: 0, unavailable: 0 };
}

/** The library is loaded by the first who reads: it costs a start 30 ms. */
async function register(state: LimiterState, upstream: CountedUpstreams): Promise<Registry> {
  const client = await import("prom-client");
  const registry = new client.Registry();
  registerProcess(client, registry);
  registerLimiter(client, registry, state);
  upstream.register(client, registry);
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
    help: "Requests that the limiter decided on, by who counted and what came of it.",
    labelNames: ["store", "outcome"],
    registers,
    collect() {
      this.reset();
      for (const { store, outcome, count } of rowsOf(state)) this.inc({ store, outcome }, count);
    },
  });
  new client.Gauge({
    name: "tollgate_limiter_gateways",
    help: "Gateways of this database that count limits for themselves; all with REDIS_URL are one.",
    registers,
    collect() {
      this.set(state.neighbours);
    },
  });
}

function rowsOf({ decisions }: LimiterState) {
  const stores = Object.keys(decisions) as LimiterStore[];
  const outcomes = Object.keys(noDecisions()) as LimiterOutcome[];
  return stores
    .flatMap((store) => outcomes.map((outcome) => ({ store, outcome, count: decisions[store][outcome] })))
    .filter(({ store, outcome, count }) => count > 0 || USUAL[store].includes(outcome));
}

/**
 * Those of prom-client's process metrics that are true on Bun. Left out: heap sizes (address space, and a used
 * heap larger than the whole), handles, requests, resources and garbage collections (always 0), the version
 * of a Node that is not there, and the mean, minimum and deviation of the lag (not numbers after no sample).
 */
const TRUE_ON_BUN = [
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

/** Adds what the process is: CPU (from now on), memory, open files, the event loop's lag since the last reading. */
export function registerProcess(client: typeof import("prom-client"), registry: Registry): void {
  client.collectDefaultMetrics({ register: registry });
  for (const { name } of registry.getMetricsAsArray()) {
    if (!TRUE_ON_BUN.includes(name)) registry.removeSingleMetric(name);
  }
}
