import type { KnownModel } from "../catalog/known-models.ts";
import { AdditionError, addEntries, readFileValues } from "../config/add-entries.ts";
import { addVariables, pickVariables } from "../config/env-file.ts";
import { planAdditions, shortName } from "./additions.ts";
import type { UpstreamSetup } from "./provider-setup.ts";
import { lockSettings, readSettingsFile, replaceSettingsFile } from "./settings-files.ts";

/** The files that a gateway of this folder reads. */
export interface SettingsPlace {
  /** The YAML file. */
  readonly configPath: string;
  /** The file of variables, which alone holds secrets. */
  readonly envPath: string;
}

/** What is added to the files of settings. */
export interface Setup {
  readonly upstreams: readonly { readonly upstream: UpstreamSetup; readonly models: readonly KnownModel[] }[];
  /** Values of variables. */
  readonly variables: Readonly<Record<string, string>>;
  /** Values that were made for this setup: one that the file has already goes first. */
  readonly made?: Readonly<Record<string, string>>;
}

/** What a setup has added, without what was there. */
export interface WrittenSetup {
  readonly upstreams: readonly string[];
  /** Names for clients. */
  readonly models: readonly string[];
  readonly variables: readonly string[];
  /** The values that the file has now of those that were made. */
  readonly made: Readonly<Record<string, string>>;
}

const PRIVATE = 0o600;

/**
 * Adds upstreams, models and variables, each only where it is missing; every other line stays as it is. Variables are
 * on disk before the YAML file names them, so that a setup that was killed is completed by the next one. Throws
 * {@link AdditionError} and writes nothing where one of them is there with another content.
 */
export function writeSetup(place: SettingsPlace, setup: Setup, waitMsMax?: number): WrittenSetup {
  const extend = (before: string) => addToYaml(before, setup);
  return writeSettings(place, { ...setup, extend }, waitMsMax);
}

interface Extension<Added> extends Pick<Setup, "variables" | "made"> {
  /** Returns the new text of the YAML file, and what was added to it. */
  extend(before: string): Added & { readonly text: string };
}

/** Writes variables, and what extends the YAML file, as {@link writeSetup} does. */
export function writeSettings<Added>(
  { configPath, envPath }: SettingsPlace,
  extension: Extension<Added>,
  waitMsMax?: number,
) {
  return lockSettings(
    configPath,
    () => {
      const [before, variables] = [readSettingsFile(configPath), readSettingsFile(envPath)];
      const { text: after, ...added } = extension.extend(before);
      const made = { ...extension.made, ...pickVariables(variables, Object.keys(extension.made ?? {})) };
      const given = { ...extension.variables, ...made };
      const extended = addVariables(variables, given);
      if (extended !== variables) replaceSettingsFile(envPath, variables, extended, { mode: PRIVATE });
      if (after !== before) replaceSettingsFile(configPath, before, after);
      const names = Object.keys(given).filter((name) => !hasLine(variables, name));
      return { ...added, variables: names, made };
    },
    waitMsMax,
  );
}

function hasLine(text: string, name: string): boolean {
  return text.split("\n").some((line) => line.startsWith(`${name}=`));
}

interface ExtendedYaml extends Pick<WrittenSetup, "upstreams" | "models"> {
  readonly text: string;
}

/** Adds the missing upstreams and models of a setup to the text of a YAML file. */
export function addToYaml(before: string, { upstreams }: Pick<Setup, "upstreams">): ExtendedYaml {
  return upstreams.reduce<ExtendedYaml>(
    (done, { upstream, models }) => {
      const values = readFileValues(done.text);
      requireSame(upstream, values);
      const missing = models.filter((model) => !hasModel(values, model, upstream.name));
      const { name, entry } = upstream;
      const additions = planAdditions(missing, values, { upstream: name, entry });
      return {
        text: addEntries(done.text, additions),
        upstreams: [...done.upstreams, ...Object.keys(additions.upstreams)],
        models: [...done.models, ...Object.keys(additions.models)],
      };
    },
    { text: before, upstreams: [], models: [] },
  );
}

/** Another command may have added an upstream of this name since it was planned. */
function requireSame({ name, entry }: UpstreamSetup, values: Readonly<Record<string, unknown>>): void {
  const former: unknown = Object(values.upstreams)[name];
  if (former === undefined) return;
  const { upstreams } = readFileValues(JSON.stringify({ upstreams: { [name]: entry } }));
  if (!Bun.deepEquals(former, Object(upstreams)[name]))
    throw new AdditionError(`The upstream ${name} has changed meanwhile: run the command again.`);
}

/** Whether the file has a model under its name already, served by the upstream. */
function hasModel(values: Readonly<Record<string, unknown>>, model: KnownModel, upstream: string): boolean {
  const { known, routes } = Object(Object(values.models)[shortName(model)]);
  if (known !== model.id || !Array.isArray(routes)) return false;
  return routes.some((route) => Object(route).upstream === upstream);
}
