import { type KnownModel, providerOf, readKnownModels, upstreamModelOf } from "../../catalog/known-models.ts";
import { listProviders, ownerOf } from "../../catalog/providers.ts";
import { AdditionError, readFileValues } from "../../config/add-entries.ts";
import type { SettingsFiles } from "../../config/env-file.ts";
import { readSourceNow } from "../../config/source.ts";
import { findWarnings } from "../../setup/additions.ts";
import {
  checkUpstream,
  listModelProviders,
  offerModels,
  planUpstream,
  type UpstreamSetup,
} from "../../setup/provider-setup.ts";
import { readSettingsFile } from "../../setup/settings-files.ts";
import type { Setup } from "../../setup/write-setup.ts";
import { CommandError } from "../command.ts";
import { describeUnits, findModel } from "../models/diff.ts";
import type { Ask } from "./ask.ts";

export interface ProviderOptions {
  /** Default: those of the models. */
  readonly provider?: readonly string[];
  /** Ids of known models. */
  readonly model?: readonly string[];
  /** Address of a server that serves the models of the one provider. */
  readonly baseUrl?: string;
  /** Name of the upstream of the one provider. */
  readonly upstream?: string;
  /** Where the key of the one provider is read from. Default: its variable, or a question. */
  readonly keyFile?: string;
  readonly keyStdin?: boolean;
  /** Whether keys are proved by a call. Default: yes. */
  readonly check?: boolean;
}

/** A setup, and what could not be proved of it. */
export interface PlannedSetup extends Setup {
  readonly warnings: readonly string[];
}

const KEY_LENGTH_MAX = 10_000;
const TRIES = 3;

/** Plans the upstreams and models of every wanted provider, with proved keys. Writes nothing. */
export async function planProviders(
  options: ProviderOptions,
  files: SettingsFiles,
  ask: Ask | undefined,
): Promise<PlannedSetup> {
  const known = readKnownModels();
  const wanted = (options.model ?? []).map((id) => findModel(known, id));
  const providers = await chooseProviders(options, wanted, ask);
  const isOfOne = [options.baseUrl, options.upstream, options.keyFile, options.keyStdin].some(Boolean);
  if (isOfOne && providers.length !== 1)
    throw new CommandError("Name one provider with --base-url, --upstream, --key-file or --key-stdin.", 2);
  const file = readFileValues(readSettingsFile(files.configPath));
  const planned: Setup["upstreams"][number][] = [];
  const variables: Record<string, string> = {};
  const warnings: string[] = [];
  for (const provider of providers) {
    const wish = { provider, name: options.upstream, baseUrl: options.baseUrl };
    const upstream = planUpstream(wish, file);
    const { values, listed, warning } = await proveKey(upstream, options, { files, ask, variables });
    for (const name of upstream.variables) {
      // A value that the start reads from a file of its own is not copied.
      const value = values[name];
      if (value !== undefined && !files.isInFile(name)) variables[name] = value;
    }
    if (warning) warnings.push(`${upstream.name}: ${warning}`);
    const own = wanted.filter((model) => ownerOf(providerOf(model)) === ownerOf(provider));
    const offered = offerModels(known, provider, listed, Date.now());
    const models = own.length > 0 ? own : await chooseModels(upstream, offered, ask);
    warnings.push(...findWarnings(models, known, Date.now()));
    planned.push({ upstream, models });
  }
  return { upstreams: planned, variables, warnings };
}

/** Returns providers of the catalog, each once. */
async function chooseProviders(
  { provider, model }: ProviderOptions,
  wanted: readonly KnownModel[],
  ask: Ask | undefined,
): Promise<readonly string[]> {
  const all = listProviders();
  const named = provider ?? [...new Set(wanted.map((each) => ownerOf(providerOf(each))))];
  const unknown = named.find((each) => !all.includes(each));
  if (unknown !== undefined)
    throw new CommandError(`${unknown} is none of the providers: ${all.join(", ")}.`, 2);
  const stray = wanted.find((each) => !named.includes(ownerOf(providerOf(each))));
  if (stray) throw new CommandError(`${stray.id} is of none of these providers: name its provider too.`, 2);
  if (named.length > 0 || model) return [...new Set(named)];
  if (!ask)
    throw new CommandError(
      "Without a terminal, name models with --model, such as anthropic/claude-sonnet-5.",
      2,
    );
  return ask.choose(
    "Providers that you have a key of",
    listModelProviders(readKnownModels(), Date.now()).map((each) => ({ value: each, label: each })),
  );
}

interface ProofParts {
  readonly files: SettingsFiles;
  readonly ask: Ask | undefined;
  /** Values that were given for another upstream of this run. */
  readonly variables: Readonly<Record<string, string>>;
}

