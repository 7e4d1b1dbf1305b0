import { DEMO_MODEL } from "../demo/demo-model.ts";
import type { Model } from "../domain/model.ts";
import type { Limits } from "../limiter/limiter.ts";
import type { RedisLocation } from "../limiter/redis/location.ts";
import type { UpstreamConfig } from "../upstream/upstream.ts";
import { readStorage, type StorageConfig } from "./books.ts";
import { checkFileInWorker } from "./check-in-worker.ts";
import { ConfigError } from "./config-error.ts";
import type { Endpoint } from "./endpoint.ts";
import { readEnvironment, readProcess } from "./environment.ts";
import { type CheckedFile, checkFile } from "./file.ts";
import { readModels } from "./models.ts";
import type { Environment } from "./placeholders.ts";
import { createProblems, type Problems } from "./problems.ts";
import { readLedgerSettings, readSettings } from "./settings.ts";
import { placeSource, readSourceNow, type Source, type SourcePlace } from "./source.ts";

/** Everything the environment and the YAML file decide, checked as a whole. */
export interface Config extends LedgerProcessConfig, LiveConfig {
  readonly host: string;
  readonly port: number;
  /** Where the metrics are served; `undefined` is nowhere. */
  readonly metricsListen: Endpoint | undefined;
  /** Whether the catalog is the built-in one with only the demo model. */
  readonly isDemoOnly: boolean;
  readonly limiter: LimiterConfig;
  readonly bodyBytesInFlightMax: number;
  /** What the bodies of one account may take of that; by default a quarter. */
  readonly accountBodyBytesMax: number | undefined;
  /** Seconds after which an idle connection is closed; by default 75. */
  readonly idleS: number | undefined;
  readonly holdTtlMs: number;
}

/** As much of it as a gateway takes over while it runs. */
export interface LiveConfig {
  readonly upstreams: readonly UpstreamConfig[];
  readonly models: readonly Model[];
  /** Per key, unless the key says otherwise. */
  readonly keyLimits: Limits;
  readonly accountLimits: Limits;
  readonly clientDisconnect: "charge_input" | "free";
  /** The web origins whose pages may read answers; none when it is missing. */
  readonly corsOrigins?: readonly string[] | "*" | undefined;
  /** How long running requests may go on after SIGTERM. */
  readonly drainMs: number;
}

/** Where requests, tokens and slots are counted. */
interface LimiterConfig {
  /** What several gateways count in together; `undefined` is in this process alone. */
  readonly redis: RedisLocation | undefined;
  /** What happens while it is away: this process counts alone, or every request is refused. */
  readonly onFailure: "local" | "deny";
  /** How many gateways share it, from 1: counting alone, each admits that part of every limit. */
  readonly replicas: number;
}

/** As much of it as the ledger needs in a process of its own. */
export interface LedgerProcessConfig extends StorageConfig {
  readonly logLevel: string;
  /** Wallets of one transaction at most; `undefined` is no bound. */
  readonly walletsPerBatch: number | undefined;
  /** How long running requests may go on after SIGTERM. */
  readonly drainMs: number;
}

export interface LoadOptions {
  /** What relative paths start from; the working directory by default. */
  readonly folder?: string | undefined;
}

/** A configuration, and what it was read from. */
export interface LoadedConfig {
  readonly config: Config;
  readonly environment: Environment;
  readonly place: SourcePlace;
  readonly source: Source;
}

/**
 * Reads environment and YAML file into a deeply frozen configuration, with the built-in demo model when
 * the file has no models. Throws {@link ConfigError} with every problem there is.
 */
export function loadConfig(environment: Environment = Bun.env, options: LoadOptions = {}): Config {
  return loadWithSource(environment, options).config;
}

/** The same for who will read the file anew. */
export function loadWithSource(
  environment: Environment = Bun.env,
  { folder = "." }: LoadOptions = {},
): LoadedConfig {
  const problems = createProblems();
  const { redis, ...own } = readEnvironment(environment, folder, problems);
  const place = placeSource(environment, folder);
  const source = readSourceNow(place.path);
  const file = checkFile(source, environment, { mayBeAbsent: !place.isNamed }, problems);
  throwAny(problems);
  return { config: deepFreeze({ ...own, ...readFile(file, redis) }), environment, place, source };
}

/**
 * What a running gateway's configuration would be with the file as it was found now. What the environment
 * decides stays. Rejects with {@link ConfigError}, also for a file that is gone or has lost all of its models.
 */
export async function rereadConfig(loaded: LoadedConfig, source: Source): Promise<LoadedConfig> {
  const { config, environment, source: before } = loaded;
  const options = { mayBeAbsent: before.kind === "absent" };
  const file = await checkFileInWorker({ source, environment, options });
  const next = readFile(file, config.limiter.redis);
  const problems = createProblems();
  if (next.isDemoOnly && !config.isDemoOnly) {
    problems.add(["models"], "are all gone", "at least one, since the running gateway has some");
  }
  throwAny(problems);
  return { ...loaded, config: deepFreeze({ ...config, ...next }), source };
}

function readFile({ content, writtenAtS }: CheckedFile, redis: RedisLocation | undefined) {
  const models = readModels(content, writtenAtS);
  const isDemoOnly = models.length === 0;
  const { limiter, ...settings } = readSettings(content);
  return {
    ...settings,
    limiter: { redis, ...limiter },
    isDemoOnly,
    models: isDemoOnly ? [DEMO_MODEL] : models,
  };
}

/** The same for a process that serves the ledger alone: needs no upstream's key. Throws {@link ConfigError}. */
export function loadLedgerConfig(
  environment: Environment = Bun.env,
  { folder = "." }: LoadOptions = {},
): LedgerProcessConfig {
  const problems = createProblems();
  const own = readProcess(environment, folder, problems);
  const { path, isNamed } = placeSource(environment, folder);
  const options = { mayBeAbsent: !isNamed, keys: ["ledger", "drain_s"] } as const;
  const { content } = checkFile(readSourceNow(path), environment, options, problems);
  throwAny(problems);
  return deepFreeze({ ...own, ...readLedgerSettings(content) });
}

/** Only where the books are, for work on them that needs no file. Throws {@link ConfigError}. */
export function loadStorageConfig(
  environment: Environment = Bun.env,
  { folder = "." }: LoadOptions = {},
): StorageConfig {
  const problems = createProblems();
  const books = readStorage(environment, folder, problems);
  throwAny(problems);
  return deepFreeze(books);
}

function throwAny(problems: Problems): void {
  const all = problems.list();
  if (all.length > 0) throw new ConfigError(all);
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}
