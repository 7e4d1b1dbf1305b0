import { readKnownModels } from "../../catalog/known-models.ts";
import { AdditionError, type Additions, addEntries, readFileValues } from "../../config/add-entries.ts";
import { configPath } from "../../config/source.ts";
import { type AddOptions, findWarnings, planAdditions } from "../../setup/additions.ts";
import { lockSettings, readSettingsFile, replaceSettingsFile } from "../../setup/settings-files.ts";
import { CommandError, type CommandResult } from "../command.ts";
import { findModel } from "./diff.ts";

export type ModelsAddOptions = Omit<AddOptions, "entry">;

/**
 * Adds known models to the configuration file, and an upstream where the file has none of the provider. Every
 * other line stays as it is. Writes nothing when one of them exists already.
 */
export function runModelsAdd(ids: readonly string[], options: ModelsAddOptions): CommandResult {
  const known = readKnownModels();
  const models = ids.map((id) => findModel(known, id));
  const isOfOne = [options.as, options.contextWindow, options.maxOutputTokens].some(Boolean);
  if (isOfOne && models.length > 1)
    throw new CommandError(
      "Name one model with --as, --context-window or --max-output-tokens, not several.",
      2,
    );
  const path = configPath();
  try {
    const additions = lockSettings(path, () => {
      const text = readSettingsFile(path);
      const planned = planAdditions(models, readFileValues(text), options);
      replaceSettingsFile(path, text, addEntries(text, planned));
      return planned;
    });
    return report(path, additions, findWarnings(models, known, Date.now()));
  } catch (error) {
    if (error instanceof AdditionError) throw new CommandError(`${error.message} Nothing was written.`);
    throw error;
  }
}

function report(path: string, { upstreams, models }: Additions, warnings: readonly string[]): CommandResult {
  const names = { models: Object.keys(models), upstreams: Object.keys(upstreams) };
  const variables = [...JSON.stringify(upstreams).matchAll(/\$\{(\w+)\}/g)].map(([, name = ""]) => name);
  const lines = [
    `Added ${names.models.join(", ")} to ${path}.`,
    ...(names.upstreams.length > 0 ? [`Added the upstream ${names.upstreams.join(", ")}.`] : []),
    ...(variables.length > 0 ? [`Set ${variables.join(", ")} before the start.`] : []),
    ...warnings.map((warning) => `Warning: ${warning}.`),
    "Clients pay the upstream's cost. See docs/models.md for a markup.",
  ];
  return { json: { ...names, variables, warnings, file: path }, text: lines.join("\n") };
}
