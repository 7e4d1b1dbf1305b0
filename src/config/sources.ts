import { join } from "node:path";
import { ENV_FILE, ENV_FILE_BYTES_MAX, namesFromEnvFile, withEnvFile } from "./env-file.ts";
import { type Environment, namesOfPlaceholders, type Variables } from "./placeholders.ts";
import type { Problems } from "./problems.ts";
import {
  areSameSecrets,
  fillSecrets,
  markSecrets,
  readSecrets,
  readSecretsNow,
  reportSecrets,
  type SecretOrigin,
  type SecretSources,
} from "./secrets.ts";
import { isSameSource, markSource, placeSource, readSource, readSourceNow, type Source } from "./source.ts";

/** Everything that a configuration is read from, beside the environment. */
export interface Sources {
  readonly file: Source;
  /** The variables of `.env` in the working directory. */
  readonly env: Source;
  readonly secrets: SecretSources;
}

/** Where the sources of a process are. */
export interface SourcesPlace {
  /** Absolute path of the YAML file. */
  readonly path: string;
  /** Whether `TOLLGATE_CONFIG` names the YAML file; such a file must exist. */
  readonly isNamed: boolean;
  /** Of the start, with what Bun read from `.env`. */
  readonly environment: Environment;
  /** The variables that `.env` gave to the environment, and that follow it. */
  readonly envNames: ReadonlySet<string>;
  /** Base of relative paths, and the folder of `.env`. */
  readonly folder: string;
  /** Variables that may come from a file, beside those of placeholders. */
  readonly secrets: readonly string[];
}

export function placeSources(
  environment: Environment,
  folder: string,
  secrets: readonly string[],
): SourcesPlace {
  const envNames = namesFromEnvFile(environment, readEnvNow(folder));
  return { ...placeSource(environment, folder), environment, envNames, folder, secrets };
}

const ENV_OPTIONS = { bytesMax: ENV_FILE_BYTES_MAX };

function readEnvNow(folder: string): Source {
  return readSourceNow(join(folder, ENV_FILE), { ...ENV_OPTIONS, pipeMsMax: 0 });
}

/** Reads all sources for a start. Blocks the event loop. */
export function readSourcesNow(place: SourcesPlace): Sources {
  const files = { file: readSourceNow(place.path), env: readEnvNow(place.folder) };
  return { ...files, secrets: readSecretsNow(originOf(place, files)) };
}

/** Returns the environment with the secrets of the sources. Adds a problem for each that cannot be used. */
export function readVariables(
  { environment, envNames, secrets: names }: SourcesPlace,
  { env, secrets }: Sources,
  problems: Problems,
): Variables {
  const variables = fillSecrets(withEnvFile(environment, env, envNames), secrets);
  reportSecrets(variables, names, problems);
  return variables;
}

/** Makes the sources watchable: the YAML file, `.env`, and the secret files that both and the environment name. */
export function followSources(place: SourcesPlace, started: Sources): Watched<Sources> {
  let latest = started;
  const envPath = join(place.folder, ENV_FILE);
  return {
    async mark() {
      const marks = [markSource(place.path), markSource(envPath), markSecrets(originOf(place, latest))];
      return (await Promise.all(marks)).join("\n");
    },
    async read() {
      const isPipe = (await markSource(place.path)) === undefined;
      const file = isPipe ? latest.file : await readSource(place.path);
      const files = { file, env: await readSource(envPath, ENV_OPTIONS) };
      latest = { ...files, secrets: await readSecrets(originOf(place, files), latest.secrets) };
      return latest;
    },
    isSame: areSameSources,
  };
}

export function areSameSources(one: Sources, other: Sources): boolean {
  const areSameFiles = isSameSource(one.file, other.file) && isSameSource(one.env, other.env);
  return areSameFiles && areSameSecrets(one.secrets, other.secrets);
}

function originOf(
  { environment, envNames, folder, secrets }: SourcesPlace,
  { file, env }: Pick<Sources, "file" | "env">,
): SecretOrigin {
  const placeholders = file.kind === "text" ? namesOfPlaceholders(file.text) : [];
  const names = [...new Set([...secrets, ...placeholders])];
  return { environment: withEnvFile(environment, env, envNames), folder, names };
}

const POLL_MS = 1_000;
/** Files unchanged for this long are complete. A partial file can be valid too, with some models missing. */
const SETTLED_MS = 300;

/** Files that are watched together. */
interface Watched<Found> {
  /** Returns a text that differs after a change of a file. */
  mark(): Promise<string>;
  read(): Promise<Found>;
  isSame(one: Found, other: Found): boolean;
}

/** Watches files. */
export interface Watcher {
  /** Reads the files now and reports them, changed or not. */
  request(): void;
  close(): void;
}

/**
 * Calls `onFound` with the content of files: at the start, on request, and when a file has changed. Calls do
 * not overlap: changes during one cause the next. `onFound` must not reject.
 */
export function watch<Found>(
  files: Watched<Found>,
  onFound: (found: Found, isRequested: boolean) => Promise<void>,
): Watcher {
  /** Mark of the files before their latest read. */
  let mark: string | undefined;
  let isRequested = false;
  let mayDiffer = false;
  let isBusy = false;
  let isClosed = false;
  let timer: Timer | undefined;

  async function poll(): Promise<void> {
    if ((await files.mark()) !== mark) {
      mayDiffer = true;
      void readAndReport();
    }
    if (!isClosed) timer = setTimeout(poll, POLL_MS).unref();
  }

  async function readAndReport(): Promise<void> {
    if (isBusy) return;
    isBusy = true;
    while ((isRequested || mayDiffer) && !isClosed) {
      const wasRequested = isRequested;
      isRequested = false;
      mayDiffer = false;
      const found = await readSettled();
      if (!isClosed) await onFound(found, wasRequested);
    }
    isBusy = false;
  }

  async function read(): Promise<Found> {
    mark = await files.mark();
    return files.read();
  }

  /** Reads until two reads in a row are equal, or the watcher is closed. */
  async function readSettled(): Promise<Found> {
    let latest = await read();
    while (!isClosed) {
      await Bun.sleep(SETTLED_MS);
      const next = await read();
      if (files.isSame(latest, next)) return next;
      latest = next;
    }
    return latest;
  }

  void poll();
  return {
    request() {
      isRequested = true;
      void readAndReport();
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
