import { type KnownClasses, type KnownModels, readKnownModels } from "../../catalog/known-models.ts";
import { findBaseUrlProblem } from "../../config/upstream-rules.ts";
import {
  type Facts,
  findLostMembers,
  findLostSettings,
  findOtherFallbacks,
  findPrices,
  hasPrice,
  isRow,
  limitsOf,
  readFacts,
  readFallbacks,
  readKnownFacts,
} from "./litellm-facts.ts";
import { type CloudTarget, placeholderOf, readCloud, splitModel } from "./providers.ts";
import { numberOf, type Row, textOf } from "./table.ts";
import { createUpstreams, type UpstreamPart } from "./upstream-parts.ts";

/** A part of tollgate.yaml, and what of the other configuration has no place in it. */
export interface ConvertedConfig {
  readonly upstreams: Readonly<Record<string, UpstreamPart>>;
  readonly models: Readonly<Record<string, ModelPart>>;
  /** What is not imported, each by its name and with the reason. */
  readonly problems: readonly string[];
  /** What the operator has to do, such as setting a variable. */
  readonly notes: readonly string[];
}

interface RoutePart {
  readonly upstream: string;
  readonly model?: string;
  readonly known?: string;
  readonly priority?: number;
  readonly weight?: number;
  readonly price?: KnownClasses;
}

/** A known model leaves out limits and price, except limits that its fallbacks lower. */
interface ModelPart {
  readonly known?: string;
  readonly routes: readonly RoutePart[];
  readonly context_window?: number;
  readonly max_output_tokens?: number;
  readonly price?: KnownClasses;
}

/** One entry of `model_list` that can be a route. */
interface Deployment {
  readonly name: string;
  readonly route: RoutePart;
  readonly order: number;
  readonly facts: Facts;
}

const ROUTES_MAX = 32;
const WEIGHT_MAX = 1_000_000;
/** Top-level keys that are read here. */
const READ_KEYS = ["model_list"];

/**
 * Converts a configuration of LiteLLM's proxy. `knownPrices` is its table of prices, by model. Nothing is
 * guessed: a model without a price or without token limits, and not in the catalog, is a problem. No inline key is returned.
 * @see https://docs.litellm.ai/docs/proxy/configs
 */
export function convertLitellmConfig(config: Row, knownPrices: Row = {}): ConvertedConfig {
  const problems: string[] = [];
  const notes: string[] = [];
  const upstreams = createUpstreams(notes);
  const known = readKnownModels();
  const entries = Array.isArray(config.model_list) ? config.model_list.filter(isRow) : [];
  if (entries.length === 0) problems.push("model_list: has no models");
  const deployments = entries.flatMap((entry, index) => {
    const place = `model_list[${index}] ${textOf(entry.model_name) ?? ""}`;
    const read = readDeployment(entry, { knownPrices, models: known, upstreams, notes });
    const { others } = findLostMembers(entry);
    if (typeof read === "string") problems.push(`${place}: ${read}`);
    else if (others.length > 0) problems.push(`${place}: is imported without ${others.join(", ")}`);
    return typeof read === "string" ? [] : [read];
  });
  const fallbacks = readFallbacks(config);
  const names = [...new Set(deployments.map(({ name }) => name))];
  const own = names.map((name) => [name, createModel(name, { deployments, fallbacks, notes })] as const);
  const models = [...own, ...createAliases(config, new Map(own), problems)];
  for (const [from] of fallbacks) {
    if (!names.includes(from)) problems.push(`fallbacks of ${from}: its model is not imported`);
  }
  problems.push(...findOtherFallbacks(config), ...findLostSettings(config));
  const ignored = Object.keys(config).filter((key) => !READ_KEYS.includes(key));
  if (ignored.length > 0)
    notes.push(`Settings without a counterpart, fallbacks and aliases aside: ${ignored.join(", ")}.`);
  return {
    upstreams: upstreams.list(usedUpstreams(models)),
    models: Object.fromEntries(models),
    problems,
    notes: [...new Set(notes)],
  };
}

