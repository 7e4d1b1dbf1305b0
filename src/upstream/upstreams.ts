import { createDemoUpstream } from "../demo/demo.ts";
import type { Log } from "../telemetry/log.ts";
import type { UpstreamMetrics } from "../telemetry/upstream-metrics.ts";
import { createConnectionPools } from "./bun-fetch.ts";
import { createHealth } from "./cooldown.ts";
import { createHttpUpstream } from "./http-upstream.ts";
import type { Upstream, UpstreamConfig } from "./upstream.ts";

/** The upstreams of the latest configuration, and what has been seen of them. */
export interface Upstreams {
  /**
   * Those of a configuration, by name, and the built-in one. One that is written as before stays the same
   * upstream with all that is known of it; every other is new, and nothing is held against it.
   */
  renew(configs: readonly UpstreamConfig[]): ReadonlyMap<string, Upstream>;
}

interface Surroundings {
  readonly metrics: Pick<UpstreamMetrics, "circuit">;
  readonly log: Log;
  /** Milliseconds that only ever rise. */
  readonly clock: () => number;
}

interface Kept {
  readonly config: UpstreamConfig;
  readonly upstream: Upstream;
}

export function createUpstreams({ metrics, log, clock }: Surroundings): Upstreams {
  const demo = createDemoUpstream();
  /** Of all upstreams together: two of them in one lane would take its idle connections from each other. */
  let lanes = 0;
  let kept: ReadonlyMap<string, Kept> = new Map();

  function create(config: UpstreamConfig): Kept {
    const { name } = config;
    const onChange = (isOpen: boolean) => {
      // Calls of an upstream that has been replaced may still be running: they say nothing of the new one.
      if (kept.get(name) !== created) return;
      metrics.circuit(name, isOpen);
      if (isOpen) log.warn({ upstream: name }, "circuit opened");
      else log.info({ upstream: name }, "circuit closed");
    };
    const health = createHealth({ clock, failuresMax: config.circuitFailures, onChange });
    const created = {
      config,
      upstream: createHttpUpstream(config, { health, lanes: createConnectionPools(() => lanes++) }),
    };
    return created;
  }

  function keepOrCreate(config: UpstreamConfig): Kept {
    const before = kept.get(config.name);
    return before && Bun.deepEquals(before.config, config, true) ? before : create(config);
  }

  return {
    renew(configs) {
      const before = kept;
      kept = new Map(configs.map((config) => [config.name, keepOrCreate(config)]));
      for (const name of new Set([...before.keys(), ...kept.keys()])) {
        if (before.get(name) !== kept.get(name)) metrics.circuit(name, false);
      }
      const byName = [...kept].map(([name, { upstream }]) => [name, upstream] as const);
      return new Map([[demo.name, demo], ...byName]);
    },
  };
}
