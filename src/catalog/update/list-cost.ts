import type { KnownClasses, KnownCost, KnownMode, KnownModel, KnownUnitCost } from "../known-models.ts";
import { printScaled } from "./decimals.ts";
import { withTierCosts } from "./list-tiers.ts";

const PER_MILLION = 1_000_000;
const PRICE_DECIMALS = 6;
const UNIT_DECIMALS = 9;
const FACTOR_DECIMALS = 4;
const SECONDS_PER_MINUTE = 60;

/** The names of the costs of each class. Where an entry has several, the dearest counts. */
const CLASSES = {
  input: ["input_cost_per_token"],
  output: ["output_cost_per_token"],
  cached_input: ["cache_read_input_token_cost"],
  cache_write: ["cache_creation_input_token_cost"],
  cache_write_1h: ["cache_creation_input_token_cost_above_1hr"],
} as const;

/** Kinds of tokens that are the whole input or output of a mode, and replace the class of text. */
const OTHER_TOKENS: Readonly<Partial<Record<KnownMode, Partial<Record<keyof KnownClasses, string>>>>> = {
  image: { output: "output_cost_per_image_token" },
  speech: { output: "output_cost_per_audio_token" },
  transcription: { input: "input_cost_per_audio_token" },
};

type ClassName = keyof typeof CLASSES;

/** Reads the costs per class of tokens. Returns `undefined` for an entry that is not sold by tokens. */
export function readTokenCost(entry: ListEntry, mode: KnownMode): KnownCost | undefined {
  const cost = readStandardCost(entry, mode);
  if (!cost || mode !== "chat") return cost;
  return withTierCosts(cost, entry.provider_specific_entry, (tier) => {
    const find = (name: ClassName) => largestIn(entry, ...CLASSES[name].map((each) => `${each}_${tier}`));
    return hasBoth(find) ? printClasses(find) : undefined;
  });
}

/** Whether a tier lists both input and output: the rest of one that lacks either is not known. */
function hasBoth(find: (name: ClassName) => number | undefined): boolean {
  return Boolean(find("input") && find("output"));
}

function readStandardCost(entry: ListEntry, mode: KnownMode): KnownClasses | undefined {
  return printClasses((name) =>
    largestIn(
      entry,
      ...CLASSES[name],
      ...[OTHER_TOKENS[mode]?.[name]].filter((other) => other !== undefined),
    ),
  );
}

/**
 * Reads the cost of long requests, from the lowest threshold that the list has. A class has the dearest cost
 * of all thresholds, and without one its ordinary cost.
 */
export function readLongCost(entry: ListEntry, mode: KnownMode): KnownModel["long"] {
  const thresholds = Object.keys(entry).flatMap((name) => {
    const [, thousands] = /^(?:in|out)put_cost_per_token_above_(\d+)k_tokens$/.exec(name) ?? [];
    return thousands ? [Number(thousands)] : [];
  });
  if (thresholds.length === 0) return undefined;
  const above = (name: string) => thresholds.map((thousands) => `${name}_above_${thousands}k_tokens`);
  const cost = printClasses(
    (name) =>
      largestIn(entry, ...CLASSES[name].flatMap(above)) ??
      (name === "input" || name === "output" ? largestIn(entry, ...CLASSES[name]) : undefined),
  );
  if (!cost || Bun.deepEquals(cost, readStandardCost(entry, mode))) return undefined;
  const tiered = withTierCosts(cost, entry.provider_specific_entry, (tier) => {
    const find = (name: ClassName) =>
      largestIn(entry, ...CLASSES[name].flatMap(above).map((each) => `${each}_${tier}`));
    return hasBoth(find) ? printClasses(find) : undefined;
  });
  return { above_input_tokens: Math.min(...thresholds) * 1_000, cost: tiered };
}

/** A class of the cache that is listed as free is not listed: its default is never below the true cost. */
function printClasses(find: (name: ClassName) => number | undefined): KnownClasses | undefined {
  const [input, output] = [find("input"), find("output")];
  if (input === undefined && output === undefined) return undefined;
  const print = (name: ClassName) => {
    const value = find(name) || undefined;
    return value === undefined ? {} : { [name]: printScaled(value, PER_MILLION, PRICE_DECIMALS) };
  };
  return {
    input: printScaled(input ?? 0, PER_MILLION, PRICE_DECIMALS),
    output: printScaled(output ?? 0, PER_MILLION, PRICE_DECIMALS),
    ...print("cached_input"),
    ...print("cache_write"),
    ...print("cache_write_1h"),
  };
}

