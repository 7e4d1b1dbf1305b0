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
import type { Watched } from "./watch.ts";

/** Everything that a configuration is read from, beside the environment. */
export interface Sources {
  readonly file: Source;
  readonly secrets: SecretSources;
}

/** Where the sources of a process are. */
export interface SourcesPlace {
  /** Absolute path of the YAML file. */
  readonly path: string;
  /** Whether `TOLLGATE_CONFIG` names the YAML file; such a file must exist. */
  readonly isNamed: boolean;
  readonly environment: Environment;
  /** Base of relative paths. */
  readonly folder: string;
  /** Variables that may come from a file, beside those of placeholders. */
  readonly secrets: readonly string[];
}

export function placeSources(
  environment: Environment,
  folder: string,
  secrets: readonly string[],
): SourcesPlace {
  return { ...placeSource(environment, folder), environment, folder, secrets };
}

/** Reads all sources for a start. Blocks the event loop. */
export function readSourcesNow(place: SourcesPlace): Sources {
  const file = readSourceNow(place.path);
  return { file, secrets: readSecretsNow(originOf(place, file)) };
}

/** Returns the environment with the secrets of the sources. Adds a problem for each that cannot be used. */
export function readVariables(
  { environment, secrets: names }: SourcesPlace,
  { secrets }: Sources,
  problems: Problems,
): Variables {
  const variables = fillSecrets(environment, secrets);
  reportSecrets(variables, names, problems);
  return variables;
}

/** Makes the sources watchable: the YAML file, and the secret files that it and the environment name. */
export function followSources(place: SourcesPlace, started: Sources): Watched<Sources> {
  let latest = started;
  return {
    async mark() {
      const marks = [markSource(place.path), markSecrets(originOf(place, latest.file))];
      return (await Promise.all(marks)).join("\n");
    },
    async read() {
      const isPipe = (await markSource(place.path)) === undefined;
      const file = isPipe ? latest.file : await readSource(place.path);
      latest = { file, secrets: await readSecrets(originOf(place, file), latest.secrets) };
      return latest;
    },
    isSame: areSameSources,
  };
}

export function areSameSources(one: Sources, other: Sources): boolean {
  return isSameSource(one.file, other.file) && areSameSecrets(one.secrets, other.secrets);
}

function originOf({ environment, folder, secrets }: SourcesPlace, file: Source): SecretOrigin {
  const placeholders = file.kind === "text" ? namesOfPlaceholders(file.text) : [];
  return { environment, folder, names: [...new Set([...secrets, ...placeholders])] };
}
