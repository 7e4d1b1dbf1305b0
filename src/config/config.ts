import { resolve } from "node:path";
import { DEMO_MODEL } from "../demo/demo-model.ts";
import type { Company } from "../domain/company.ts";
import type { DefaultModels, Model } from "../domain/model.ts";
import type { Plan } from "../domain/plan.ts";
import type { SignInRules } from "../domain/sign-in-rules.ts";
import type { SocketBounds } from "../domain/socket-bounds.ts";
import type { ExportConfig } from "../exports/export-config.ts";
import type { Limits } from "../limiter/limiter.ts";
import type { RedisLocation } from "../limiter/redis/location.ts";
import type { RecordingBounds } from "../recordings/store.ts";
import type { TracesConfig } from "../telemetry/request-tracing.ts";
import type { UpstreamConfig } from "../upstream/upstream.ts";
import { createWorkerQueue } from "../workers/worker-queue.ts";
import type { CheckAnswer, CheckQuestion } from "./check-worker.ts";
import { readCompany } from "./company.ts";
import { type ConsoleConfig, readConsole } from "./console.ts";
import type { Endpoint } from "./endpoint.ts";
import { ENV_FILE } from "./env-file.ts";
import {
  type HttpAddress,
  readDatabase,
  readEnvironment,
  readHttpAddress,
  readLedgerProcess,
  readStorage,
  type StorageConfig,
} from "./environment.ts";
import { type CheckedFile, checkFile } from "./file.ts";
import type { FilledIn } from "./known.ts";
import { readTokens } from "./ledger.ts";
import type { PaymentsConfig } from "./payments.ts";
import type { Environment, Variables } from "./placeholders.ts";
import { readPlans } from "./plans.ts";
import { ConfigError, createProblems, type Problems } from "./problems.ts";
import { readMasterKeys } from "./recordings.ts";
import { rereadRedis } from "./redis.ts";
import { fillSecrets, GATEWAY_SECRETS, readSecretsNow, reportSecrets, STORAGE_SECRETS } from "./secrets.ts";
import { readLedgerSettings, readModels, readSettings } from "./settings.ts";
import { placeSources, readSourcesNow, readVariables, type Sources, type SourcesPlace } from "./sources.ts";

/** The configuration of a gateway, from the environment and the YAML file. */
export interface Config extends LedgerProcessConfig, LiveConfig, HttpAddress {
  /** Whether the file has no models, so that the catalog is the built-in demo model alone. */
  readonly isDemoOnly: boolean;
  /** Whether the first start makes the demo's key and operator. Default: only where `host` is loopback. */
  readonly demo?: boolean | undefined;
  /** What of the models was filled in from the catalog of known models. Default: nothing. */
  readonly known?: readonly FilledIn[] | undefined;
  readonly limiter: LimiterConfig;
  readonly console: ConsoleConfig;
  /** How many bytes of recordings the database keeps. */
  readonly recordings: RecordingBounds;
  /** Maximum bytes of all request bodies in memory. */
  readonly bodyBytesInFlightMax: number;
  /** Maximum for the bodies of one account. Default: a quarter of `bodyBytesInFlightMax`. */
  readonly accountBodyBytesMax: number | undefined;
  /** Seconds after which an idle connection is closed. Default: 75. */
  readonly idleS: number | undefined;
  /** How many WebSockets may be open. */
  readonly sockets: SocketBounds;
  readonly holdTtlMs: number;
  /** The files that this configuration was read from. Default: none that may be written. */
  readonly settingsPlace?: SettingsFolder | undefined;
}

/** Absolute paths of the files of settings, and of the working directory. */
interface SettingsFolder {
  readonly configPath: string;
  readonly envPath: string;
  readonly folder: string;
}

/** The settings that a running gateway applies when the file has changed. */
export interface LiveConfig {
  readonly upstreams: readonly UpstreamConfig[];
  readonly models: readonly Model[];
  /** The models of requests that name none. Default: none. */
  readonly defaultModels?: DefaultModels | undefined;
  /** Who operates this gateway, as statements name it. */
  readonly company?: Company | undefined;
  /** The plans that accounts may be subscribed to. Default: none. */
  readonly plans?: readonly Plan[] | undefined;
  /** Limits of keys that set none of their own. */
  readonly keyLimits: Limits;
  readonly accountLimits: Limits;
  readonly clientDisconnect: "charge_input" | "free";
  /** Days until a refund ends whose charge was taken from a credit that has ended. Default: the ledger's 7. */
  readonly refundCreditDays?: number | undefined;
  /** Web origins whose pages may read responses. Default: none. */
  readonly corsOrigins?: readonly string[] | "*" | undefined;
  /** Who may create an account in the console: everyone, invited people or no one. Default: invited. */
  readonly signUp?: "open" | "invited" | "closed" | undefined;
  /** How people may sign in to the console. Default: by passwords alone. */
  readonly signIn?: SignInRules | undefined;
  /** What payments at Stripe do. Default: that of an empty file. */
  readonly payments?: PaymentsConfig | undefined;
  /** Ids of the keys whose requests are logged step by step. Default: none. */
  readonly debugKeys?: readonly string[] | undefined;
  /** Where usage is exported to. Default: nowhere. */
  readonly exports?: readonly ExportConfig[] | undefined;
  /** How long requests are still accepted after SIGTERM, while /readyz is 503. Default: 0. */
  readonly drainDelayMs?: number | undefined;
  /** How long running requests may continue after SIGTERM. */
  readonly drainMs: number;
}

