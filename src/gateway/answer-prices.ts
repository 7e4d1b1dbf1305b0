import { longCostOf, type Price, type RoutePrices } from "../domain/model.ts";
import type { ServedTier } from "../domain/tiers.ts";
import { answeredUnit, findUnpriced, type UnitKind } from "../domain/units.ts";
import { inputTokensOf, type Usage } from "../domain/usage.ts";
import { isLongContext, type PricedCandidate, type Quote } from "./quote.ts";
import { servedPrices, type TieredPrices } from "./tier-prices.ts";

/**
 * The price of a candidate's answer: the route's long price when the usage is above the model's threshold, that
 * of the tier that served it, and that of the images that the answer reports.
 */
export function priceOf(quote: Quote, candidate: PricedCandidate, usage: Usage, served?: ServedTier): Price {
  return pricesOf(quote, candidate, usage, served).price;
}

type AnswerPrices = Pick<RoutePrices, "price" | "cost">;

/**
 * The prices of a candidate's answer, see {@link priceOf}, with their upstream cost. `served` is the tier that the
 * answer reports.
 */
export function pricesOf(
  quote: Quote,
  candidate: PricedCandidate,
  usage: Usage,
  served?: ServedTier,
): TieredPrices {
  const prices = standardPricesOf(quote, candidate, usage);
  const isStandard = candidate.tier === undefined && served === undefined;
  return isStandard ? prices : servedPrices(prices, candidate.tier, served);
}

function standardPricesOf(quote: Quote, candidate: PricedCandidate, usage: Usage): AnswerPrices {
  const { route } = candidate;
  if (route.price.unit) return unitPricesOf(quote, route, usage);
  if (!route.longPrice && !route.longCost) return route;
  const { contextWindow = quote.model.contextWindow } = candidate;
  if (!isLongContext(quote.model, inputTokensOf(usage), contextWindow)) return route;
  return { price: route.longPrice ?? route.price, cost: longCostOf(route) };
}

/** The prices of the units that an answer reports. The cost of an image is unknown when its kind has none. */
function unitPricesOf({ request }: Quote, { price, cost }: RoutePrices, { unitKind }: Usage): AnswerPrices {
  const units: UnitKind = request.units ?? {};
  const answered = (each: Price) => each.unit && { ...each, unit: answeredUnit(each.unit, units, unitKind) };
  const isCostKnown = cost?.unit && findUnpriced(cost.unit, units) === undefined;
  return { price: answered(price) ?? price, cost: isCostKnown ? answered(cost) : undefined };
}