interface DeploymentParts {
  readonly knownPrices: Row;
  readonly models: KnownModels;
  readonly upstreams: ReturnType<typeof createUpstreams>;
  readonly notes: string[];
}

/** Reads one entry. Returns why it cannot be imported as text, without any value of it but names. */
function readDeployment(
  entry: Row,
  { knownPrices, models, upstreams, notes }: DeploymentParts,
): Deployment | string {
  const { model_name: name, litellm_params: params, model_info: info } = entry;
  const id = textOf(name);
  const own = isRow(params) ? params : {};
  const target = textOf(own.model);
  if (!id || !target) return "has no model_name or no litellm_params.model";
  if (id.includes("*") || target.includes("*")) return "is a pattern, name each model";
  const { bounds } = findLostMembers(entry);
  if (bounds.length > 0) return `has no counterpart here for ${bounds.join(", ")}`;
  const place = readTarget(target, own);
  if (typeof place === "string") return place;
  const { settings, keyVariable, model, catalogName, note } = place;
  const written = [isRow(info) ? info : {}, own];
  // An Azure deployment has a name of its own, so its model is read from `base_model`.
  const base = textOf(isRow(info) ? info.base_model : undefined);
  const listed = models.find(base ?? `${catalogName}/${model}`) ?? models.find(`${catalogName}/${base}`);
  const known = hasPrice(written) ? undefined : readKnownFacts(listed);
  const sources = [...written, findPrices(knownPrices, base ?? target, model)];
  const stated = readFacts(sources);
  const facts = known ?? (typeof stated === "string" ? readFacts([...sources, limitsOf(listed)]) : stated);
  if (typeof facts === "string") return facts;
  const url = settings.base_url;
  const problem = typeof url !== "string" || url.startsWith("${") ? undefined : findBaseUrlProblem(url);
  if (problem) return `its api_base ${problem[0]}, expected ${problem[1]}`;
  if (note) notes.push(note);
  const key = keyVariable === undefined ? undefined : { text: textOf(own.api_key), keyVariable };
  const upstream = upstreams.name(place.providerName, settings, key);
  const weight = numberOf(own.weight) ?? numberOf(own.rpm) ?? numberOf(own.tpm);
  if (own.rpm !== undefined || own.tpm !== undefined) {
    notes.push(
      `${id}: rpm and tpm of a deployment became the weight of its route; upstreams have no limits here.`,
    );
  }
  const isNamed = facts.known === undefined || base !== undefined;
  const target_ = {
    ...(isNamed ? { model } : {}),
    ...(facts.known === undefined ? {} : { known: facts.known }),
  };
  const route = { upstream, ...target_, ...(isWeight(weight) ? { weight } : {}) };
  return { name: id, route, order: numberOf(own.order) ?? 1, facts };
}

interface Target extends Omit<CloudTarget, "catalogName"> {
  readonly providerName: string;
  readonly catalogName: string | undefined;
}

/** Reads where an entry sends its requests. Returns why it cannot be imported as text. */
function readTarget(text: string, params: Row): Target | string {
  const { providerName, provider, model } = splitModel(text);
  const cloud = readCloud(providerName, model, params);
  if (cloud) return { ...cloud, providerName };
  if (!provider) return `has the provider ${providerName || "none"}, which speaks no format of an upstream`;
  const base = textOf(params.api_base) ?? textOf(params.base_url) ?? provider.baseUrl;
  if (!base) return "has no api_base";
  const { protocol, keyVariable, catalogName } = provider;
  const settings = { protocol, base_url: placeholderOf(base) ?? base };
  return { settings, keyVariable, model, catalogName, providerName };
}

