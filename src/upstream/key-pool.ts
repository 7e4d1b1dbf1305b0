import type { Post } from "./bun-fetch.ts";
import { createHealth, type Health } from "./cooldown.ts";
import { createFirstOutputTimes } from "./first-output-times.ts";
import { createHttpSender, type HttpSender } from "./http-upstream.ts";
import { createKeyBounds } from "./key-bounds.ts";
import type { KeyConfig, UpstreamConfig, UpstreamKey } from "./upstream.ts";

/** One key with the secret that its state belongs to. */
export interface PooledKey extends UpstreamKey {
  readonly apiKey: string;
  readonly sender: HttpSender;
}

export type KeyPool = readonly [PooledKey, ...PooledKey[]];

interface PoolOptions {
  /** Sends the requests of all keys. */
  readonly post: Post;
  /** Number of gateways; each admits that part of a key's limits. */
  readonly replicas: number;
  /** Milliseconds of a monotonic clock. */
  readonly clock: () => number;
  /** Called when a circuit opens or closes, and when a key is rejected. */
  onChange(key: PooledKey, isOpen: boolean, isRejected: boolean): void;
}

const NO_LIMITS = {};

/** Returns the keys of a configuration: those of its pool, or its only one, which has no label. */
export function keyConfigsOf(config: UpstreamConfig): readonly (Omit<KeyConfig, "label"> & {
  readonly label: string | undefined;
})[] {
  return config.keys ?? [{ label: undefined, apiKey: config.apiKey, weight: 1, limits: NO_LIMITS }];
}

/**
 * Returns the keys of an upstream. A key with the label and the secret of one in `before` keeps its state, also
 * under another weight and other limits; any other is new, with a closed circuit.
 */
export function renewKeys(
  config: UpstreamConfig,
  before: readonly PooledKey[],
  options: PoolOptions,
): KeyPool {
  const configs = keyConfigsOf(config);
  let weights = 0;
  for (const { weight } of configs) weights += weight;
  const keys = configs.map(({ label, apiKey, weight, limits }) => {
    const known = before.find((key) => key.label === label && key.apiKey === apiKey);
    const state = known ?? createKey({ ...config, apiKey, keys: undefined }, label, options);
    const bounds = isUnlimited(limits) ? undefined : (state.bounds ?? createKeyBounds(limits, options));
    bounds?.change(limits);
    return { ...state, weight, share: weight / weights, bounds };
  });
  const [first, ...others] = keys;
  if (!first) throw new Error("A pool has a key");
  return [first, ...others];
}

function isUnlimited(limits: KeyConfig["limits"]): boolean {
  return Object.values(limits).every((limit) => limit === undefined);
}

function createKey(config: UpstreamConfig, label: string | undefined, options: PoolOptions): PooledKey {
  const { clock, post, onChange } = options;
  const sender = createHttpSender(config, post);
  const health = createHealth({
    clock,
    failuresMax: config.circuitFailures,
    onChange: (isOpen, isRejected) => onChange(key, isOpen, isRejected),
  });
  const { probe, send } = sender;
  const sole = createSoleKey(config.name, { label, health, clock, probe, send });
  const key: PooledKey = { ...sole, apiKey: config.apiKey, sender };
  return key;
}

interface SoleKeyOptions extends Pick<UpstreamKey, "probe" | "send"> {
  readonly label?: string | undefined;
  readonly health: Health;
  /** Milliseconds of a monotonic clock. */
  readonly clock: () => number;
}

/** Returns the only key of an upstream, without bounds. */
export function createSoleKey(
  upstream: string,
  { label, health, clock, probe, send }: SoleKeyOptions,
): UpstreamKey {
  const seed = Bun.hash.xxHash32(`${upstream}\0${label ?? ""}`);
  const times = createFirstOutputTimes(clock);
  return { label, weight: 1, share: 1, seed, health, bounds: undefined, times, probe, send };
}

/** Returns the labels of keys that have one secret, each such group once. */
export function findSharedSecrets(keys: readonly PooledKey[]): readonly (readonly string[])[] {
  const labels = Map.groupBy(keys, ({ apiKey }) => apiKey);
  const shared = [...labels.values()].filter(({ length }) => length > 1);
  return shared.map((group) => group.map(({ label }) => label ?? ""));
}
