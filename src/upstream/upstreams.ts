import { conventionalProvider } from "../catalog/providers.ts";
import type { Log } from "../telemetry/log.ts";
import type { UpstreamMetrics } from "../telemetry/upstream-metrics.ts";
import { type ConnectionPools, createConnectionPools, type Post } from "./bun-fetch.ts";
import { addressOf, createHostPost } from "./http-upstream.ts";
import { findSharedSecrets, type KeyPool, type PooledKey, renewKeys } from "./key-pool.ts";
import type { Upstream, UpstreamConfig } from "./upstream.ts";

/** Creates what sends the requests of all keys of an upstream. */
export type CreatePost = (config: UpstreamConfig, pools: ConnectionPools) => Post;

/** The upstreams of the latest configuration, with their state. */
interface Upstreams {
  /**
   * Returns the upstreams of a configuration and the built-in ones, by name. An upstream with an unchanged
   * configuration is kept with its state. When only its keys have changed, those that are left keep theirs. Any
   * other upstream is new, with closed circuits.
   */
  renew(configs: readonly UpstreamConfig[]): ReadonlyMap<string, Upstream>;
}

interface UpstreamsOptions {
  /** Upstreams of every configuration, beside the configured ones. */
  readonly builtIn: readonly Upstream[];
  readonly metrics: Pick<UpstreamMetrics, "circuit" | "keyCircuit">;
  readonly log: Log;
  /** Milliseconds of a monotonic clock. */
  readonly clock: () => number;
  /** Number of gateways; each admits that part of the limits of a key. Default: 1. */
  readonly replicas?: number | undefined;
  /** Default: over HTTP. */
  readonly createPost?: CreatePost | undefined;
}

interface ConfiguredUpstream {
  readonly config: UpstreamConfig;
  readonly post: Post;
  readonly upstream: Upstream & { readonly keys: KeyPool };
}

export function createUpstreams(options: UpstreamsOptions): Upstreams {
  const { builtIn, metrics, log, clock, replicas = 1, createPost = createHostPost } = options;
  /** Counted over all upstreams: two of them in one pool would take its idle connections from each other. */
  let pools = 0;
  let current: ReadonlyMap<string, ConfiguredUpstream> = new Map();

  function reportChange(name: string, changed: PooledKey, isOpen: boolean, isRejected: boolean): void {
    const { keys = [] } = current.get(name)?.upstream ?? {};
    // Calls of a replaced key may still be running: their outcomes do not concern the new one.
    const key = keys.find(({ health }) => health === changed.health);
    if (!key) return;
    metrics.circuit(name, isOpenIn(keys));
    if (key.label !== undefined) metrics.keyCircuit(name, key.label, isOpen);
    const fields = { upstream: name, key: key.label };
    if (isRejected) log.warn(fields, "upstream rejected a key");
    else if (isOpen) log.warn(fields, "circuit opened");
    else log.info(fields, "circuit closed");
  }

  function create(config: UpstreamConfig, before: ConfiguredUpstream | undefined): ConfiguredUpstream {
    const { name, protocol, baseUrl, timeouts, outputLimitField, defaultTier } = config;
    const kept = before && isOnSameHost(before.config, config) ? before : undefined;
    const post =
      kept?.post ??
      createPost(
        config,
        createConnectionPools(() => pools++),
      );
    const onChange = (key: PooledKey, isOpen: boolean, isRejected: boolean) =>
      reportChange(name, key, isOpen, isRejected);
    const keys = renewKeys(config, kept?.upstream.keys ?? [], { post, replicas, clock, onChange });
    for (const labels of findSharedSecrets(keys)) {
      log.warn({ upstream: name, keys: labels }, "keys of an upstream have one secret");
    }
    const { surfacesOf, messagesHost } = keys[0].sender;
    const address = addressOf(baseUrl);
    const provider = conventionalProvider(protocol, baseUrl);
    const own = { name, provider, address, surfacesOf, timeouts, outputLimitField, messagesHost };
    return { config, post, upstream: { ...own, defaultTier, keys } };
  }

  function keepOrCreate(config: UpstreamConfig): ConfiguredUpstream {
    const before = current.get(config.name);
    return before && Bun.deepEquals(before.config, config, true) ? before : create(config, before);
  }

  function reportRenewed(
    before: ConfiguredUpstream | undefined,
    after: ConfiguredUpstream | undefined,
  ): void {
    const { name, keys: gone = [] } = before?.upstream ?? {};
    if (name !== undefined) {
      for (const { label } of gone) if (label !== undefined) metrics.keyCircuit(name, label, false);
      if (!after) metrics.circuit(name, false);
    }
    if (!after) return;
    const { upstream } = after;
    metrics.circuit(upstream.name, isOpenIn(upstream.keys));
    for (const { label, health } of upstream.keys) {
      if (label !== undefined) metrics.keyCircuit(upstream.name, label, health.isOpen());
    }
  }

  return {
    renew(configs) {
      const before = current;
      current = new Map(configs.map((config) => [config.name, keepOrCreate(config)]));
      for (const name of new Set([...before.keys(), ...current.keys()])) {
        if (before.get(name) !== current.get(name)) reportRenewed(before.get(name), current.get(name));
      }
      const configured = [...current.values()].map(({ upstream }) => upstream);
      return new Map([...builtIn, ...configured].map((upstream) => [upstream.name, upstream]));
    },
  };
}

/** Whether two configurations of an upstream differ in keys at most. */
function isOnSameHost(one: UpstreamConfig, other: UpstreamConfig): boolean {
  const { apiKey: _, keys: __, ...host } = one;
  const { apiKey: ___, keys: ____, ...otherHost } = other;
  return Bun.deepEquals(host, otherHost, true);
}

/** An upstream counts as open when every circuit of its keys is. */
function isOpenIn(keys: readonly PooledKey[]): boolean {
  return keys.every(({ health }) => health.isOpen());
}
