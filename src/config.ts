import type { Model, Protocol } from "./domain/model.ts";
import type { Limits } from "./limiter/limiter.ts";
import type { UpstreamTimeouts } from "./upstream/upstream.ts";

/** An upstream as the operator wrote it. */
export interface UpstreamConfig {
  readonly name: string;
  readonly protocol: Protocol;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly timeouts: UpstreamTimeouts;
  readonly outputLimitField: "max_tokens" | "max_completion_tokens" | undefined;
}

/** Everything the environment and the YAML file decide, checked as a whole. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly databasePath: string;
  readonly logLevel: string;
  /** Whether the catalog is the built-in one with only the demo model. */
  readonly isDemoOnly: boolean;
  readonly upstreams: readonly UpstreamConfig[];
  readonly models: readonly Model[];
  /** Per key, unless the key says otherwise. */
  readonly keyLimits: Limits;
  readonly accountLimits: Limits;
  readonly bodyBytesInFlightMax: number;
  readonly holdTtlMs: number;
  /** How long running requests may go on after SIGTERM. */
  readonly drainMs: number;
}
