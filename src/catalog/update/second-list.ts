import { printPrices } from "../../domain/model.ts";
import { type KnownClasses, type KnownModel, providerOf, upstreamModelOf } from "../known-models.ts";
import { readPrice } from "../prices.ts";
import { printScaled } from "./decimals.ts";
import { type ListEntry, numberIn, textIn } from "./list-cost.ts";

/** What a second list has of one model. A class of the cost that it does not have is left out. */
interface SecondFacts {
  readonly id: string;
  readonly cost: Partial<KnownClasses>;
  readonly context_window?: number | undefined;
}

/** A second list of prices, which a catalog is compared with. */
interface SecondList {
  /** Finds what it has of a model, by the catalog's provider and the provider's name of the model. */
  find(provider: string, model: string): SecondFacts | undefined;
  /** Lists the names that it matches exactly, by the catalog's providers. */
  listNames(): readonly { readonly provider: string; readonly name: string }[];
}

/** The catalog's providers, by those of the second list. */
const PROVIDERS: Readonly<Record<string, readonly string[]>> = {
  anthropic: ["anthropic"],
  aws: ["bedrock"],
  cerebras: ["cerebras"],
  cohere: ["cohere"],
  deepseek: ["deepseek"],
  fireworks: ["fireworks"],
  google: ["gemini", "vertex"],
  groq: ["groq"],
  mistral: ["mistral"],
  moonshotai: ["moonshot"],
  openai: ["openai"],
  openrouter: ["openrouter"],
  perplexity: ["perplexity"],
  together: ["together"],
  voyageai: ["voyage"],
  "x-ai": ["xai"],
  zai: ["zai"],
};

const CLASSES: Readonly<Record<keyof KnownClasses, string>> = {
  input: "input_mtok",
  output: "output_mtok",
  cached_input: "cache_read_mtok",
  cache_write: "cache_write_mtok",
  cache_write_1h: "cache_write_1h_mtok",
};
const PRICE_DECIMALS = 6;

interface SecondModel extends SecondFacts {
  readonly match: unknown;
}

/**
 * Reads a list in the format of genai-prices' `data.json` (MIT), with the prices of a day, `YYYY-MM-DD`.
 *
 * @see https://github.com/pydantic/genai-prices
 */
export function readSecondList(list: readonly unknown[], day: string): SecondList {
  const byProvider = new Map<string, readonly SecondModel[]>();
  for (const entry of list.filter(isEntry)) {
    const models = entriesOf(entry.models).map((model) => readModel(model, day));
    for (const provider of PROVIDERS[textIn(entry, "id") ?? ""] ?? []) byProvider.set(provider, models);
  }
  return {
    find: (provider, model) =>
      byProvider.get(provider)?.find(({ match }) => isMatch(match, model.toLowerCase())),
    listNames: () =>
      [...byProvider].flatMap(([provider, models]) =>
        models.flatMap(({ match }) => exactNamesOf(match).map((name) => ({ provider, name }))),
      ),
  };
}

function readModel(entry: ListEntry, day: string): SecondModel {
  const prices = pricesOn(entry.prices, day);
  const classes = Object.entries(CLASSES).flatMap(([name, key]) => {
    const cost = baseOf(prices[key]);
    return cost === undefined ? [] : [[name, printScaled(cost, 1, PRICE_DECIMALS)]];
  });
  return {
    id: textIn(entry, "id") ?? "",
    match: entry.match,
    cost: Object.fromEntries(classes),
    context_window: numberIn(entry, "context_window"),
  };
}

/** Of several prices, the last one that has begun counts. Prices by the time of day are left out. */
function pricesOn(prices: unknown, day: string): ListEntry {
  if (!Array.isArray(prices)) return isEntry(prices) ? prices : {};
  const begun = entriesOf(prices).filter(({ constraint }) => {
    if (!isEntry(constraint)) return true;
    const start = textIn(constraint, "start_date");
    return start !== undefined && start <= day;
  });
  const last = begun.at(-1)?.prices;
  return isEntry(last) ? last : {};
}

/** The price of a short request, where prices depend on the size of the input. */
function baseOf(price: unknown): number | undefined {
  if (isEntry(price)) return numberIn(price, "base");
  return typeof price === "number" ? price : undefined;
}

/** Whether a name satisfies a rule of the list. */
function isMatch(rule: unknown, name: string): boolean {
  if (!isEntry(rule)) return false;
  if (Array.isArray(rule.or)) return rule.or.some((each) => isMatch(each, name));
  if (Array.isArray(rule.and)) return rule.and.every((each) => isMatch(each, name));
  const text = (key: string) => textIn(rule, key)?.toLowerCase();
  const regex = textIn(rule, "regex");
  if (regex !== undefined) return new RegExp(regex).test(name);
  return (
    text("equals") === name ||
    name.startsWith(text("starts_with") ?? "\0") ||
    name.endsWith(text("ends_with") ?? "\0") ||
    name.includes(text("contains") ?? "\0")
  );
}

function exactNamesOf(rule: unknown): readonly string[] {
  if (!isEntry(rule)) return [];
  if (Array.isArray(rule.or)) return rule.or.flatMap(exactNamesOf);
  const name = textIn(rule, "equals");
  return name === undefined ? [] : [name];
}

function entriesOf(list: unknown): readonly ListEntry[] {
  return Array.isArray(list) ? list.filter(isEntry) : [];
}

function isEntry(value: unknown): value is ListEntry {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a second list has otherwise, each as a line for the reviewer. */
interface Comparison {
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
  const classes: readonly (keyof KnownClasses)[] = [
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
