import {
  fillApart,
  type MessagesHost,
  type Price,
  type Route,
  type RoutePrices,
  type Surface,
  type TokenPrice,
} from "../domain/model.ts";
import type { ServedTier, Tier, TierOffer } from "../domain/tiers.ts";
import type { PrintOptions } from "../wire/format.ts";
import type { RequestHead } from "../wire/model-request.ts";
import { chosenTiers, sendableTiers } from "../wire/tiers.ts";

/** The format and the host of a route's upstream. */
interface TierPlace {
  readonly surface: Surface;
  readonly messagesHost: MessagesHost | undefined;
  /** The upstream's `gen_ai.provider.name`. */
  readonly provider: string;
  /** The tier that the provider may serve unasked; `undefined` for the standard one. */
  readonly defaultTier?: Tier | undefined;
}

/** Vertex AI takes the tier of Gemini's models in a header, which is not sent. */
const TIERLESS = "gcp.vertex_ai";

/**
 * Returns what a route is asked for: the tier, or what the provider may choose of those that have a price. Returns
 * `undefined` for a tier without a price on the route, for one that its upstream cannot be asked for, and where a
 * request that asks for none gets the standard tier.
 */
export function offerTier(
  { price }: Pick<Route, "price">,
  { surface, messagesHost, provider, defaultTier }: TierPlace,
  { tier: demand, declinedTiers }: Pick<RequestHead, "tier" | "declinedTiers">,
): TierOffer | undefined {
  const asked = demand?.asked;
  if (asked === undefined || asked === "auto") {
    const named = new Set(asked ? chosenTiers(surface) : NO_CHOICES);
    if (defaultTier && !declinedTiers?.includes(defaultTier)) named.add(defaultTier);
    const choices = [...named].filter((tier) => price.tiers?.[tier]);
    return asked || choices.length > 0 ? { asked: undefined, choices } : undefined;
  }
  // Hosts of Anthropic's models have regions of their own. Their other models have other formats.
  const isHosted = messagesHost !== undefined && surface === "messages";
  const isSendable = isHosted
    ? asked === "fast"
    : sendableTiers(surface).includes(asked) && provider !== TIERLESS;
  return isSendable && price.tiers?.[asked] ? { asked, choices: NO_CHOICES } : undefined;
}

const NO_CHOICES: readonly Tier[] = [];

/** Returns what an upstream is asked for: also for the standard tier, where its own default is another one. */
export function askedOf(
  { tier, declinedTiers = NO_CHOICES }: Pick<RequestHead, "tier" | "declinedTiers">,
  { defaultTier }: Pick<TierPlace, "defaultTier">,
): Pick<PrintOptions, "tier"> | undefined {
  if (tier) return { tier: tier.asked };
  return defaultTier && declinedTiers.includes(defaultTier) ? { tier: "default" } : undefined;
}

/** Whether a key may ask for what a route is asked for: for the tier, and for each that the provider may choose. */
export function mayAsk(allowed: readonly Tier[] | undefined, { asked, choices }: TierOffer): boolean {
  if (!allowed) return true;
  return (asked === undefined || allowed.includes(asked)) && choices.every((tier) => allowed.includes(tier));
}

/** Returns the prices of which a hold takes the dearest: of the tier that is asked for, or of all that may be chosen. */
export function offeredPrices(price: Price, { asked, choices }: TierOffer): readonly TokenPrice[] {
  if (asked !== undefined) return [tierPriceOf(price, asked) ?? price];
  return [price, ...choices.map((tier) => tierPriceOf(price, tier) ?? price)];
}

function tierPriceOf({ tiers }: Price, tier: Tier): TokenPrice | undefined {
  return tiers?.[tier];
}

/** The prices of an answer, and the tier that they are of. */
export interface TieredPrices extends Pick<RoutePrices, "price" | "cost"> {
  /** `undefined` for the standard tier. */
  readonly tier?: Tier | undefined;
  /** Whether the report of the tier was not believed. */
  readonly isDoubted?: true;
}

/**
 * Returns the prices of the tier that served an answer, or of the one asked for without a report. A report of a tier
 * that has no price, or of one that is dearer than what was asked for, is not believed. Capacity that was bought in
 * advance needs no price: its answers have that of the tier asked for.
 */
export function servedPrices(
  prices: Pick<RoutePrices, "price" | "cost">,
  offer: TierOffer | undefined,
  served: ServedTier | undefined,
): TieredPrices {
  const asked = offer?.asked;
  if (served === undefined || served === asked) return pricesOfTier(prices, asked);
  const tier = served === "standard" ? undefined : served;
  const price = pricedAs(prices.price, tier);
  const offered = offer ? offeredPrices(prices.price, offer) : [prices.price];
  if (price && isWithin(price, offered)) return pricesOfTier(prices, tier === "unknown" ? undefined : tier);
  const charged = pricesOfTier(prices, asked);
  return served === "scale" && !price ? charged : { ...charged, isDoubted: true };
}

function pricedAs(price: Price, tier: Tier | "unknown" | undefined): TokenPrice | undefined {
  if (tier === undefined) return price;
  return tier === "unknown" ? undefined : tierPriceOf(price, tier);
}

function pricesOfTier(
  { price, cost }: Pick<RoutePrices, "price" | "cost">,
  tier: Tier | undefined,
): TieredPrices {
  if (tier === undefined) return { price, cost };
  const ofCost = cost && tierPriceOf(cost, tier);
  return {
    price: fillApart(tierPriceOf(price, tier) ?? price, price),
    cost: ofCost && fillApart(ofCost, cost),
    tier,
  };
}

const CLASSES = ["input", "output", "cachedInput", "cacheWrite", "cacheWrite1h"] as const;

/** Whether a price is in no class above the dearest of others. */
function isWithin(price: TokenPrice, others: readonly TokenPrice[]): boolean {
  return CLASSES.every((name) => others.some((other) => price[name] <= other[name]));
}
