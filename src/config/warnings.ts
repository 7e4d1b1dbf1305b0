import { DAY_MS } from "../domain/id-time.ts";
import { MODAL_CLASSES, MODALITIES } from "../domain/modalities.ts";
import { longCostOf, type Model, type Price, type Route, type TokenPrice } from "../domain/model.ts";
import { TIERS, type Tier } from "../domain/tiers.ts";
import { REQUEST_FEE } from "../domain/tool-fees.ts";
import { dearestUnit, findUnpriced, type UnitPrice } from "../domain/units.ts";
import type { UpstreamConfig } from "../upstream/upstream.ts";
import type { FilledIn } from "./known.ts";
import { formatPath } from "./problems.ts";

/** Something that an operator should know of a known model that the file names. */
interface KnownWarning {
  /** Where the file names it: `models.claude`. */
  readonly place: string;
  readonly known: string;
  readonly reason: "old_price" | "ended" | "ends_soon" | "needs_responses";
  /** What is the matter, to follow the id of the model. */
  readonly text: string;
}

const PRICE_DAYS_MAX = 90;
const END_DAYS = 30;

/**
 * Finds prices that were last checked more than 90 days ago, models past their end or within 30 days of it, and
 * routes to models of the responses format whose upstream does not speak it.
 */
export function findKnownWarnings(filled: readonly FilledIn[], nowMs: number): readonly KnownWarning[] {
  return filled.flatMap(({ place, known, values, checked, ends, lacksResponses }) => {
    const warn = (reason: KnownWarning["reason"], text: string) => [
      { place: formatPath(place), known, reason, text },
    ];
    const days = Math.floor((nowMs - Date.parse(checked)) / DAY_MS);
    const hasCost = "cost" in values;
    return [
      ...(hasCost && days > PRICE_DAYS_MAX
        ? warn("old_price", `has a price of ${checked}, ${days} days ago`)
        : []),
      ...(ends !== undefined && Date.parse(ends) <= nowMs
        ? warn("ended", `may no longer be served since ${ends}`)
        : []),
      ...(ends !== undefined && Date.parse(ends) > nowMs && Date.parse(ends) - nowMs <= END_DAYS * DAY_MS
        ? warn("ends_soon", `may no longer be served from ${ends} on`)
        : []),
      ...(lacksResponses !== undefined
        ? warn("needs_responses", `needs responses: true at the upstream ${lacksResponses}`)
        : []),
    ];
  });
}

/** Describes a warning for the command line. */
export function describeKnownWarning({ place, known, text }: KnownWarning): string {
  return `${place}: ${known} ${text}`;
}

/** Describes what was filled in at each place, one line a place, with source and date. */
export function describeFilled({ place, known, values, source, checked }: FilledIn): string {
  const members = Object.entries(values).map(([name, value]) => `${name} ${printValue(value)}`);
  return `${formatPath(place)}: ${known} gives ${members.join(", ")} (${source}, checked on ${checked})`;
}

function printValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(printValue).join("+");
  if (typeof value !== "object" || value === null) return String(value);
  const members = Object.entries(value).map(([name, member]) => `${name} ${printValue(member)}`);
  return `{${members.join(", ")}}`;
}

/** Classes of tokens on one route whose price is below the upstream cost. */
interface PriceBelowCost {
  readonly model: string;
  readonly upstream: string;
  /** Keys of a price in the file, "input" or "long_context.input". Never empty. */
  readonly classes: readonly string[];
}

/** The classes of a price, with their keys in the file. */
const CLASSES: readonly (readonly [name: keyof TokenPrice, key: string])[] = [
  ["input", "input"],
  ["output", "output"],
  ["cachedInput", "cached_input"],
  ["cacheWrite", "cache_write"],
  ["cacheWrite1h", "cache_write_1h"],
];

/** Finds the routes that would lose money. A route of unknown cost is not reported. */
export function findPricesBelowCost(models: readonly Model[]): readonly PriceBelowCost[] {
  return models.flatMap(({ id, routes }) =>
    routes.flatMap((route) => {
      const classes = [...classesBelow(route.price, route.cost), ...longClassesBelow(route)];
      return classes.length === 0 ? [] : [{ model: id, upstream: route.upstream, classes }];
    }),
  );
}

/** Describes a finding for the command line, as "path: what is wrong, expected something else". */
export function describePriceBelowCost({ model, upstream, classes }: PriceBelowCost): string {
  const place = formatPath(["models", model]);
  const names = classes.join(", ");
  return `${place}: the price of ${names} is below the cost at upstream ${upstream}, expected at least the cost`;
}

