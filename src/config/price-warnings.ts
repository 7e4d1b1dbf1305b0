import { longCostOf, type Model, type Price, type Route } from "../domain/model.ts";
import { dearestUnit, findUnpriced, type UnitPrice } from "../domain/units.ts";
import { formatPath } from "./problems.ts";

/** Classes of tokens on one route whose price is below the upstream cost. */
export interface PriceBelowCost {
  readonly model: string;
  readonly upstream: string;
  /** Keys of a price in the file, "input" or "long_context.input". Never empty. */
  readonly classes: readonly string[];
}

/** The classes of a price, with their keys in the file. */
const CLASSES: readonly (readonly [name: Exclude<keyof Price, "unit">, key: string])[] = [
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
  const classes = CLASSES.filter(([name]) => price[name] < cost[name]).map(([, key]) => key);
  return price.unit && cost.unit ? [...classes, ...unitsBelow(price.unit, cost.unit)] : classes;
}

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
export interface UnpricedSearch {
  readonly model: string;
  readonly upstream: string;
}

/** Finds routes whose model searches at a fee, by its name. Known models have a warning of their own. */
export function findUnpricedSearches(models: readonly Model[]): readonly UnpricedSearch[] {
  return models.flatMap(({ id, routes }) =>
    routes
      .filter(({ known, price, upstreamModel }) => !known && !price.unit && SEARCHES.test(upstreamModel))
      .map(({ upstream }) => ({ model: id, upstream })),
  );
}

/** Describes a finding for the command line. */
export function describeUnpricedSearch({ model, upstream }: UnpricedSearch): string {
  return `${formatPath(["models", model])}: searches in every request at upstream ${upstream}, whose fee no price holds`;
}