function isWeight(weight: number | undefined): weight is number {
  return weight !== undefined && Number.isInteger(weight) && weight >= 1 && weight <= WEIGHT_MAX;
}

interface ModelParts {
  readonly deployments: readonly Deployment[];
  readonly fallbacks: ReadonlyMap<string, readonly string[]>;
  readonly notes: string[];
}

/** Joins the entries of one name, and those of its fallbacks behind them, each at its own price. */
function createModel(name: string, { deployments, fallbacks, notes }: ModelParts): ModelPart {
  const of = (wanted: string) => deployments.filter((each) => each.name === wanted);
  const own = of(name);
  const behind = (fallbacks.get(name) ?? []).map(of).filter((group) => group.length > 0);
  const [first] = own;
  if (!first) throw new Error(`The model ${name} has no entry`);
  const weighed = own.every(({ route }) => route.weight !== undefined);
  const routes = [own, ...behind].flatMap((group, index) =>
    group.map(({ route, order, facts }) => {
      const { weight, ...place } = route;
      const priority = index * 100 + order;
      return {
        ...place,
        ...(priority === 1 ? {} : { priority }),
        ...(weighed && index === 0 && own.length > 1 ? { weight } : {}),
        ...(hasPriceOf(first.facts, facts) ? {} : { price: facts.price }),
      };
    }),
  );
  const bounds = [own, ...behind].flat().map(({ facts }) => facts);
  const context_window = Math.min(...bounds.map((each) => each.context_window));
  const max_output_tokens = Math.min(...bounds.map((each) => each.max_output_tokens));
  if (routes.length > ROUTES_MAX) notes.push(`${name}: only the first ${ROUTES_MAX} routes are imported.`);
  const limits = { context_window, max_output_tokens };
  const least = Math.min(...own.map(({ facts }) => facts.context_window));
  const leastOutput = Math.min(...own.map(({ facts }) => facts.max_output_tokens));
  if (context_window < least || max_output_tokens < leastOutput) {
    notes.push(
      `${name}: a fallback lowered its limits to a window of ${context_window} and ${max_output_tokens} output tokens.`,
    );
  }
  const kept = routes.slice(0, ROUTES_MAX);
  if (first.facts.known === undefined) return { routes: kept, ...limits, price: first.facts.price };
  return { known: first.facts.known, routes: kept, ...lowered(limits, first.facts) };
}

/** Returns the limits that are below those of the known model. */
function lowered(
  limits: Pick<Facts, "context_window" | "max_output_tokens">,
  facts: Facts,
): Partial<typeof limits> {
  const { context_window, max_output_tokens } = limits;
  return {
    ...(context_window < facts.context_window ? { context_window } : {}),
    ...(max_output_tokens < facts.max_output_tokens ? { max_output_tokens } : {}),
  };
}

/** Whether a route without a price has the right one: that of its model, or the cost of its own known model. */
function hasPriceOf(model: Facts, route: Facts): boolean {
  return model.known === undefined ? Bun.deepEquals(model.price, route.price) : route.known !== undefined;
}

/** Creates a model for each name of `model_group_alias`, with the routes and the price of the model behind it. */
function createAliases(
  { router_settings: router }: Row,
  models: ReadonlyMap<string, ModelPart>,
  problems: string[],
): readonly (readonly [string, ModelPart])[] {
  const aliases = isRow(router) && isRow(router.model_group_alias) ? router.model_group_alias : {};
  return Object.entries(aliases).flatMap(([alias, value]) => {
    const model = models.get(textOf(isRow(value) ? value.model : value) ?? "");
    if (models.has(alias)) return [];
    if (model) return [[alias, model] as const];
    problems.push(`model_group_alias ${alias}: its model is not imported`);
    return [];
  });
}

function usedUpstreams(models: readonly (readonly [string, ModelPart])[]): ReadonlySet<string> {
  return new Set(models.flatMap(([, { routes }]) => routes.map(({ upstream }) => upstream)));
}
