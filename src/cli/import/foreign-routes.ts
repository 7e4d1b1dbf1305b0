import {
  type KnownModel,
  type KnownModels,
  readKnownModels,
  upstreamModelOf,
} from "../../catalog/known-models.ts";
import { upstreamOf } from "../../catalog/providers.ts";
import { findBaseUrlProblem } from "../../config/upstream-rules.ts";
import type { ConvertedConfig } from "./litellm-config.ts";
import type { CloudTarget } from "./providers.ts";
import { createUpstreams } from "./upstream-parts.ts";

/** One way to a model, as another gateway has it. */
export interface ForeignRoute {
  /** Where it stands in the file, for problems. */
  readonly place: string;
  /** Name for clients. */
  readonly name: string;
  /** The provider's name there, such as "azure-openai". */
  readonly provider: string;
  /** The provider's name of the model. */
  readonly model: string;
  readonly baseUrl?: string | undefined;
  /** A placeholder, or the key itself, which is never printed. */
  readonly key?: string | undefined;
  readonly weight?: number | undefined;
  /** From 1; lower is tried first. */
  readonly priority?: number | undefined;
  /** The model's name for clients, by which the catalog has it where `model` is a deployment. */
  readonly alias?: string;
  /** Address and credentials at a cloud. Default: those of the provider in the catalog. */
  readonly cloud?: CloudTarget | undefined;
}

/** Providers of the catalog by the names that other gateways have for them. */
const PROVIDERS: Readonly<Record<string, string>> = {
  google: "gemini",
  "google-ai-studio": "gemini",
  "x-ai": "xai",
  mistralai: "mistral",
  "mistral-ai": "mistral",
  moonshotai: "moonshot",
  "z-ai": "zai",
  "together-ai": "together",
  "fireworks-ai": "fireworks",
  "perplexity-ai": "perplexity",
};

/** Returns the catalog's name of a provider. */
export function catalogProvider(name: string): string {
  const lower = name.toLowerCase();
  return Object.hasOwn(PROVIDERS, lower) ? (PROVIDERS[lower] ?? lower) : lower;
}

const DATE = /-(20\d{6}|20\d\d-\d\d-\d\d)$/;

/** Finds a model of a provider in the catalog: by its name, without its date, and in Anthropic's own spelling. */
function findForeign(known: KnownModels, provider: string, model: string): KnownModel | undefined {
  const undated = model.replace(DATE, "");
  const names = [model, undated];
  if (provider === "anthropic") {
    const dashed = undated.replaceAll(".", "-");
    names.push(dashed, dashed.replace(/^claude-(\d(?:-\d)?)-(opus|sonnet|haiku)/, "claude-$2-$1"));
  }
  return names.map((name) => known.find(`${provider}/${name}`)).find((found) => found !== undefined);
}

/** Finds a model by its "provider/model". */
export function findForeignSlug(known: KnownModels, slug: string): KnownModel | undefined {
  const slash = slug.indexOf("/");
  if (slash < 0 || slug.includes(":")) return undefined;
  return findForeign(known, catalogProvider(slug.slice(0, slash)), slug.slice(slash + 1));
}

interface Entry {
  readonly known: string;
  readonly routes: { upstream: string; known?: string; model?: string; weight?: number; priority?: number }[];
}

/** Weights are parts of 1 there, and whole numbers to a million here. */
const WEIGHT_SCALE = 1_000;
const WEIGHT_MAX = 1_000;

/** Converts routes to upstreams and models. Whatever has no price in the catalog is a problem. */
export function convertRoutes(routes: readonly ForeignRoute[], found: ConvertedParts): ConvertedConfig {
  const known = readKnownModels();
  const notes = [...found.notes];
  const problems = [...found.problems];
  const upstreams = createUpstreams(notes);
  const models = new Map<string, Entry>();
  for (const route of routes) {
    const provider = catalogProvider(route.provider);
    const model = findModel(known, provider, route);
    const problem = findProblem(route, provider, model);
    if (problem !== undefined || !model) {
      problems.push(`${route.place}: ${problem}`);
      continue;
    }
    const upstream = nameUpstream(upstreams, provider, route);
    const entry = models.get(route.name) ?? { known: model.id, routes: [] };
    const { weight, priority } = route;
    const name = ownName(route, model);
    entry.routes.push({
      upstream,
      ...(entry.known === model.id ? {} : { known: model.id }),
      ...(name === upstreamModelOf(model) ? {} : { model: name }),
      ...(weight === undefined ? {} : { weight: Math.max(1, Math.round(weight * WEIGHT_SCALE)) }),
      ...(priority === undefined || priority === 1 ? {} : { priority }),
    });
    models.set(route.name, entry);
  }
  for (const { routes: ways } of models.values()) {
    // Nothing is chosen where there is one.
    if (ways.length === 1) for (const way of ways) delete way.weight;
  }
  const used = new Set([...models.values()].flatMap((entry) => entry.routes.map(({ upstream }) => upstream)));
  return { upstreams: upstreams.list(used), models: Object.fromEntries(models), problems, notes };
}

/** What a reader has found beside routes. */
export interface ConvertedParts {
  readonly problems: readonly string[];
  readonly notes: readonly string[];
}

function findModel(known: KnownModels, provider: string, { model, alias, cloud }: ForeignRoute) {
  const names = [cloud?.model ?? model, ...(alias === undefined ? [] : [alias])];
  // At Azure, the name of a deployment is free.
  const ordered = provider === "azure" ? names.reverse() : names;
  return ordered.map((name) => findForeign(known, provider, name)).find((found) => found !== undefined);
}

/** Returns the name that is sent: a deployment, or a version by its date, which the catalog may have without it. */
function ownName({ model, cloud }: ForeignRoute, known: KnownModel): string {
  const name = upstreamModelOf(known);
  return cloud?.model ?? (model.replace(DATE, "") === name ? model : name);
}

function findProblem(
  { model, baseUrl, cloud, weight = 1 }: ForeignRoute,
  provider: string,
  known: KnownModel | undefined,
) {
  const members = upstreamOf(provider);
  if (!members) return `has the provider ${provider}, which is not in the catalog`;
  if (!cloud && (members.base_url?.toString().startsWith("${") || !("api_key" in members)))
    return `has the provider ${provider}, whose address or credentials are written by hand`;
  if (!known) return `has the model ${model}, which is not in the catalog: write its price and limits`;
  if (!(weight > 0 && weight <= WEIGHT_MAX))
    return `has the weight ${weight}, expected one above 0 to ${WEIGHT_MAX}`;
  const problem = baseUrl === undefined || baseUrl.startsWith("${") ? undefined : findBaseUrlProblem(baseUrl);
  return problem && `its base URL ${problem[0]}, expected ${problem[1]}`;
}

function nameUpstream(
  upstreams: ReturnType<typeof createUpstreams>,
  provider: string,
  { baseUrl, key, cloud }: ForeignRoute,
): string {
  if (cloud) {
    const { settings, keyVariable } = cloud;
    return upstreams.name(provider, settings, keyVariable ? { text: key, keyVariable } : undefined);
  }
  const { api_key: usual, ...members } = { api_key: "", ...upstreamOf(provider) };
  const settings = { ...members, ...(baseUrl === undefined ? {} : { base_url: baseUrl }) };
  const keyVariable = String(usual).slice("${".length, -"}".length);
  return upstreams.name(provider, settings, { text: key, keyVariable });
}