function longClassesBelow(route: Route): readonly string[] {
  const { price, longPrice = price } = route;
  if (!route.longPrice && !route.longCost) return [];
  return classesBelow(longPrice, longCostOf(route)).map((name) => `long_context.${name}`);
}

function classesBelow(price: Price, cost: Price | undefined): readonly string[] {
  if (!cost) return [];
  const classes = [...tokensBelow(price, cost), ...tiersBelow(price, cost), ...apartBelow(price, cost)];
  return price.unit && cost.unit ? [...classes, ...unitsBelow(price.unit, cost.unit)] : classes;
}

function tokensBelow(price: TokenPrice, cost: TokenPrice): readonly string[] {
  return CLASSES.filter(([name]) => price[name] < cost[name]).map(([, key]) => key);
}

/** Returns the classes of tiers below their cost. A tier of unknown cost is not reported. */
function tiersBelow({ tiers: prices = {} }: Price, { tiers: costs = {} }: Price): readonly string[] {
  return TIERS.flatMap((tier) => {
    const [price, cost] = [prices[tier], costs[tier]];
    return price && cost ? tokensBelow(price, cost).map((name) => `tiers.${tier}.${name}`) : [];
  });
}

/** Returns the tools and the tokens of audio and images whose price is below the cost. */
function apartBelow(price: Price, cost: Price): readonly string[] {
  const tools = Object.entries(cost.tools ?? {}).flatMap(([name, fee]) =>
    (price.tools?.[name] ?? fee) < fee ? [`tools.${name}`] : [],
  );
  const tokens = MODALITIES.flatMap((modality) =>
    MODAL_CLASSES.flatMap(([, name]) => {
      const own = price[modality]?.[name] ?? price[name];
      return own < (cost[modality]?.[name] ?? own) ? [`${modality}_tokens.${KEYS[name]}`] : [];
    }),
  );
  return [...tools, ...tokens];
}

const KEYS = { input: "input", cachedInput: "cached_input", output: "output" } as const;

/** Returns the unit, or its kinds, whose price is below the cost. A kind without a cost is not reported. */
function unitsBelow(price: UnitPrice, cost: UnitPrice): readonly string[] {
  const kinds = price.variants ?? [{ size: undefined, quality: undefined, picos: price.picos }];
  return kinds
    .filter((kind) => findUnpriced(cost, kind) === undefined && kind.picos < dearestUnit(cost, kind))
    .map(({ size, quality }) => [price.name, size, quality].filter(Boolean).join(" "));
}

/** Names of models that search or run tools in every request, at a fee beside their tokens. */
const SEARCHES = /-search-(preview|api)\b|(^|\/)sonar\b|deep-research|(^|\/)compound\b|:online$/i;

/** A route by tokens alone to a model that searches in every request. */
interface UnpricedSearch {
  readonly model: string;
  readonly upstream: string;
}

/** Finds routes whose model searches at a fee, by its name, and whose price has none for each request. */
export function findUnpricedSearches(models: readonly Model[]): readonly UnpricedSearch[] {
  return models.flatMap(({ id, routes }) =>
    routes
      .filter(
        ({ price, upstreamModel }) =>
          !price.unit && price.tools?.[REQUEST_FEE] === undefined && SEARCHES.test(upstreamModel),
      )
      .map(({ upstream }) => ({ model: id, upstream })),
  );
}

/** Describes a finding for the command line. */
export function describeUnpricedSearch({ model, upstream }: UnpricedSearch): string {
  return `${formatPath(["models", model])}: searches in every request at upstream ${upstream}, whose fee no price holds`;
}

/** An upstream whose default tier has a price on none of its routes. */
interface UnpricedDefault {
  readonly upstream: string;
  readonly tier: Tier;
}

/** Finds default tiers without a price on any route of their upstream: answers of these tiers are not believed. */
export function findUnpricedDefaults(
  upstreams: readonly Pick<UpstreamConfig, "name" | "defaultTier">[],
  models: readonly Model[],
): readonly UnpricedDefault[] {
  const routes = models.flatMap((model) => model.routes);
  return upstreams.flatMap(({ name, defaultTier: tier }) => {
    if (!tier || routes.some(({ upstream, price }) => upstream === name && price.tiers?.[tier])) return [];
    return [{ upstream: name, tier }];
  });
}

/** Describes a finding for the command line. */
export function describeUnpricedDefault({ upstream, tier }: UnpricedDefault): string {
  const place = formatPath(["upstreams", upstream, "default_tier"]);
  return `${place}: no route has a price of ${tier}, expected one under price.tiers`;
}
