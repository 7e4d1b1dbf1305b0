import type { Model } from "../domain/model.ts";
import type { UpstreamConfig } from "../upstream/upstream.ts";
import type { Config } from "./config.ts";

/** Differences between two configurations of one gateway, by their keys in the file. */
export interface ConfigChanges {
  readonly models: NamedChanges;
  readonly upstreams: NamedChanges;
  /** Other keys whose new values apply at once. */
  readonly settings: readonly string[];
  /** Keys whose new values apply at the next start. */
  readonly needRestart: readonly string[];
}

/** Empty lists are omitted. */
interface NamedChanges {
  readonly added?: readonly string[];
  readonly removed?: readonly string[];
  readonly changed?: readonly string[];
}

type Read = (config: Config) => unknown;

const LIVE: Readonly<Record<string, Read>> = {
  limits: ({ keyLimits }) => keyLimits,
  account_limits: ({ accountLimits }) => accountLimits,
  "billing.client_disconnect": ({ clientDisconnect }) => clientDisconnect,
  "http.cors_origins": ({ corsOrigins }) => corsOrigins,
  "console.sign_up": ({ signUp }) => signUp,
  drain_s: ({ drainMs }) => drainMs,
};

const AT_START: Readonly<Record<string, Read>> = {
  "limits.body_bytes_in_flight": ({ bodyBytesInFlightMax }) => bodyBytesInFlightMax,
  "account_limits.body_bytes_in_flight": ({ accountBodyBytesMax }) => accountBodyBytesMax,
  "http.idle_s": ({ idleS }) => idleS,
  "limiter.on_failure": ({ limiter }) => limiter.onFailure,
  "limiter.replicas": ({ limiter }) => limiter.replicas,
  "ledger.wallets_per_batch": ({ walletsPerBatch }) => walletsPerBatch,
  "billing.hold_ttl_s": ({ holdTtlMs }) => holdTtlMs,
};

export function compareConfigs(running: Config, next: Config): ConfigChanges {
  return {
    models: compareNamed(byId(running.models), byId(next.models)),
    upstreams: compareNamed(byName(running.upstreams), byName(next.upstreams)),
    settings: namesOfDifferent(LIVE, running, next),
    needRestart: namesOfDifferent(AT_START, running, next),
  };
}

/** Returns the next configuration with the running values of settings that apply at the next start. */
export function keepStartSettings(running: Config, next: Config): Config {
  const { bodyBytesInFlightMax, accountBodyBytesMax, idleS, limiter, walletsPerBatch, holdTtlMs } = running;
  const kept = { bodyBytesInFlightMax, accountBodyBytesMax, idleS, limiter, walletsPerBatch, holdTtlMs };
  return Object.freeze({ ...next, ...kept });
}

/** Ignores `createdAtS`, which changes with every version of the file. */
function byId(models: readonly Model[]): ReadonlyMap<string, unknown> {
  return new Map(models.map(({ createdAtS: _, ...model }) => [model.id, model]));
}

function byName(upstreams: readonly UpstreamConfig[]): ReadonlyMap<string, unknown> {
  return new Map(upstreams.map((upstream) => [upstream.name, upstream]));
}

function compareNamed(
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
): NamedChanges {
  const common = [...after.keys()].filter((name) => before.has(name));
  const changes = {
    added: [...after.keys()].filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !after.has(name)),
    changed: common.filter((name) => !isSame(before.get(name), after.get(name))),
  };
  return Object.fromEntries(Object.entries(changes).filter(([, names]) => names.length > 0));
}

function namesOfDifferent(readers: Readonly<Record<string, Read>>, one: Config, other: Config): string[] {
  return Object.entries(readers)
    .filter(([, read]) => !isSame(read(one), read(other)))
    .map(([name]) => name);
}

function isSame(one: unknown, other: unknown): boolean {
  return Bun.deepEquals(one, other, true);
}