interface Proof {
  readonly values: Readonly<Record<string, string | undefined>>;
  /** The upstream's names of its models, where it lists them. */
  readonly listed: readonly string[] | undefined;
  readonly warning?: string;
}

/** Finds the variables of an upstream and proves them by a call. A refused key is asked for again. */
async function proveKey(
  upstream: UpstreamSetup,
  options: ProviderOptions,
  parts: ProofParts,
): Promise<Proof> {
  const { check = true } = options;
  for (let left = TRIES; ; left -= 1) {
    const values = await readValues(upstream, options, parts, left < TRIES);
    const isComplete = upstream.variables.every((name) => values[name] !== undefined);
    if (!isComplete)
      return { values, listed: undefined, warning: "the key was not checked: its variable is not set here" };
    if (!check) return { values, listed: undefined, warning: "the key was not checked" };
    parts.ask?.tell(`Checking ${upstream.name} with a call that costs nothing.`);
    const result = await checkUpstream(upstream, values);
    if (result.state === "accepted") return { values, listed: result.models };
    if (result.state === "unproven") {
      return {
        values,
        listed: result.models,
        warning: "answers, but does not tell whether it accepts the key",
      };
    }
    const problem = `The upstream ${upstream.name} ${result.problem}`;
    const mayAsk = parts.ask && !options.keyFile && !options.keyStdin && left > 1;
    if (!mayAsk) throw new AdditionError(`${problem}: nothing was written. --no-check leaves the call out.`);
    parts.ask?.tell(`${problem}.`);
  }
}

/** Returns the values of an upstream's variables. Those of an upstream in the file need not be set here. */
async function readValues(
  upstream: UpstreamSetup,
  { keyFile, keyStdin }: ProviderOptions,
  { files, ask, variables }: ProofParts,
  isRepeated: boolean,
): Promise<Record<string, string | undefined>> {
  const values: Record<string, string | undefined> = {};
  for (const name of upstream.variables) {
    const isKey = /KEY$/.test(name);
    const given = isKey && (keyFile ?? keyStdin) ? await readKey(keyFile) : undefined;
    const found = given ?? variables[name] ?? (isRepeated && isKey ? undefined : files.valueOf(name));
    values[name] = found ?? (await askForValue(ask, name, isKey));
    if (values[name] === undefined && upstream.isNew) {
      throw new CommandError(`${name} is not set: set it, or name the file of the key with --key-file.`, 2);
    }
  }
  return values;
}

async function askForValue(ask: Ask | undefined, name: string, isKey: boolean): Promise<string | undefined> {
  const answer = await (isKey ? ask?.secret(name) : ask?.text(name));
  return answer || undefined;
}

async function readKey(path: string | undefined): Promise<string> {
  const key = (path === undefined ? await readStdin() : readText(path)).trim();
  const place = path ?? "Standard input";
  if (key === "" || key.length > KEY_LENGTH_MAX || /\s/.test(key))
    throw new CommandError(`${place} holds no key.`, 2);
  return key;
}

/** Reads no more than shows that the input is no key. */
async function readStdin(): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of Bun.stdin.stream()) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > KEY_LENGTH_MAX) break;
  }
  return text;
}

function readText(path: string): string {
  const source = readSourceNow(path, { bytesMax: KEY_LENGTH_MAX });
  if (source.kind === "text") return source.text;
  if (source.kind === "too_large" || source.kind === "not_utf8") return "";
  throw new CommandError(`${path} cannot be read.`, 2);
}

async function chooseModels(
  { name }: UpstreamSetup,
  offered: readonly KnownModel[],
  ask: Ask | undefined,
): Promise<readonly KnownModel[]> {
  if (!ask)
    throw new CommandError(
      `No model of ${name} is named: give --model, such as ${offered[0]?.id ?? "PROVIDER/MODEL"}.`,
      2,
    );
  if (offered.length === 0)
    throw new CommandError(`The catalog has no model that ${name} lists: name one with --model.`);
  const width = Math.max(...offered.map((model) => upstreamModelOf(model).length));
  const choices = offered.map((model) => ({ value: model.id, label: describeModel(model, width) }));
  ask.tell("Tokens of context, USD per million tokens of input / output:");
  const ids = await ask.choose(`Models of ${name}`, choices);
  return offered.filter(({ id }) => ids.includes(id));
}

/** Fits 60 columns for most models. */
function describeModel(model: KnownModel, width: number): string {
  const { context_window: window = 0, cost } = model;
  const price = cost ? `${cost.input} / ${cost.output}` : describeUnits(model);
  const context = window === 0 ? "" : `${Math.floor(window / 1000)}k`;
  return `${upstreamModelOf(model).padEnd(width)} ${context.padStart(6)}  ${price}`;
}