/** Where requests, tokens and slots are counted. */
interface LimiterConfig {
  /** The Redis that several gateways count in; `undefined` to count in this process alone. */
  readonly redis: RedisLocation | undefined;
  /** While Redis is unavailable, count in this process alone, or reject every request. */
  readonly onFailure: "local" | "deny";
  /**
   * Number of gateways that share Redis, from 1. Each one that counts alone admits 1/N of every limit. `undefined`
   * for those that the database knows.
   */
  readonly replicas: number | undefined;
}

/** The configuration of a ledger process. */
export interface LedgerProcessConfig extends StorageConfig {
  readonly logLevel: string;
  /** Where the metrics are served; `undefined` when they are not. */
  readonly metricsListen: Endpoint | undefined;
  /** Where traces are exported; `undefined` when they are not. */
  readonly traces: TracesConfig | undefined;
  /** Maximum number of wallets in one ledger transaction; `undefined` for no bound. */
  readonly walletsPerBatch: number | undefined;
  /** Where usage is exported to. Default: nowhere. */
  readonly exports?: readonly ExportConfig[] | undefined;
  /** Days that receipts are kept. Default: for ever. */
  readonly receiptsDays?: number | undefined;
  /** How long running requests may continue after SIGTERM. */
  readonly drainMs: number;
}

export interface LoadOptions {
  /** Base of relative paths. Default: the working directory. */
  readonly folder?: string | undefined;
}

/** A configuration with its sources, which can be read again. */
export interface Loaded<Settings> {
  readonly config: Settings;
  readonly place: SourcesPlace;
  readonly sources: Sources;
}

export type LoadedConfig = Loaded<Config>;

/**
 * Reads environment and YAML file into a deeply frozen configuration. A file without models gets the built-in
 * demo model. Throws {@link ConfigError} with every problem.
 */
export function loadConfig(environment: Environment = Bun.env, options: LoadOptions = {}): Config {
  return loadWithSource(environment, options).config;
}

/** Like {@link loadConfig}, but returns also the sources, for {@link rereadConfig}. */
export function loadWithSource(
  environment: Environment = Bun.env,
  { folder = "." }: LoadOptions = {},
): LoadedConfig {
  const place = placeSources(environment, folder, GATEWAY_SECRETS);
  const sources = readSourcesNow(place);
  const problems = createProblems();
  const variables = readVariables(place, sources, problems);
  const { redis, ...settings } = readEnvironment(variables.values, folder, problems);
  const file = checkFile(sources.file, variables, { mayBeAbsent: !place.isNamed }, problems);
  throwAny(problems);
  const settingsPlace = { configPath: place.path, envPath: resolve(folder, ENV_FILE), folder };
  const config = { ...settings, ...readFileSettings(file, redis), settingsPlace };
  return { config: deepFreeze(config), place, sources };
}

/**
 * Returns the configuration of a running gateway with other versions of its file and its secrets. Other
 * settings of the environment stay. Rejects with {@link ConfigError}, also when the file is gone or has lost
 * all of its models.
 */
export async function rereadConfig(loaded: LoadedConfig, sources: Sources): Promise<LoadedConfig> {
  const { config, place } = loaded;
  const options = { mayBeAbsent: loaded.sources.file.kind === "absent" };
  const problems = createProblems();
  const variables = readVariables(place, sources, problems);
  const secrets = rereadSecrets({ running: config, variables, folder: place.folder }, problems);
  throwAny(problems);
  const file = await checkFileInWorker({ source: sources.file, variables, options });
  const next = readFileSettings(file, secrets.redis);
  if (next.isDemoOnly && !config.isDemoOnly) {
    problems.add(["models"], "have all been removed", "at least one, since the running gateway has some");
  }
  throwAny(problems);
  const { database, ledger, console } = secrets;
  return { config: deepFreeze({ ...config, database, ledger, console, ...next }), place, sources };
}

/** Timeout of a check. A file of the largest size takes one or two seconds of a free processor. */
const CHECK_MS_MAX = 60_000;

/**
 * Checks a file in a worker thread, because a large file would block the event loop. The thread ends with the
 * check. Rejects with {@link ConfigError}, or with another error when the thread dies or hangs.
 */
async function checkFileInWorker(question: CheckQuestion): Promise<CheckedFile> {
  const worker = createWorkerQueue<CheckQuestion, CheckAnswer>({
    name: "configuration check",
    script: new URL("./check-worker.ts", import.meta.url),
    jobMsMax: CHECK_MS_MAX,
  });
  try {
    const answer = await worker.run("", question);
    if ("problems" in answer) throw new ConfigError(answer.problems);
    return answer.file;
  } finally {
    worker.close();
  }
}

