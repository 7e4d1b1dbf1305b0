import { nearestIds } from "../../catalog/catalog.ts";
import { type KnownModel, type KnownModels, readKnownModels } from "../../catalog/known-models.ts";
import { readPrice } from "../../catalog/prices.ts";
import { providerBehind } from "../../catalog/providers.ts";
import { costsAt } from "../../catalog/regional.ts";
import { type Config, loadConfig } from "../../config/config.ts";
import { listPrices, type Model, type Price, type Route } from "../../domain/model.ts";
import { CommandError, type CommandResult } from "../command.ts";
import { printTable } from "../printing.ts";

/** A fact of the configuration that the catalog has otherwise. */
interface Difference {
  readonly model: string;
  readonly upstream: string;
  readonly known: string;
  /** A key of the file: "cost.input", "long_context.cost.input", "context_window". */
  readonly key: string;
  readonly configured: string;
  readonly catalog: string;
}

/**
 * Compares costs and limits of the configuration with the catalog, for every route whose model is known: by its
 * `known`, or by its provider and the provider's name of it. Fails when any differs.
 */
export function runModelsDiff(): CommandResult {
  const config = loadConfig();
  const known = readKnownModels();
  const routes = config.models.flatMap((model) => model.routes.map((route) => ({ model, route })));
  const compared = routes.map(({ model, route }) => ({
    model,
    route,
    known: findKnown(route, config, known),
  }));
  const differences = compared.flatMap((each) =>
    each.known
      ? compareRoute(
          each.model,
          each.route,
          atUpstream(each.route, each.known, { upstreams: config.upstreams, known }),
        )
      : [],
  );
  const unknown = compared
    .filter((each) => !each.known)
    .map(({ model, route }) => `${model.id} at ${route.upstream}`);
  const json = { ok: differences.length === 0, checked: known.source.checked, differences, unknown };
  const titles = ["MODEL", "UPSTREAM", "KNOWN", "KEY", "HERE", "CATALOG"];
  const rows = differences.map((each) => [
    each.model,
    each.upstream,
    each.known,
    each.key,
    each.configured,
    each.catalog,
  ]);
  const lines = [
    ...(differences.length > 0 ? [printTable(titles, rows)] : []),
    `${differences.length} differences in ${compared.length - unknown.length} routes of known models, checked on ${known.source.checked}.`,
    ...(unknown.length > 0 ? [`Not in the catalog: ${unknown.join(", ")}.`] : []),
  ];
  return { json, text: lines.join("\n"), failed: differences.length > 0 };
}

function findKnown(route: Route, { upstreams }: Config, known: KnownModels): KnownModel | undefined {
  if (route.known !== undefined) return known.find(route.known);
  const upstream = upstreams.find(({ name }) => name === route.upstream);
  const provider = upstream && providerBehind(upstream.protocol, upstream.baseUrl);
  return provider === undefined ? undefined : known.find(`${provider}/${route.upstreamModel}`);
}

/** Returns a known model with its costs at the upstream of a route. */
function atUpstream(
  route: Route,
  model: KnownModel,
  { upstreams, known }: Pick<Config, "upstreams"> & { readonly known: KnownModels },
): KnownModel {
  const upstream = upstreams.find(({ name }) => name === route.upstream);
  const place = {
    location: upstream?.protocol === "vertex" ? upstream.google.location : undefined,
    region: upstream?.protocol === "bedrock" ? upstream.bedrock.region : undefined,
    baseUrl: upstream?.baseUrl,
  };
  const { cost, long } = costsAt(model, place, known);
  return { ...model, ...(cost ? { cost } : {}), ...(long ? { long } : {}) };
}

function compareRoute(model: Model, route: Route, known: KnownModel): readonly Difference[] {
  const place = { model: model.id, upstream: route.upstream, known: known.id };
  const name = route.cost ? "cost" : "price";
  const own = route.cost ?? route.price;
  const long = route.cost ? route.longCost : route.longPrice;
  const pairs: readonly Pair[] = [
    ...pricePairs(name, own, known.cost && readPrice(known.cost)),
    ...(long ? pricePairs(`long_context.${name}`, long, known.long && readPrice(known.long.cost)) : []),
    ["context_window", String(model.contextWindow), known.context_window?.toString()],
    ["max_output_tokens", String(model.outputTokensMax), known.max_output_tokens?.toString()],
  ];
  return pairs.flatMap(([key, configured, catalog]) =>
    catalog === undefined || catalog === configured ? [] : [{ ...place, key, configured, catalog }],
  );
}

type Pair = readonly [key: string, configured: string, catalog: string | undefined];

function pricePairs(name: string, own: Price, known: Price | undefined): readonly Pair[] {
  if (!known) return [];
  const catalog: Readonly<Record<string, string>> = listPrices(known);
  return Object.entries(listPrices(own)).map(([key, price]) => [`${name}.${key}`, price, catalog[key]]);
}

const NEAREST_MAX = 3;

/** Finds a known model. Throws CommandError with the ids that are like an unknown one. */
export function findModel(known: KnownModels, id: string): KnownModel {
  const found = known.find(id);
  if (found) return found;
  const ids = known.list().map((model) => model.id);
  throw new CommandError(`${id} is not a known model: see ${nearestIds(id, ids, NEAREST_MAX).join(", ")}.`);
}

/** Describes the cost of a model that is not sold by tokens: "0.006 per minute". */
export function describeUnits({ unit_cost: costs = {} }: KnownModel): string {
  const { image = {}, million_characters: characters, ...others } = costs;
  const images = typeof image === "string" ? { image } : prefixed("image ", image);
  const units = { ...images, "million characters": characters, ...others };
  return Object.entries(units)
    .flatMap(([unit, cost]) => (cost === undefined ? [] : [`${cost} per ${unit}`]))
    .join(", ");
}

function prefixed(prefix: string, costs: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(costs).map(([name, cost]) => [prefix + name, cost]));
}
