import type { DatabaseLocation } from "../db/location.ts";
import { MODALITIES, printModalPrice } from "../domain/modalities.ts";
import { listPrices, type Model, type Price, type Route } from "../domain/model.ts";
import { printToolFees } from "../domain/tool-fees.ts";
import { printUnitPrice } from "../domain/units.ts";
import type { RedisLocation } from "../limiter/redis/location.ts";
import type { UpstreamConfig } from "../upstream/upstream.ts";
import type { Config, LedgerProcessConfig } from "./config.ts";

/** Differences between two configurations of one gateway, by their keys in the file. */
export interface ConfigChanges {
  readonly models: NamedChanges;
  readonly upstreams: NamedChanges;
  /** Changed prices and costs of routes; `undefined` without any. */
  readonly prices?: PriceChanges | undefined;
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

type Read<Settings = Config> = (config: Settings) => unknown;
const LIVE: Readonly<Record<string, Read>> = {
  default_models: ({ defaultModels }) => defaultModels,
  plans: ({ plans }) => plans,
  company: ({ company }) => company,
  limits: ({ keyLimits }) => keyLimits,
  account_limits: ({ accountLimits }) => accountLimits,
  "billing.refund_credit_days": ({ refundCreditDays }) => refundCreditDays,
  "billing.client_disconnect": ({ clientDisconnect }) => clientDisconnect,
  "http.cors_origins": ({ corsOrigins }) => corsOrigins,
  "log.debug_keys": ({ debugKeys }) => debugKeys,
  "console.sign_up": ({ signUp }) => signUp,
  "console.sign_in": ({ signIn }) => signIn,
  payments: ({ payments }) => payments,
  exports: ({ exports }) => exports,
  drain_delay_s: ({ drainDelayMs }) => drainDelayMs,
  drain_s: ({ drainMs }) => drainMs,
  REDIS_URL: ({ limiter }) => limiter.redis?.password,
  SMTP_URL: ({ console }) => console.mail?.url,
  STRIPE_SECRET_KEY: ({ console }) => console.stripe.secretKey,
  RECORDING_KEYS: ({ console }) => console.recordingKeys,
  STRIPE_WEBHOOK_SECRET: ({ console }) => console.stripe.webhookSecret,
};

/** Secrets of the storage, which a ledger process has too. */
const STORAGE: Readonly<Record<string, Read<LedgerProcessConfig>>> = {
  DATABASE_URL: ({ database }) => splitPassword(database).password,
  LEDGER_TOKEN: ({ ledger }) => ledger.tokens,
  SEALING_KEYS: ({ sealing }) => sealing?.keys,
};

const AT_START: Readonly<Record<string, Read>> = {
  "limits.body_bytes_in_flight": ({ bodyBytesInFlightMax }) => bodyBytesInFlightMax,
  "account_limits.body_bytes_in_flight": ({ accountBodyBytesMax }) => accountBodyBytesMax,
  "http.idle_s": ({ idleS }) => idleS,
  "http.websockets": ({ sockets }) => sockets.total,
  "account_limits.websockets": ({ sockets }) => sockets.perAccount,
  "limits.websockets": ({ sockets }) => sockets.perKey,
  "limiter.on_failure": ({ limiter }) => limiter.onFailure,
  "limiter.replicas": ({ limiter }) => limiter.replicas,
  "ledger.wallets_per_batch": ({ walletsPerBatch }) => walletsPerBatch,
  "recordings.account_bytes": ({ recordings }) => recordings.accountBytes,
  "recordings.total_bytes": ({ recordings }) => recordings.totalBytes,
  "retention.receipts_days": ({ receiptsDays }) => receiptsDays,
  "billing.hold_ttl_s": ({ holdTtlMs }) => holdTtlMs,
  REDIS_URL: ({ limiter }) => withoutPassword(limiter.redis),
  "payments at Stripe": ({ console: { stripe } }) => Boolean(stripe.secretKey && stripe.webhookSecret),
};

const STORAGE_AT_START: typeof STORAGE = { DATABASE_URL: ({ database }) => splitPassword(database).rest };

export function compareConfigs(running: Config, next: Config): ConfigChanges {
  return {
    models: compareNamed(byId(running.models), byId(next.models)),
    upstreams: compareNamed(byName(running.upstreams), byName(next.upstreams)),
    prices: findPriceChanges(running.models, next.models),
    settings: namesOfDifferent({ ...LIVE, ...STORAGE }, running, next),
    needRestart: namesOfDifferent({ ...AT_START, ...STORAGE_AT_START }, running, next),
  };
}

/** Changes of the secrets of a ledger process, and the database that it may use from now on. */
export function compareStorage(running: LedgerProcessConfig, next: LedgerProcessConfig) {
  return {
    settings: namesOfDifferent(STORAGE, running, next),
    needRestart: namesOfDifferent(STORAGE_AT_START, running, next),
    database: keepStartDatabase(running, next),
  };
}

/** Returns the next configuration with the running values of settings that apply at the next start. */
export function keepStartSettings(running: Config, next: Config): Config {
  const { bodyBytesInFlightMax, accountBodyBytesMax, idleS, sockets } = running;
  const bounds = { bodyBytesInFlightMax, accountBodyBytesMax, idleS, sockets };
  const { walletsPerBatch, receiptsDays, recordings, holdTtlMs } = running;
  const kept = { ...bounds, walletsPerBatch, receiptsDays, recordings, holdTtlMs };
  const limiter = { ...running.limiter, redis: keepStartRedis(running.limiter.redis, next.limiter.redis) };
  return Object.freeze({ ...next, ...kept, limiter, database: keepStartDatabase(running, next) });
}

function keepStartRedis(running: RedisLocation | undefined, next: RedisLocation | undefined) {
  return isSame(withoutPassword(running), withoutPassword(next)) ? next : running;
}

function withoutPassword(redis: RedisLocation | undefined): RedisLocation | undefined {
  return redis && { ...redis, password: undefined };
}

/** Returns the next database when it differs from the running one by its password alone. */
function keepStartDatabase(
  { database: running }: LedgerProcessConfig,
  { database: next }: LedgerProcessConfig,
): DatabaseLocation {
  return splitPassword(running).rest === splitPassword(next).rest ? next : running;
}

/** Splits the URL of a database into its password and all else. */
function splitPassword(location: DatabaseLocation): { readonly password: string; readonly rest: string } {
  if (location.dialect === "sqlite") return { password: "", rest: location.path };
  const url = new URL(location.url);
  const { password } = url;
  url.password = "";
  return { password, rest: url.href };
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

function namesOfDifferent<Settings>(
  readers: Readonly<Record<string, Read<Settings>>>,
  one: Settings,
  other: Settings,
): string[] {
  return Object.entries(readers)
    .filter(([, read]) => !isSame(read(one), read(other)))
    .map(([name]) => name);
}

function isSame(one: unknown, other: unknown): boolean {
  return Bun.deepEquals(one, other, true);
}

/** Changes that the log names; the others are counted. */
const NAMED_MAX = 20;

/** Prices and costs that a reload changes, in the keys of the file. */
interface PriceChanges {
  /** The first 20, each as "gpt-5 at openai: price.input 1.25 → 1.50". "none" is an unknown cost. */
  readonly named: readonly string[];
  readonly count: number;
}

/** Compares prices and costs of the routes that two configurations have in common. */
function findPriceChanges(before: readonly Model[], after: readonly Model[]): PriceChanges | undefined {
  const old = new Map(before.map((model) => [model.id, model]));
  const changes = after.flatMap((model) => compareModel(old.get(model.id), model));
  return changes.length === 0 ? undefined : { named: changes.slice(0, NAMED_MAX), count: changes.length };
}

function compareModel(before: Model | undefined, { id, routes }: Model): readonly string[] {
  const left = [...(before?.routes ?? [])];
  return routes.flatMap((route) => {
    const at = left.findIndex((each) => isSamePlace(each, route));
    const [old] = at < 0 ? [] : left.splice(at, 1);
    return old ? compareRoute(old, route).map((change) => `${id} at ${route.upstream}: ${change}`) : [];
  });
}

function isSamePlace(one: Route, other: Route): boolean {
  return one.upstream === other.upstream && one.upstreamModel === other.upstreamModel;
}

function compareRoute(before: Route, after: Route): readonly string[] {
  const [old, now] = [pricesOf(before), pricesOf(after)];
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  return names
    .filter((name) => old[name] !== now[name])
    .map((name) => `${name} ${old[name] ?? "none"} → ${now[name] ?? "none"}`);
}

function pricesOf({ price, cost, longPrice, longCost }: Route): Readonly<Record<string, string>> {
  const groups = { price, cost, "long_context.price": longPrice, "long_context.cost": longCost };
  return Object.fromEntries(
    Object.entries(groups).flatMap(([name, each]) => (each ? printGroup(name, each) : [])),
  );
}

function printGroup(name: string, price: Price): readonly (readonly [string, string])[] {
  if (!price.unit)
    return [
      ...Object.entries(listPrices(price)).map(([key, usd]) => [`${name}.${key}`, usd] as const),
      ...printApart(name, price),
    ];
  const { unit, usd, kinds } = printUnitPrice(price.unit);
  const byKind = Object.entries(kinds ?? { "": usd });
  return byKind.map(([kind, each]) => [`${name}.${unit} ${kind}`.trimEnd(), each] as const);
}

function printApart(name: string, price: Price): readonly (readonly [string, string])[] {
  const fees = Object.entries(printToolFees(price.tools ?? {}));
  return [
    ...fees.map(([tool, usd]) => [`${name}.tools.${tool}`, usd] as const),
    ...MODALITIES.flatMap((modality) =>
      Object.entries(printModalPrice(price[modality] ?? {})).flatMap(([key, usd]) =>
        usd === null ? [] : [[`${name}.${modality}_tokens.${key}`, usd] as const],
      ),
    ),
  ];
}
