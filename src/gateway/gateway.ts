import type { Authenticate } from "../accounts/keys/key.ts";
import type { OwnKeys } from "../accounts/keys/own-keys.ts";
import type { Bodies } from "../bodies/bodies.ts";
import type { CooperativeYield } from "../bodies/cooperative-yield.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { DefaultModels } from "../domain/model.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Limiter, Limits } from "../limiter/limiter.ts";
import type { SharedTimer } from "../platform.ts";
import type { Recorder } from "../recordings/recording.ts";
import type { RefusalRecorder } from "../refusals/refusal.ts";
import type { SettlementOutbox } from "../settlement-outbox/entry.ts";
import type { Log } from "../telemetry/log.ts";
import type { OpenFiles } from "../telemetry/open-files.ts";
import type { RequestMetrics } from "../telemetry/request-metrics.ts";
import type { RequestTracing } from "../telemetry/request-tracing.ts";
import type { UpstreamMetrics } from "../telemetry/upstream-metrics.ts";
import type { TokenCounter } from "../tokens/count-tokens.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { CallerWatch } from "./caller-watch.ts";
import type { DeclineMemory } from "./decline.ts";
import type { Heartbeats } from "./heartbeats.ts";
import type { HoldHealth } from "./hold-health.ts";
import type { AbortSource } from "./request.ts";
import type { AttributionNames, Runs } from "./scopes.ts";

/** What a client pays that disconnects before any output: the input of its request, or nothing. */
export type ClientDisconnect = "charge_input" | "free";

/** The settings of the gateway that a configuration reload replaces. */
export interface GatewaySettings {
  readonly catalog: Catalog;
  /** By name. */
  readonly upstreams: ReadonlyMap<string, Upstream>;
  /** Limits of a key that sets none of its own. */
  /** The models of requests that name none. Default: none. */
  readonly defaultModels?: DefaultModels | undefined;
  readonly keyLimits: Limits;
  readonly accountLimits: Limits;
  readonly clientDisconnect: ClientDisconnect;
  /** Follows requests step by step; `undefined` when none is followed. */
  readonly tracing: RequestTracing | undefined;
}

/** Counts what ended at the routes of models. */
interface RouteCounts {
  ended(
    route: { readonly model: string; readonly upstream: string; readonly upstreamModel: string },
    end: { readonly outcome: string; readonly firstOutputMs: number | undefined },
  ): void;
}

/** The parts that a request uses. Immutable: a reload creates a new gateway; running requests keep theirs. */
export interface Gateway extends GatewaySettings {
  readonly authenticate: Authenticate;
  readonly keys: OwnKeys;
  /** Whether one person sends requests of both accounts; not of operators, who need not be kept from their keys. */
  readonly isOnePerson: (account: string, other: string) => Promise<boolean>;
  readonly limiter: Limiter;
  readonly ledger: Ledger;
  /** Stores settlements on disk while the ledger is away. */
  readonly outbox: SettlementOutbox;
  readonly tokens: TokenCounter;
  readonly bodies: Bodies;
  /** Yields the event loop between pieces of long work. */
  readonly cooperativeYield: CooperativeYield;
  readonly heartbeats: Heartbeats;
  readonly callers: CallerWatch;
  readonly declines: DeclineMemory;
  readonly refusals: RefusalRecorder;
  /** Keeps bodies of the keys that say so. Default: none. */
  readonly recorder?: Recorder | undefined;
  readonly attribution: AttributionNames;
  readonly runs: Runs;
  readonly holdHealth: HoldHealth;
  readonly holdTtlMs: number;
  readonly files: OpenFiles;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
  /** Watches the time limits of all requests; of the same clock. */
  readonly timer: SharedTimer;
  readonly log: Log;
  readonly metrics: UpstreamMetrics;
  /** What lasts beyond this process, for the figures of the last day. */
  readonly routeHours: RouteCounts;
  readonly requestMetrics: RequestMetrics;
  /** Aborted at the drain limit: running requests then end as they stand. */
  readonly shutdown: AbortSource;
}

/** Ends the running requests of a process that stops. An `AbortSignal` would cost each request 2 µs. */
export class Shutdown implements AbortSource {
  readonly #listeners = new Set<() => void>();
  #isAborted = false;

  get aborted(): boolean {
    return this.#isAborted;
  }

  abort(): void {
    this.#isAborted = true;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.delete(listener);
  }
}
