import { readStorage } from "./books.ts";
import { readListen } from "./endpoint.ts";
import type { Environment } from "./placeholders.ts";
import type { Problems } from "./problems.ts";
import { readRedis } from "./redis.ts";

const DEFAULT_METRICS_LISTEN = "127.0.0.1:9464";
const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

/** What the environment decides by itself; a variable that is empty counts as not set. */
export function readEnvironment(environment: Environment, folder: string, problems: Problems) {
  return {
    host: readHost(environment.HOST || "127.0.0.1", problems),
    port: readPort(environment.PORT || "8080", problems),
    metricsListen: readListen(
      "METRICS_LISTEN",
      environment.METRICS_LISTEN || DEFAULT_METRICS_LISTEN,
      problems,
    ),
    redis: readRedis(environment, folder, problems),
    ...readProcess(environment, folder, problems),
  };
}

/** The part of it that a process needs which serves the ledger alone. */
export function readProcess(environment: Environment, folder: string, problems: Problems) {
  return {
    ...readStorage(environment, folder, problems),
    logLevel: readLogLevel(environment.LOG_LEVEL || "info", problems),
  };
}

function readHost(host: string, problems: Problems): string {
  const isHost = /^[\w.-]+$/.test(host) || /^[\da-fA-F:.]+$/.test(host);
  if (!isHost) problems.add(["HOST"], "is no host", "an address or host name without scheme and port");
  return host;
}

function readPort(text: string, problems: Problems): number {
  const port = Number(text);
  const isPort = /^\d{1,5}$/.test(text) && port <= 65_535;
  if (!isPort) problems.add(["PORT"], "is no port", "a whole number from 0 to 65535");
  return port;
}

function readLogLevel(level: string, problems: Problems): string {
  if (!LOG_LEVELS.includes(level)) {
    problems.add(["LOG_LEVEL"], "is no log level", `one of ${LOG_LEVELS.join(", ")}`);
  }
  return level;
}
