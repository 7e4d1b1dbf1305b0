import { printPrices, printTiers, scalePrice } from "../domain/model.ts";
import { parseMarkup } from "../domain/money.ts";
import { type KnownCost, type KnownModel, type KnownModels, providerOf } from "./known-models.ts";
import { readPrice } from "./prices.ts";
import { findProvider } from "./providers.ts";

/** Where an upstream calls its provider, as the configuration has it. */
export interface UpstreamPlace {
  /** The location of Vertex AI. Default: "global". */
  readonly location?: unknown;
  /** The region of Bedrock. */
  readonly region?: unknown;
  /** The address of OpenAI's formats. */
  readonly baseUrl?: unknown;
}

/** Costs of tokens, each as far as it is known. */
interface Costs {
  readonly cost: KnownModel["cost"] | undefined;
  readonly long: KnownModel["long"] | undefined;
}

/**
 * Returns the costs of a known model at an upstream: those of its region, where the catalog has them, or scaled
 * at regional endpoints, where these cost more.
 */
export function costsAt(known: KnownModel, place: UpstreamPlace, models: Pick<KnownModels, "find">): Costs {
  const inRegion = findInRegion(known, place, models);
  if (inRegion) return { cost: inRegion.cost, long: inRegion.long };
  const { cost, long, regional } = known;
  if (regional === undefined || !isRegional(known, place)) return { cost, long };
  return {
    cost: cost && scaleCost(cost, regional),
    long: long && { ...long, cost: scaleCost(long.cost, regional) },
  };
}

/** Finds what Bedrock's bare id of a model costs in a region with a price of its own. */
function findInRegion(
  { id, model }: KnownModel,
  { region }: UpstreamPlace,
  models: Pick<KnownModels, "find">,
): KnownModel | undefined {
  if (typeof region !== "string" || model !== undefined || !id.startsWith("bedrock/")) return undefined;
  return models.find(`bedrock/${region}/${id.slice("bedrock/".length)}`);
}

/**
 * Whether an upstream calls a regional endpoint of the model's provider.
 *
 * @see https://cloud.google.com/vertex-ai/generative-ai/pricing
 * @see https://developers.openai.com/api/docs/guides/your-data `eu.api.openai.com`
 */
function isRegional(known: KnownModel, { location = "global", baseUrl }: UpstreamPlace): boolean {
  const provider = providerOf(known);
  if (provider === "vertex") return location !== "global";
  const home = URL.parse(findProvider(provider)?.baseUrl ?? "")?.host ?? `api.${provider}.com`;
  const host = typeof baseUrl === "string" ? URL.parse(baseUrl)?.host : undefined;
  return host?.endsWith(`.${home}`) === true;
}

function scaleCost(cost: KnownCost, factor: string): KnownCost {
  const scaled = scalePrice(readPrice(cost), parseMarkup(factor));
  const tiers = printTiers(scaled);
  return tiers ? { ...printPrices(scaled), tiers } : printPrices(scaled);
}
