import type { Registry } from "prom-client";
import { backgroundFamilies, type ReadBackground } from "./background-metrics.ts";
import { countLedger, type LedgerMetrics } from "./ledger-metrics.ts";
import { countPlans, type PlanMetrics } from "./plan-metrics.ts";
import { collectProcess } from "./process-metrics.ts";
import { countRecordings, type RecordingMetrics } from "./recording-metrics.ts";
import { type CountedRequests, countRequests, type RequestMetrics } from "./request-metrics.ts";
import { counter, type Family, gauge, type Labels } from "./series.ts";
import { type CountedUpstreams, countUpstreams, type UpstreamMetrics } from "./upstream-metrics.ts";

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

/** How a sign-in at the console ended; `failed` is a fault of the service. */
export type SignInResult = "accepted" | "wrong" | "code_needed" | "throttled" | "failed";

/** Counts sign-ins at the console. */
export interface SignInMetrics {
  signedIn(result: SignInResult): void;
}

/** Metrics that can be read. */
export interface PrintedMetrics {
  /** Shows the state of the work in the background. Must be called before the first reading. */
  watchBackground(read: ReadBackground): void;
  /** Shows the open WebSockets. Must be called before the first reading. */
  watchSockets(read: () => OpenSockets): void;
  /** Shows what the telemetry has lost. Must be called before the first reading. */
  watchLosses(read: () => Losses): void;
  /**
   * Prints the current values in the text format of Prometheus.
   *
   * @see https://prometheus.io/docs/instrumenting/exposition_formats/
   */
  print(): Promise<string>;
  readonly contentType: string;
}

/** The metrics of a gateway, for Prometheus. */
export interface Metrics extends PrintedMetrics {
  readonly limiter: LimiterMetrics;
  readonly upstream: UpstreamMetrics & Pick<CountedUpstreams, "attempts">;
  readonly requests: RequestMetrics & Pick<CountedRequests, "announce">;
  readonly ledger: LedgerMetrics;
  readonly signIns: SignInMetrics;
  readonly plans: PlanMetrics;
  readonly recordings: RecordingMetrics;
}

/** The metrics of a process that runs the ledger alone. */
export interface LedgerProcessMetrics extends PrintedMetrics {
  readonly ledger: LedgerMetrics;
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
 * are read. `info` are the labels of what runs, such as its version.
 */
export function createMetrics(info: Labels = {}): Metrics {
  const state: LimiterState = {
    sharedByShard: new Map(),
    decisions: { redis: noDecisions(), memory: noDecisions(), none: noDecisions() },
    peerGateways: 0,
  };
  const upstream = countUpstreams();
  const requests = countRequests();
  const ledger = countLedger();
  const plans = countPlans();
  const recordings = countRecordings();
  const signIns = { accepted: 0, wrong: 0, code_needed: 0, throttled: 0, failed: 0 };
  const printed = createPrinted(info, [
    ...limiterFamilies(state),
    ...upstream.families,
    ...requests.families,
    ...ledger.families,
    ...plans.families,
    ...recordings.families,
    counter("tollgate_console_sign_ins_total", "Sign-ins at the console, by result.", () =>
      Object.entries(signIns).map(([result, count]) => [{ result }, count]),
    ),
  ]);
  return {
    ...printed,
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
    requests,
    ledger,
    plans,
    recordings,
    signIns: {
      signedIn(result) {
        signIns[result] += 1;
      },
    },
  };
}

/** Creates the metrics of a process that runs the ledger alone, as {@link createMetrics} does. */
export function createLedgerMetrics(info: Labels = {}): LedgerProcessMetrics {
  const ledger = countLedger();
  return { ...createPrinted(info, ledger.families), ledger };
}

function createPrinted(info: Labels, families: readonly Family[]): PrintedMetrics {
  const all = [
    gauge("tollgate_build_info", "1, with the version of what runs, and its role.", () => [[info, 1]]),
    ...families,
  ];
  let read: ReadBackground | undefined;
  let losses: (() => Losses) | undefined;
  let sockets: (() => OpenSockets) | undefined;
  let collected: Promise<Registry> | undefined;
  return {
    watchBackground(reader) {
      read = reader;
    },
    watchSockets(reader) {
      sockets = reader;
    },
    watchLosses(reader) {
      losses = reader;
    },
    async print() {
      collected ??= collectProcess().catch((error) => {
        // A failed load is tried again at the next reading.
        collected = undefined;
        throw error;
      });
      const [process, state] = await Promise.all([collected.then((each) => each.metrics()), read?.()]);
      const background = state ? backgroundFamilies(state, Date.now()) : [];
      const lost = losses ? lossFamilies(losses()) : [];
      const open = sockets ? socketFamilies(sockets()) : [];
      return [process, ...[...all, ...open, ...lost, ...background].map((family) => family.print())].join(
        "\n",
      );
    },
    contentType: "text/plain; version=0.0.4; charset=utf-8",
  };
}

function noDecisions(): Record<LimiterOutcome, number> {
  return { admitted: 0, rate: 0, concurrency: 0, unavailable: 0 };
}

function limiterFamilies(state: LimiterState): readonly Family[] {
  return [
    gauge(
      "tollgate_limiter_shared",
      "1 while Redis counts the limits, 0 while it is away; by shard, none without REDIS_URL.",
      () => [...state.sharedByShard].map(([shard, isShared]) => [{ shard }, isShared ? 1 : 0]),
    ),
    counter(
      "tollgate_limiter_decisions_total",
      "Requests that the limiter decided, by store and outcome.",
      () => rowsOf(state).map(({ store, outcome, count }) => [{ store, outcome }, count]),
    ),
    gauge(
      "tollgate_limiter_gateways",
      "Gateways of this database that count limits alone; all gateways with REDIS_URL count as one.",
      () => [[{}, state.peerGateways]],
    ),
  ];
}

function rowsOf({ decisions }: LimiterState) {
  const stores = Object.keys(decisions) as LimiterStore[];
  const outcomes = Object.keys(noDecisions()) as LimiterOutcome[];
  return stores
    .flatMap((store) => outcomes.map((outcome) => ({ store, outcome, count: decisions[store][outcome] })))
    .filter(({ store, outcome, count }) => count > 0 || INITIAL_OUTCOMES[store].includes(outcome));
}

/** The WebSockets of this process. */
interface OpenSockets {
  readonly count: number;
  /** What their conversations take. */
  readonly memoryBytes: number;
}

function socketFamilies({ count, memoryBytes }: OpenSockets): readonly Family[] {
  return [
    gauge("tollgate_websockets_open", "WebSockets of responses that are open.", () => [[{}, count]]),
    gauge("tollgate_websocket_memory_bytes", "Memory of the conversations of open WebSockets.", () => [
      [{}, memoryBytes],
    ]),
  ];
}

/** What the telemetry of this process has lost since its start. */
interface Losses {
  readonly logLines: number;
  readonly spans: number;
}

/** Returns one counter for each kind of loss. */
function lossFamilies({ logLines, spans }: Losses): readonly Family[] {
  return [
    counter(
      "tollgate_log_lines_dropped_total",
      "Log lines that were dropped because stdout was not read.",
      () => [[{}, logLines]],
    ),
    counter(
      "tollgate_trace_spans_dropped_total",
      "Spans that were not exported: the queue was full, or the receiver failed.",
      () => [[{}, spans]],
    ),
  ];
}
