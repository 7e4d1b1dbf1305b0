import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import {
  type KnownMode,
  type KnownModel,
  providerOf,
  readKnownModels,
  upstreamModelOf,
} from "../../catalog/known-models.ts";
import { ownerOf, providerBehind, upstreamOf } from "../../catalog/providers.ts";
import { AdditionError, type Additions, addEntries, readFileValues } from "../../config/add-entries.ts";
import { configPath } from "../../config/source.ts";
import { CommandError, type CommandResult } from "../command.ts";
import { findModel } from "./known.ts";

export interface ModelsAddOptions {
  /** Name of the upstream, an existing or a new one. Default: an upstream of the provider. */
  readonly upstream?: string;
  /** Name for clients, of one model. Default: the last part of the id. */
  readonly as?: string;
}

/**
 * Adds known models to the configuration file, and an upstream where the file has none of the provider. Every
 * other line stays as it is. Writes nothing when one of them exists already.
 */
export function runModelsAdd(ids: readonly string[], options: ModelsAddOptions): CommandResult {
  const known = readKnownModels();
  const models = ids.map((id) => findModel(known, id));
  if (options.as !== undefined && models.length > 1)
    throw new CommandError("Name one model with --as, not several.", 2);
  const path = configPath();
  const text = readExisting(path);
  try {
    const additions = planAdditions(models, readFileValues(text), options);
    replaceFile(path, text, addEntries(text, additions));
    return report(path, additions, models.filter(lacksLimits));
  } catch (error) {
    if (error instanceof AdditionError) throw new CommandError(`${error.message} Nothing was written.`);
    throw error;
  }
}

type Entries = Record<string, object>;

function planAdditions(
  models: readonly KnownModel[],
  file: Readonly<Record<string, unknown>>,
  options: ModelsAddOptions,
): Additions {
  const upstreams: Entries = {};
  const added: Entries = {};
  const existing: Readonly<Record<string, unknown>> = { ...Object(file.upstreams) };
  for (const model of models) {
    const name = options.as ?? shortName(model);
    if (Object.hasOwn(added, name))
      throw new AdditionError(`Two of these models are named ${name}: add one with --as.`);
    const upstream = options.upstream ?? findUpstream(providerOf(model), existing);
    if (!Object.hasOwn(existing, upstream)) upstreams[upstream] = upstreamEntry(model);
    requireServed(model, upstream, { ...existing, ...upstreams });
    added[name] = { known: model.id, routes: [{ upstream }] };
  }
  return { upstreams, models: added };
}

/** Modes of models that upstreams of a protocol serve. Those of `openai` serve all. */
const MODES: Readonly<Record<string, readonly KnownMode[]>> = {
  azure: ["chat", "embedding"],
  anthropic: ["chat"],
  bedrock: ["chat"],
  gemini: ["chat"],
  vertex: ["chat"],
};

/** Refuses a model whose every request would end with 501. An entry of unknown form is left to `check`. */
function requireServed(
  model: KnownModel,
  upstream: string,
  entries: Readonly<Record<string, unknown>>,
): void {
  const { protocol } = { ...Object(entries[upstream]) };
  const modes = typeof protocol === "string" && Object.hasOwn(MODES, protocol) ? MODES[protocol] : undefined;
  if (modes && !modes.includes(model.mode))
    throw new AdditionError(
      `${model.id} is of mode ${model.mode}, which upstreams of protocol ${protocol} do not serve.`,
    );
}

/** Whether limits are missing that the configuration of a model with prices of tokens requires. */
function lacksLimits({ mode, cost, context_window: window, max_output_tokens: output }: KnownModel): boolean {
  const hasOutput = mode !== "embedding" && mode !== "rerank" && mode !== "moderation";
  return cost !== undefined && (window === undefined || (hasOutput && output === undefined));
}

/** The last part of the provider's name, which clients of that model know. */
function shortName(model: KnownModel): string {
  return upstreamModelOf(model).split("/").at(-1) ?? model.id;
}

/** Returns the first upstream of a provider, else a free name for a new one. */
function findUpstream(provider: string, existing: Readonly<Record<string, unknown>>): string {
  const owner = ownerOf(provider);
  const found = Object.entries(existing).find(([, entry]) => {
    const { protocol, base_url: baseUrl } = { ...Object(entry) };
    return (
      typeof protocol === "string" &&
      providerBehind(protocol, typeof baseUrl === "string" ? baseUrl : undefined) === owner
    );
  });
  if (found) return found[0];
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? owner : `${owner}-${number}`;
    if (!Object.hasOwn(existing, name)) return name;
  }
}

function upstreamEntry(model: KnownModel): object {
  const entry = upstreamOf(providerOf(model));
  if (!entry) throw new AdditionError(`${model.id} needs an upstream: name one with --upstream.`);
  return entry;
}

/** Returns the text of the configuration file, "" before the file exists. */
function readExisting(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw new CommandError(`${path} cannot be read.`);
  }
}

/** Replaces the file in one step, with the rights that it has. A file that changed meanwhile is left as it is. */
function replaceFile(path: string, before: string, after: string): void {
  const target = before === "" ? path : realpathSync(path);
  const draft = join(dirname(target), `.tollgate-${process.pid}.yaml`);
  try {
    const file = openSync(draft, "wx", before === "" ? 0o640 : statSync(target).mode);
    writeSync(file, after);
    fsyncSync(file);
    closeSync(file);
    if (readExisting(path) !== before)
      throw new CommandError(`${path} has changed meanwhile: run the command again.`);
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${path} cannot be written.`);
  }
}

function report(
  path: string,
  { upstreams, models }: Additions,
  unlimited: readonly KnownModel[],
): CommandResult {
  const names = { models: Object.keys(models), upstreams: Object.keys(upstreams) };
  const variables = [...JSON.stringify(upstreams).matchAll(/\$\{(\w+)\}/g)].map(([, name = ""]) => name);
  const lines = [
    `Added ${names.models.join(", ")} to ${path}.`,
    ...(names.upstreams.length > 0 ? [`Added the upstream ${names.upstreams.join(", ")}.`] : []),
    ...(variables.length > 0 ? [`Set ${variables.join(", ")} before the start.`] : []),
    ...unlimited.map(
      ({ id }) => `Write context_window and max_output_tokens of ${id}: the catalog does not have both.`,
    ),
    "Clients pay the upstream's cost. See docs/models.md for a markup.",
  ];
  return { json: { ...names, variables, file: path }, text: lines.join("\n") };
}
