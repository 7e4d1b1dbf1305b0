import {
  type KnownMode,
  type KnownModel,
  type KnownModels,
  providerOf,
  upstreamModelOf,
} from "../catalog/known-models.ts";
import { findOtherAddress, findProvider, ownerOf, providerBehind, upstreamOf } from "../catalog/providers.ts";
import { AdditionError, type Additions } from "../config/add-entries.ts";
import { findKnownWarnings } from "../config/warnings.ts";

export interface AddOptions {
  /** Name of the upstream, an existing or a new one. Default: an upstream of the provider. */
  readonly upstream?: string;
  /** Name for clients, of one model. Default: the last part of the id. */
  readonly as?: string;
  /** Limits of one model that the catalog does not have, or lower ones. */
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  /** Members of the upstream where the file does not have it. Default: those of the model's provider. */
  readonly entry?: object;
}

type Entries = Record<string, object>;

/**
 * Returns the members that add known models, and an upstream where the file has none of the provider. Throws
 * {@link AdditionError} for models that such an upstream does not serve.
 */
export function planAdditions(
  models: readonly KnownModel[],
  file: Readonly<Record<string, unknown>>,
  options: AddOptions,
): Additions {
  const upstreams: Entries = {};
  const added: Entries = {};
  const existing: Readonly<Record<string, unknown>> = { ...Object(file.upstreams) };
  for (const model of models) {
    const name = options.as ?? shortName(model);
    if (Object.hasOwn(added, name))
      throw new AdditionError(`Two of these models are named ${name}: add one with --as.`);
    const upstream = options.upstream ?? findUpstream(model, existing);
    if (!Object.hasOwn(existing, upstream))
      upstreams[upstream] = { ...upstreams[upstream], ...(options.entry ?? upstreamEntry(model)) };
    requireServed(model, upstream, { ...existing, ...upstreams });
    requireLimits(model, options);
    added[name] = { known: model.id, ...limitsOf(options), routes: [{ upstream }] };
  }
  return { upstreams, models: added };
}

/** Modes of models that upstreams of a protocol serve. Those of `openai` serve all. */
const MODES: Readonly<Record<string, readonly KnownMode[]>> = {
  azure: ["chat", "embedding"],
  anthropic: ["chat"],
  bedrock: ["chat", "embedding"],
  gemini: ["chat", "embedding"],
  vertex: ["chat", "embedding"],
};

/** Refuses a model whose every request would fail. An entry of unknown form is left to `check`. */
function requireServed(
  model: KnownModel,
  upstream: string,
  entries: Readonly<Record<string, unknown>>,
): void {
  const { protocol, base_url: baseUrl, responses } = { ...Object(entries[upstream]) };
  const modes = typeof protocol === "string" && Object.hasOwn(MODES, protocol) ? MODES[protocol] : undefined;
  if (modes && !modes.includes(model.mode))
    throw new AdditionError(
      `${model.id} is of mode ${model.mode}, which upstreams of protocol ${protocol} do not serve.`,
    );
  if (protocol === "azure" && /^azure_ai\/claude-/.test(model.id))
    throw new AdditionError(
      `${model.id} is served in Anthropic's format alone: name an upstream of protocol anthropic with --upstream.`,
    );
  if (model.responses_only && protocol === "openai" && responses !== true)
    throw new AdditionError(`${model.id} needs responses: true at the upstream ${upstream}.`);
  const address = findOtherAddress(providerOf(model), model.mode)?.baseUrl;
  if (address !== undefined && providerBehind(String(protocol), String(baseUrl)) === providerOf(model)) {
    if (!isAt(baseUrl, address))
      throw new AdditionError(`${model.id} needs an upstream with base_url: ${address}.`);
  }
}

function isAt(baseUrl: unknown, address: string): boolean {
  return typeof baseUrl === "string" && URL.parse(baseUrl)?.host === URL.parse(address)?.host;
}

/** Refuses a model with prices of tokens but without the limits that the configuration of one requires. */
function requireLimits(model: KnownModel, options: AddOptions): void {
  const { mode, cost, context_window: window = options.contextWindow } = model;
  const hasOutput = mode !== "embedding" && mode !== "rerank" && mode !== "moderation";
  const output = model.max_output_tokens ?? options.maxOutputTokens;
  const missing = [
    ...(window === undefined ? ["--context-window"] : []),
    ...(hasOutput && output === undefined ? ["--max-output-tokens"] : []),
  ];
  if (cost && missing.length > 0)
    throw new AdditionError(
      `The catalog has no such limit of ${model.id}: give models add ${missing.join(" and ")}.`,
    );
}

function limitsOf({ contextWindow, maxOutputTokens }: AddOptions): object {
  return {
    ...(contextWindow === undefined ? {} : { context_window: contextWindow }),
    ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
  };
}

/** Returns what `check` would warn of: a model near or past its end, and an old price. */
export function findWarnings(
  models: readonly KnownModel[],
  known: KnownModels,
  nowMs: number,
): readonly string[] {
  const filled = models.map((model) => ({
    place: [],
    known: model.id,
    values: { cost: model.cost ?? model.unit_cost },
    source: model.source,
    checked: known.checkedOn(model),
    ends: model.ends,
  }));
  return findKnownWarnings(filled, nowMs).map(({ known: id, text }) => `${id} ${text}`);
}

/** Returns the name for clients: the last part of the provider's name, which clients of that model know. */
export function shortName(model: KnownModel): string {
  return upstreamModelOf(model).split("/").at(-1) ?? model.id;
}

/** Returns the first upstream that serves a model of a provider, else a free name for a new one. */
function findUpstream(model: KnownModel, existing: Readonly<Record<string, unknown>>): string {
  const owner = ownerOf(providerOf(model));
  const address = findOtherAddress(owner, model.mode)?.baseUrl;
  const found = Object.entries(existing).find(([, entry]) => {
    const { protocol, base_url: baseUrl } = { ...Object(entry) };
    const url = typeof baseUrl === "string" ? baseUrl : undefined;
    const isOfProvider = typeof protocol === "string" && providerBehind(protocol, url) === owner;
    return isOfProvider && (address === undefined ? !isAtOther(url, owner) : isAt(url, address));
  });
  if (found) return found[0];
  return freeName(address === undefined ? owner : `${owner}-${model.mode}`, existing);
}

/** Returns the wanted name of an upstream, with a number where the file has it already. */
export function freeName(wanted: string, existing: Readonly<Record<string, unknown>>): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    if (!Object.hasOwn(existing, name)) return name;
  }
}

/** Whether an upstream has the address of one mode alone. */
function isAtOther(url: string | undefined, owner: string): boolean {
  const usual = findProvider(owner)?.baseUrl;
  return url !== undefined && usual !== undefined && !isAt(url, usual);
}

function upstreamEntry(model: KnownModel): object {
  const entry = upstreamOf(providerOf(model), model.mode);
  if (!entry) throw new AdditionError(`${model.id} needs an upstream: name one with --upstream.`);
  return model.responses_only ? { ...entry, responses: true } : entry;
}
