import { dirname, resolve } from "node:path";
import type { DatabaseLocation } from "../db/location.ts";
import { readConsole } from "./console.ts";
import { readListen } from "./endpoint.ts";
import { type LedgerConfig, readLedger } from "./ledger.ts";
import type { Environment } from "./placeholders.ts";
import type { Problems } from "./problems.ts";
import { readMasterKeys } from "./recordings.ts";
import { readRedis } from "./redis.ts";
import { readTraces } from "./traces.ts";

const DEFAULT_METRICS_LISTEN = "127.0.0.1:9464";
const DEFAULT_DATABASE_URL = "sqlite:./data/tollgate.db";
const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

/** Where accounts, keys and money are stored. */
export interface StorageConfig {
  readonly database: DatabaseLocation;
  /** Absolute path of the folder with the ledger token and the settlement outbox. */
  readonly dataFolder: string;
  readonly ledger: LedgerConfig;
  /** Keys that seal secrets in the database, in base64: the first one encrypts. Default: none, so that they are in the clear. */
  readonly sealing?: { readonly keys: readonly string[] } | undefined;
}

/** Where the HTTP server listens. */
export interface HttpAddress {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
}

/** Reads `TOLLGATE_DEMO`: whether the first start makes the demo's key and operator; `undefined` when unset. */
function readDemo(text: string | undefined, problems: Problems): boolean | undefined {
  if (!text) return undefined;
  if (text !== "yes" && text !== "no") problems.add(["TOLLGATE_DEMO"], "is neither", "yes or no");
  return text === "yes";
}

export function readHttpAddress(environment: Environment, problems: Problems): HttpAddress {
  return {
    host: readHost(environment.HOST || "127.0.0.1", problems),
    port: readPort(environment.PORT || "8080", problems),
  };
}

/** Reads the variables that configure a gateway. An empty variable counts as not set. */
export function readEnvironment(environment: Environment, folder: string, problems: Problems) {
  return {
    ...readHttpAddress(environment, problems),
    metricsListen: readListen(
      "METRICS_LISTEN",
      environment.METRICS_LISTEN || DEFAULT_METRICS_LISTEN,
      problems,
    ),
    redis: readRedis(environment, folder, problems),
    console: readConsole(environment, problems),
    demo: readDemo(environment.TOLLGATE_DEMO, problems),
    ...readProcess(environment, folder, problems),
  };
}

/**
 * Reads the variables that a ledger process needs, a subset of {@link readEnvironment}. Its metrics are off by
 * default: a gateway on this machine has the default address.
 */
export function readLedgerProcess(environment: Environment, folder: string, problems: Problems) {
  return {
    metricsListen: readListen("METRICS_LISTEN", environment.METRICS_LISTEN || "off", problems),
    ...readProcess(environment, folder, problems),
  };
}

function readProcess(environment: Environment, folder: string, problems: Problems) {
  return {
    ...readStorage(environment, folder, problems),
    logLevel: readLogLevel(environment.LOG_LEVEL || "info", problems),
    traces: readTraces(environment, problems),
  };
}

/** Reads the variables that locate database, data folder and ledger. */
export function readStorage(environment: Environment, folder: string, problems: Problems): StorageConfig {
  const database = readDatabase(environment, folder, problems);
  const dataFolder = readDataFolder(environment, { folder, database }, problems);
  const sealing = { keys: readMasterKeys("SEALING_KEYS", environment, problems) };
  return { database, dataFolder, ledger: readLedger(environment, { folder, dataFolder }, problems), sealing };
}

/** Reads `DATABASE_URL`. A relative path starts from `folder`. */
export function readDatabase(environment: Environment, folder: string, problems: Problems): DatabaseLocation {
  const url = environment.DATABASE_URL || DEFAULT_DATABASE_URL;
  if (isPostgresUrl(url)) return { dialect: "postgres", url };
  const path = /^sqlite:(?!\/\/[^/])(.*)$/s.exec(url)?.[1] ?? "";
  if (path === "" || path === ":memory:" || path.includes("\0")) {
    const expected = "sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME";
    problems.add(["DATABASE_URL"], "is not the URL of a supported database", expected);
  }
  return { dialect: "sqlite", path: resolve(folder, path) };
}

function isPostgresUrl(text: string): boolean {
  const url = URL.parse(text);
  if (!url || !/^postgres(ql)?:$/.test(url.protocol)) return false;
  // The parameter `host` may name the folder of a socket in place of a host.
  return url.hostname !== "" || url.searchParams.has("host");
}

/** Reads `TOLLGATE_DATA`. Default: the folder of the SQLite file, or `./data`. */
function readDataFolder(
  environment: Environment,
  { folder, database }: { readonly folder: string; readonly database: DatabaseLocation },
  problems: Problems,
): string {
  const named = environment.TOLLGATE_DATA;
  if (named?.includes("\0")) problems.add(["TOLLGATE_DATA"], "is not a path", "a folder");
  if (named) return resolve(folder, named);
  return database.dialect === "sqlite" ? dirname(database.path) : resolve(folder, "data");
}

function readHost(host: string, problems: Problems): string {
  const isHost = /^[\w.-]+$/.test(host) || /^[\da-fA-F:.]+$/.test(host);
  if (!isHost) problems.add(["HOST"], "is not a host", "an address or host name without scheme and port");
  return host;
}

function readPort(text: string, problems: Problems): number {
  const port = Number(text);
  const isPort = /^\d{1,5}$/.test(text) && port <= 65_535;
  if (!isPort) problems.add(["PORT"], "is not a port", "a whole number from 0 to 65535");
  return port;
}

function readLogLevel(level: string, problems: Problems): string {
  if (!LOG_LEVELS.includes(level)) {
    problems.add(["LOG_LEVEL"], "is not a log level", `one of ${LOG_LEVELS.join(", ")}`);
  }
  return level;
}