/** Reads the cost per image, character, minute or search. Returns `undefined` for an entry without one. */
export function readUnitCost(entry: ListEntry, mode: KnownMode): KnownUnitCost | undefined {
  if (mode === "image") {
    const image = readImageCost(entry);
    return image === undefined ? undefined : { image };
  }
  if (mode === "speech")
    return readUnit("million_characters", numberIn(entry, "input_cost_per_character"), PER_MILLION);
  if (mode === "rerank") return readUnit("search", numberIn(entry, "input_cost_per_query") || undefined, 1);
  if (mode !== "transcription") return undefined;
  const second = numberIn(entry, "input_cost_per_second") || numberIn(entry, "output_cost_per_second");
  return readUnit("minute", second, SECONDS_PER_MINUTE);
}

export function readImageCost(entry: ListEntry): string | undefined {
  const cost = numberIn(entry, "output_cost_per_image") ?? numberIn(entry, "input_cost_per_image");
  return cost === undefined ? undefined : printScaled(cost, 1, UNIT_DECIMALS);
}

function readUnit(
  name: keyof KnownUnitCost,
  cost: number | undefined,
  factor: number,
): KnownUnitCost | undefined {
  return cost === undefined ? undefined : { [name]: printScaled(cost, factor, UNIT_DECIMALS) };
}

/** Reads costs that a price per token does not hold: dearer audio tokens, and searches with every request. */
export function readOtherCost(entry: ListEntry, mode: KnownMode, id: string): KnownModel["other_cost"] {
  if (mode !== "chat") return undefined;
  const dearer = (name: string, than: string) => {
    const cost = numberIn(entry, name);
    return cost !== undefined && cost > (numberIn(entry, than) ?? 0)
      ? printScaled(cost, PER_MILLION, PRICE_DECIMALS)
      : undefined;
  };
  const found = {
    audio_input: dearer("input_cost_per_audio_token", "input_cost_per_token"),
    audio_output: dearer("output_cost_per_audio_token", "output_cost_per_token"),
    request: readRequestCost(entry, id),
  };
  const members = Object.entries(found).filter(([, cost]) => cost !== undefined);
  return members.length > 0 ? Object.fromEntries(members) : undefined;
}

/** Models that search in every request. Elsewhere, a search is a tool that a request asks for. */
const SEARCHES_ALWAYS = /^perplexity\/|-search-(preview|api)\b|\/deep-research-/;

function readRequestCost(entry: ListEntry, id: string): string | undefined {
  const costs = entry.search_context_cost_per_query;
  if (!SEARCHES_ALWAYS.test(id) || typeof costs !== "object" || costs === null) return undefined;
  const dearest = Math.max(...Object.values(costs).filter((cost) => typeof cost === "number"));
  return Number.isFinite(dearest) ? printScaled(dearest, 1, UNIT_DECIMALS) : undefined;
}

/** Reads the factor of regional endpoints over the listed costs. `undefined` where they cost the same. */
export function readRegionalFactor(entry: ListEntry): string | undefined {
  const factor = largestIn(
    entry,
    "regional_endpoint_uplift_multiplier",
    "regional_processing_uplift_multiplier_eu",
    "regional_processing_uplift_multiplier_us",
  );
  return factor === undefined || factor <= 1 ? undefined : printScaled(factor, 1, FACTOR_DECIMALS);
}

/** Geographies of Bedrock's inference profiles whose costs are those of a single region too. */
const GEOGRAPHIES = ["us", "eu", "au", "jp", "apac"];

/**
 * Gives Bedrock's bare ids the costs of a geography where only the global profile is cheaper: the list has the
 * global cost for both, but a request in one region costs as much as one in its geography.
 *
 * @see https://platform.claude.com/docs/en/build-with-claude/claude-in-amazon-bedrock#regions
 */
export function withInRegionCosts(models: readonly KnownModel[]): readonly KnownModel[] {
  const byId = new Map(models.map((model) => [model.id, model]));
  return models.map((model) => {
    const [provider, name = ""] = model.id.split("/");
    const global = byId.get(`bedrock/global.${name}`);
    if (provider !== "bedrock" || !global || !Bun.deepEquals(global.cost, model.cost)) return model;
    const geography = GEOGRAPHIES.map((prefix) => byId.get(`bedrock/${prefix}.${name}`)).find(Boolean);
    if (!geography?.cost) return model;
    const { cost, long } = geography;
    return { ...model, cost, ...(long ? { long } : {}) };
  });
}

/** One entry of the published list. Members that are not read here are left out. */
export type ListEntry = Readonly<Record<string, unknown>>;

/** Returns a number of an entry, `undefined` where it has none. */
export function numberIn(entry: ListEntry, name: string): number | undefined {
  const value = entry[name];
  return typeof value === "number" ? value : undefined;
}

/** Returns a text of an entry that is not empty. */
export function textIn(entry: ListEntry, name: string): string | undefined {
  const value = entry[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns the largest of the named numbers that an entry has. */
function largestIn(entry: ListEntry, ...names: readonly string[]): number | undefined {
  const found = names.map((name) => numberIn(entry, name)).filter((value) => value !== undefined);
  return found.length === 0 ? undefined : Math.max(...found);
}
