import type { KnownModel, KnownModels } from "../catalog/known-models.ts";
import { providerOf, upstreamModelOf } from "../catalog/known-models.ts";
import {
  findOtherAddress,
  listProviders,
  ownerOf,
  providerBehind,
  upstreamOf,
} from "../catalog/providers.ts";
import { AdditionError } from "../config/add-entries.ts";
import { unshieldPlaceholders } from "../config/placeholders.ts";
import { readUpstreamEntry } from "../config/upstream-entry.ts";
import { keyConfigsOf } from "../upstream/key-pool.ts";
import { listUpstreamModels } from "../upstream/model-list.ts";
import { createTransport } from "../upstream/transports.ts";
import { freeName } from "./additions.ts";

/** One upstream of the file, or one that is to be added to it. */
export interface UpstreamSetup {
  readonly provider: string;
  readonly name: string;
  /** Its members in YAML, with placeholders. */
  readonly entry: object;
  readonly isNew: boolean;
  /** Variables that its placeholders name. */
  readonly variables: readonly string[];
}

export interface UpstreamWish {
  /** A provider of the catalog, whose protocol and models the upstream has. */
  readonly provider: string;
  /** Default: an upstream of the provider, else its name. */
  readonly name?: string | undefined;
  /** Address of a server that serves the provider's models. Default: that of the provider. */
  readonly baseUrl?: string | undefined;
}

/** Returns the upstream of the file that serves a provider, or the members of a new one. Throws {@link AdditionError}. */
export function planUpstream({ provider, name, baseUrl }: UpstreamWish, file: object): UpstreamSetup {
  const members = upstreamOf(provider);
  if (!members) throw new AdditionError(`${provider} is no provider of the catalog.`);
  const { upstreams } = { upstreams: undefined, ...file };
  const existing: Readonly<Record<string, object>> = { ...Object(upstreams) };
  const wanted: Readonly<Record<string, unknown>> = {
    ...members,
    ...(baseUrl === undefined ? {} : { base_url: baseUrl }),
  };
  const entries = Object.entries(existing);
  const isNamed = name === undefined && baseUrl === undefined;
  const found =
    entries.find(([each, entry]) => isWanted(each, entry)) ??
    // The provider's name stands for its models, also at another address of the same protocol.
    (isNamed
      ? entries.find(([each, entry]) => each === provider && protocolOf(entry) === wanted.protocol)
      : undefined);
  // The values of a file have their placeholders shielded.
  if (found)
    return describe(provider, found[0], JSON.parse(unshieldPlaceholders(JSON.stringify(found[1]))), false);
  const free = name ?? freeName(ownerOf(provider), existing);
  if (Object.hasOwn(existing, free))
    throw new AdditionError(`The upstream ${free} is of another provider or address: name another one.`);
  return describe(provider, free, withOwnVariable(wanted, free, provider), true);

  function isWanted(each: string, entry: object): boolean {
    const { protocol, base_url: url } = { protocol: undefined, base_url: undefined, ...entry };
    if (typeof protocol !== "string" || (name !== undefined && each !== name)) return false;
    if (baseUrl !== undefined) return protocol === wanted.protocol && url === baseUrl;
    if (name !== undefined) return protocol === wanted.protocol;
    return providerBehind(protocol, textOf(url)) === ownerOf(provider);
  }
}

function protocolOf(entry: object): unknown {
  return { protocol: undefined, ...entry }.protocol;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function describe(provider: string, name: string, entry: object, isNew: boolean): UpstreamSetup {
  const variables = [...JSON.stringify(entry).matchAll(/\$\{(\w+)\}/g)].map(([, each = ""]) => each);
  return { provider, name, entry, isNew, variables: [...new Set(variables)] };
}

/** Gives an upstream that is not named like its provider a key of its own. */
function withOwnVariable(entry: object, name: string, provider: string): object {
  if (name === provider || !Object.hasOwn(entry, "api_key")) return entry;
  return { ...entry, api_key: `\${${name.toUpperCase().replace(/\W/g, "_")}_API_KEY}` };
}

/** What a call of an upstream with its key has shown. */
export type UpstreamCheck =
  | {
      readonly state: "accepted";
      /** The names of its models; `undefined` where it lists none to this key. */
      readonly models: readonly string[] | undefined;
    }
  /** The upstream answers, and its answer does not tell whether it accepts the key. */
  | { readonly state: "unproven"; readonly models: readonly string[] | undefined }
  /** Nothing that the upstream sent is in the text. */
  | { readonly state: "refused"; readonly problem: string };

/** Providers that list their models to everybody. */
const OPEN_LISTS = ["openrouter", "jina"];

/** Asks an upstream for the list of its models, which costs nothing. Throws {@link AdditionError} for a bad entry. */
export async function checkUpstream(
  { provider, name, entry }: UpstreamSetup,
  values: Readonly<Record<string, string | undefined>>,
): Promise<UpstreamCheck> {
  const upstream = readUpstreamEntry(name, entry, values);
  const [{ apiKey } = { apiKey: "" }] = keyConfigsOf(upstream);
  const transport = createTransport({ ...upstream, apiKey, keys: undefined });
  const { status, models } = await listUpstreamModels(transport);
  if (typeof status === "string")
    return refused(`does not answer at ${new URL(upstream.baseUrl).host} (${status})`);
  if (status === 401 || status === 403) return refused(`refuses the key with status ${status}`);
  if (status >= 300 && status < 400) return refused(`redirects with status ${status}`);
  // Some answer a wrong key with 400.
  if (status === 400 && upstream.protocol === "gemini") return refused("refuses the key with status 400");
  if (status >= 500 || status === 429) return refused(`answers with status ${status} now`);
  const isProof = status === 200 && !OPEN_LISTS.includes(provider) && models !== undefined;
  return { state: isProof ? "accepted" : "unproven", models };
}

function refused(problem: string): UpstreamCheck {
  return { state: "refused", problem };
}

/** Returns the providers that have models to offer, in the order of the catalog of providers. */
export function listModelProviders(known: KnownModels, nowMs: number): readonly string[] {
  const offered = known.list().filter((model) => isOffered(model, nowMs));
  const owners = new Set(offered.map((model) => ownerOf(providerOf(model))));
  return listProviders().filter((provider) => owners.has(provider));
}

/**
 * Returns the known models that an upstream can serve, without those past their end. `listed` are the upstream's own
 * names; without them, all of its provider.
 */
export function offerModels(
  known: KnownModels,
  provider: string,
  listed: readonly string[] | undefined,
  nowMs: number,
): readonly KnownModel[] {
  const names = listed && new Set(listed);
  const isListed = (model: KnownModel) => names?.has(upstreamModelOf(model)) ?? true;
  const isOfProvider = (model: KnownModel) => ownerOf(providerOf(model)) === ownerOf(provider);
  return known.list().filter((model) => isOfProvider(model) && isOffered(model, nowMs) && isListed(model));
}

/** Whether the provider still serves a model, at its usual address, and all of its facts are known. */
function isOffered(model: KnownModel, nowMs: number): boolean {
  const today = new Date(nowMs).toISOString().slice(0, 10);
  if (model.ends !== undefined && model.ends <= today) return false;
  return hasPrice(model) && !findOtherAddress(ownerOf(providerOf(model)), model.mode);
}

/** Whether a model can be added without limits or prices that a person would type. */
function hasPrice({ mode, cost, context_window: window, max_output_tokens: output }: KnownModel): boolean {
  if (!cost || window === undefined) return false;
  return mode === "chat" ? output !== undefined : mode === "embedding";
}
