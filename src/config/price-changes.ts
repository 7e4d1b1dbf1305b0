import { type Model, type Price, printPrices, type Route } from "../domain/model.ts";
import { printUnitPrice } from "../domain/units.ts";

/** Changes that the log names; the others are counted. */
const NAMED_MAX = 20;

/** Prices and costs that a reload changes, in the keys of the file. */
export interface PriceChanges {
  /** The first 20, each as "gpt-5 at openai: price.input 1.25 → 1.50". "none" is an unknown cost. */
  readonly named: readonly string[];
  readonly count: number;
}

/** Compares prices and costs of the routes that two configurations have in common. */
export function findPriceChanges(
  before: readonly Model[],
  after: readonly Model[],
): PriceChanges | undefined {
  const old = new Map(before.map((model) => [model.id, model]));
  const changes = after.flatMap((model) => compareModel(old.get(model.id), model));
  return changes.length === 0 ? undefined : { named: changes.slice(0, NAMED_MAX), count: changes.length };
}

function compareModel(before: Model | undefined, { id, routes }: Model): readonly string[] {
  const left = [...(before?.routes ?? [])];
  return routes.flatMap((route) => {
    const at = left.findIndex((each) => isSamePlace(each, route));
    const [old] = at < 0 ? [] : left.splice(at, 1);
    return old ? compareRoute(old, route).map((change) => `${id} at ${route.upstream}: ${change}`) : [];
  });
}

function isSamePlace(one: Route, other: Route): boolean {
  return one.upstream === other.upstream && one.upstreamModel === other.upstreamModel;
}

function compareRoute(before: Route, after: Route): readonly string[] {
  const [old, now] = [pricesOf(before), pricesOf(after)];
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  return names
    .filter((name) => old[name] !== now[name])
    .map((name) => `${name} ${old[name] ?? "none"} → ${now[name] ?? "none"}`);
}

function pricesOf({ price, cost, longPrice, longCost }: Route): Readonly<Record<string, string>> {
  const groups = { price, cost, "long_context.price": longPrice, "long_context.cost": longCost };
  return Object.fromEntries(
    Object.entries(groups).flatMap(([name, each]) => (each ? printGroup(name, each) : [])),
  );
}

function printGroup(name: string, price: Price): readonly (readonly [string, string])[] {
  if (!price.unit)
    return Object.entries(printPrices(price)).map(([key, usd]) => [`${name}.${key}`, usd] as const);
  const { unit, usd, kinds } = printUnitPrice(price.unit);
  const byKind = Object.entries(kinds ?? { "": usd });
  return byKind.map(([kind, each]) => [`${name}.${unit} ${kind}`.trimEnd(), each] as const);
}
