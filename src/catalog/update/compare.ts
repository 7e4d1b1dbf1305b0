import { printPrices } from "../../domain/model.ts";
import { type KnownCost, type KnownModel, providerOf, upstreamModelOf } from "../known-models.ts";
import { readPrice } from "../prices.ts";
import type { SecondFacts, SecondList } from "./second-list.ts";

/** What a second list has otherwise, each as a line for the reviewer. */
export interface Comparison {
  /** Models of both lists whose costs or windows differ. */
  readonly differing: readonly string[];
  /** Models that only the second list has. */
  readonly missing: readonly string[];
}

/** Windows within this factor of each other are one window, rounded: 1,000,000 and 1,048,576. */
const WINDOW_FACTOR_MAX = 1.1;
/** Names of the second list that are no models of their own. */
const NO_MODEL = /:(free|batch|nitro|floor|online|thinking)$|^ft:/;

/** Providers whose models are those of others, under many names. */
const RESELLERS = ["vertex", "openrouter"];

/** Compares the costs per token and the windows of a catalog with a second list. */
export function compareLists(models: readonly KnownModel[], second: SecondList): Comparison {
  // A name of its own stands for a region, whose costs the second list does not have.
  const sold = models.filter(
    ({ mode, cost, model }) => cost && model === undefined && (mode === "chat" || mode === "embedding"),
  );
  const differing = sold.flatMap((model) => {
    const other = second.find(providerOf(model), nameOf(model));
    return other === undefined ? [] : compareModel(model, other);
  });
  const names = new Set(models.map((model) => `${providerOf(model)}/${nameOf(model)}`.toLowerCase()));
  const missing = second
    .listNames()
    .filter(({ provider, name }) => !RESELLERS.includes(provider) && !NO_MODEL.test(name))
    .map(({ provider, name }) => `${provider}/${name}`)
    .filter((id) => !names.has(id.toLowerCase()));
  return { differing, missing: [...new Set(missing)].sort() };
}

/** The provider's name, without the version that Vertex AI has behind an at sign. */
function nameOf(model: KnownModel): string {
  return upstreamModelOf(model).replace(/@.*$/, "");
}

function compareModel(model: KnownModel, other: SecondFacts): readonly string[] {
  const classes: readonly (keyof KnownCost)[] = [
    "input",
    "output",
    "cached_input",
    "cache_write",
    "cache_write_1h",
  ];
  // A class that the catalog leaves out has the default of the configuration.
  const prices = model.cost && printPrices(readPrice(model.cost));
  const costs = classes.flatMap((name) => {
    const [own, theirs] = [prices?.[name], other.cost[name]];
    return theirs === undefined || own === theirs ? [] : [`${name} ${own}, there ${theirs}`];
  });
  const [window, theirs] = [model.context_window, other.context_window];
  const isOther =
    window !== undefined &&
    theirs !== undefined &&
    Math.max(window / theirs, theirs / window) > WINDOW_FACTOR_MAX;
  const all = isOther ? [...costs, `context_window ${window}, there ${theirs}`] : costs;
  return all.length === 0 ? [] : [`${model.id}: ${all.join("; ")}`];
}
