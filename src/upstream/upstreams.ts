import type { Log } from "../telemetry/log.ts";
import type { UpstreamMetrics } from "../telemetry/upstream-metrics.ts";
import { createConnectionPools } from "./bun-fetch.ts";
import { createHealth } from "./cooldown.ts";
import { createHttpUpstream } from "./http-upstream.ts";
import type { Upstream, UpstreamConfig } from "./upstream.ts";

/** The upstreams of the latest configuration, with their state. */
export interface Upstreams {
  /**
   * Returns the upstreams of a configuration and the built-in ones, by name. An upstream with an unchanged
   * configuration is kept with its state; any other is new, with a closed circuit.
   */
  renew(configs: readonly UpstreamConfig[]): ReadonlyMap<string, Upstream>;
}

interface UpstreamsOptions {
  /** Upstreams of every configuration, beside the configured ones. */
  readonly builtIn: readonly Upstream[];
  readonly metrics: Pick<UpstreamMetrics, "circuit">;
  readonly log: Log;
  /** Milliseconds of a monotonic clock. */
  readonly clock: () => number;
}

interface ConfiguredUpstream {
  readonly config: UpstreamConfig;
  readonly upstream: Upstream;
}

export function createUpstreams({ builtIn, metrics, log, clock }: UpstreamsOptions): Upstreams {
  /** Counted over all upstreams: two of them in one pool would take its idle connections from each other. */
  let pools = 0;
  let current: ReadonlyMap<string, ConfiguredUpstream> = new Map();

  function create(config: UpstreamConfig): ConfiguredUpstream {
    const { name } = config;
    const onChange = (isOpen: boolean) => {
      // Calls of a replaced upstream may still be running: their outcomes do not concern the new one.
      if (current.get(name) !== created) return;
      metrics.circuit(name, isOpen);
      if (isOpen) log.warn({ upstream: name }, "circuit opened");
      else log.info({ upstream: name }, "circuit closed");
    };
    const health = createHealth({ clock, failuresMax: config.circuitFailures, onChange });
    const parts = { health, pools: createConnectionPools(() => pools++) };
    const created = { config, upstream: createHttpUpstream(config, parts) };
    return created;
  }

  function keepOrCreate(config: UpstreamConfig): ConfiguredUpstream {
    const before = current.get(config.name);
    return before && Bun.deepEquals(before.config, config, true) ? before : create(config);
  }

  return {
    renew(configs) {
      const before = current;
      current = new Map(configs.map((config) => [config.name, keepOrCreate(config)]));
      for (const name of new Set([...before.keys(), ...current.keys()])) {
        if (before.get(name) !== current.get(name)) metrics.circuit(name, false);
      }
      const configured = [...current.values()].map(({ upstream }) => upstream);
      return new Map([...builtIn, ...configured].map((upstream) => [upstream.name, upstream]));
    },
  };
}
