import { DEMO_MODEL } from "./catalog/demo-model.ts";
import { ConfigError } from "./config/config-error.ts";
import { readDatabasePath, readEnvironment } from "./config/environment.ts";
import { loadFile } from "./config/file.ts";
import { readModels } from "./config/models.ts";
import type { Environment } from "./config/placeholders.ts";
import { createProblems, type Problems } from "./config/problems.ts";
import { readSettings } from "./config/settings.ts";
import type { Model } from "./domain/model.ts";
import type { Limits } from "./limiter/limiter.ts";
import type { UpstreamConfig } from "./upstream/upstream.ts";

/** Everything the environment and the YAML file decide, checked as a whole. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Absolute. */
  readonly databasePath: string;
  readonly logLevel: string;
  /** Whether the catalog is the built-in one with only the demo model. */
  readonly isDemoOnly: boolean;
  readonly upstreams: readonly UpstreamConfig[];
  readonly models: readonly Model[];
  /** Per key, unless the key says otherwise. */
  readonly keyLimits: Limits;
  readonly accountLimits: Limits;
  readonly bodyBytesInFlightMax: number;
  readonly holdTtlMs: number;
  /** How long running requests may go on after SIGTERM. */
  readonly drainMs: number;
}

export interface LoadOptions {
  /** What relative paths start from; the working directory by default. */
  readonly folder?: string | undefined;
}

/**
 * Reads environment and YAML file into a deeply frozen configuration, with the built-in demo model when
 * the file has no models. Throws {@link ConfigError} with every problem there is.
 */
export function loadConfig(environment: Environment = Bun.env, { folder = "." }: LoadOptions = {}): Config {
  const problems = createProblems();
  const own = readEnvironment(environment, folder, problems);
  const { content, writtenAtS } = loadFile(environment, folder, problems);
  throwAny(problems);
  const models = readModels(content, writtenAtS);
  const isDemoOnly = models.length === 0;
  return deepFreeze({
    ...own,
    ...readSettings(content),
    isDemoOnly,
    models: isDemoOnly ? [DEMO_MODEL] : models,
  });
}

/** Only where the database is, for work on it that needs no upstream's key. Throws {@link ConfigError}. */
export function loadDatabasePath(
  environment: Environment = Bun.env,
  { folder = "." }: LoadOptions = {},
): string {
  const problems = createProblems();
  const path = readDatabasePath(environment, folder, problems);
  throwAny(problems);
  return path;
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