function readFileSettings({ content, filled, writtenAtS }: CheckedFile, redis: RedisLocation | undefined) {
  const models = readModels(content, writtenAtS);
  const isDemoOnly = models.length === 0;
  const { limiter, ...settings } = readSettings(content);
  return {
    ...settings,
    limiter: { redis, ...limiter },
    isDemoOnly,
    known: filled,
    models: isDemoOnly ? [DEMO_MODEL] : models,
  };
}

/** Keys of the file that a ledger process reads; it ignores the others, whatever they hold. */
const LEDGER_KEYS = ["ledger", "exports", "retention", "drain_s"] as const;

/**
 * Reads the configuration of a ledger process, with its sources. Needs no upstream keys. Throws
 * {@link ConfigError}.
 */
export function loadLedgerConfig(
  environment: Environment = Bun.env,
  { folder = "." }: LoadOptions = {},
): Loaded<LedgerProcessConfig> {
  const place = placeSources(environment, folder, STORAGE_SECRETS);
  const sources = readSourcesNow(place);
  const problems = createProblems();
  const variables = readVariables(place, sources, problems);
  const settings = readLedgerProcess(variables.values, folder, problems);
  const options = { mayBeAbsent: !place.isNamed, keys: LEDGER_KEYS };
  const { content } = checkFile(sources.file, variables, options, problems);
  throwAny(problems);
  return { config: deepFreeze({ ...settings, ...readLedgerSettings(content) }), place, sources };
}

/** Returns a running ledger process's configuration with other secrets and exports. Throws {@link ConfigError}. */
export function rereadLedgerConfig(
  { config, place }: Loaded<LedgerProcessConfig>,
  sources: Sources,
): Loaded<LedgerProcessConfig> {
  const problems = createProblems();
  const variables = readVariables(place, sources, problems);
  const storage = rereadStorage({ running: config, variables, folder: place.folder }, problems);
  const options = { mayBeAbsent: !place.isNamed, keys: LEDGER_KEYS };
  const { content } = checkFile(sources.file, variables, options, problems);
  throwAny(problems);
  const { exports } = readLedgerSettings(content);
  return { config: deepFreeze({ ...config, ...storage, exports }), place, sources };
}

/** Reads where the storage is, for commands that need no configuration file. Throws {@link ConfigError}. */
export function loadStorageConfig(
  environment: Environment = Bun.env,
  { folder = "." }: LoadOptions = {},
): StorageConfig {
  const problems = createProblems();
  const variables = fillSecrets(environment, readSecretsNow({ environment, folder, names: STORAGE_SECRETS }));
  reportSecrets(variables, STORAGE_SECRETS, problems);
  const storage = readStorage(variables.values, folder, problems);
  throwAny(problems);
  return deepFreeze(storage);
}

interface Reread<Settings> {
  readonly running: Settings;
  readonly variables: Variables;
  readonly folder: string;
}

/** Reads the settings of a gateway that hold secrets again. */
function rereadSecrets(reread: Reread<Config>, problems: Problems) {
  const { running, variables } = reread;
  const storage = rereadStorage(reread, problems);
  const { mail, stripe, recordingKeys } = readConsole(variables.values, problems);
  return {
    ...storage,
    redis: rereadRedis(running.limiter.redis, variables.values, problems),
    console: { ...running.console, mail, stripe, recordingKeys },
  };
}

/** Reads the settings of the storage that hold secrets again. */
function rereadStorage({ running, variables, folder }: Reread<LedgerProcessConfig>, problems: Problems) {
  const { remote } = running.ledger;
  const tokens = readTokens(variables.values, { remote, dataFolder: running.dataFolder }, problems);
  return {
    database: readDatabase(variables.values, folder, problems),
    ledger: { ...running.ledger, tokens },
    sealing: { keys: readMasterKeys("SEALING_KEYS", variables.values, problems) },
  };
}

/** Reads the plans of the file, for commands. Needs no keys of upstreams. Throws {@link ConfigError}. */
export function loadPlans(environment: Environment = Bun.env, options: LoadOptions = {}): readonly Plan[] {
  return deepFreeze(readPlans(loadPart(environment, options, "plans")));
}

/** Reads who operates this gateway, for commands. Like {@link loadPlans}. */
export function loadCompany(
  environment: Environment = Bun.env,
  options: LoadOptions = {},
): Company | undefined {
  return readCompany(loadPart(environment, options, "company"));
}

function loadPart(environment: Environment, { folder = "." }: LoadOptions, key: "plans" | "company") {
  const place = placeSources(environment, folder, []);
  const sources = readSourcesNow(place);
  const problems = createProblems();
  const variables = readVariables(place, sources, problems);
  const options = { mayBeAbsent: !place.isNamed, keys: [key] as const };
  const { content } = checkFile(sources.file, variables, options, problems);
  throwAny(problems);
  return content;
}

/** Reads where a gateway of this environment listens. Throws {@link ConfigError}. */
export function loadHttpAddress(environment: Environment = Bun.env): HttpAddress {
  const problems = createProblems();
  const address = readHttpAddress(environment, problems);
  throwAny(problems);
  return address;
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
