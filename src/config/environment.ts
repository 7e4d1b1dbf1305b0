import { readBooks } from "./books.ts";
import type { Environment } from "./placeholders.ts";
import type { Problems } from "./problems.ts";

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

/** What the environment decides by itself; a variable that is empty counts as not set. */
export function readEnvironment(environment: Environment, folder: string, problems: Problems) {
  return {
    host: readHost(environment.HOST || "127.0.0.1", problems),
    port: readPort(environment.PORT || "8080", problems),
    ...readProcess(environment, folder, problems),
  };
}

/** The part of it that does not serve HTTP. */
export function readProcess(environment: Environment, folder: string, problems: Problems) {
  refuseUnbuilt(environment, problems);
  return {
    ...readBooks(environment, folder, problems),
    logLevel: readLogLevel(environment.LOG_LEVEL || "info", problems),
  };
}

/** What a later version will read: to pass over it in silence would promise what is not done. */
const UNBUILT: Readonly<Record<string, string>> = {
  REDIS_URL: "asks for Redis",
  METRICS_LISTEN: "asks for metrics",
};

function refuseUnbuilt(environment: Environment, problems: Problems): void {
  for (const [name, wish] of Object.entries(UNBUILT)) {
    if (!environment[name] || environment[name] === "off") continue;
    problems.add([name], `${wish}, which this version does not have yet`, "it to be unset");
  }
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
