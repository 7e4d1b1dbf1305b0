import { type Price, type RoutePrices, scalePrice } from "../domain/model.ts";
import { parseMarkup, parsePrice } from "../domain/money.ts";
import { readUnitPrice, type UnitPriceTexts } from "./unit-prices.ts";

/** Prices in the configuration: decimal USD per million tokens. */
export interface PriceTexts {
  readonly input: string;
  readonly output: string;
  /** Default: `input`. */
  readonly cached_input?: string | undefined;
  /** Default: 1.25 times `input`, rounded up. */
  readonly cache_write?: string | undefined;
  /** Default: twice `input`. */
  readonly cache_write_1h?: string | undefined;
}

/** Costs in the configuration: of tokens, or of one unit. */
interface CostEntry extends Partial<PriceTexts>, UnitPriceTexts {}

/** A price in the configuration: prices per class or unit, or a factor over the cost. */
interface PriceEntry extends CostEntry {
  readonly markup?: string | undefined;
}

/** Prices and costs of a route in the configuration, with those of its model as defaults. */
export interface PriceEntries {
  readonly price?: PriceEntry | undefined;
  readonly longPrice?: CostEntry | undefined;
  readonly cost?: CostEntry | undefined;
  readonly longCost?: CostEntry | undefined;
}

/** Parses a price and applies the defaults. Throws RangeError for an invalid price. */
export function readPrice(texts: PriceTexts): Price {
  const input = parsePrice(texts.input);
  const parseOr = (text: string | undefined, fallback: bigint) =>
    text === undefined ? fallback : parsePrice(text);
  return {
    input,
    output: parsePrice(texts.output),
    cachedInput: parseOr(texts.cached_input, input),
    cacheWrite: parseOr(texts.cache_write, (input * 5n + 3n) / 4n),
    cacheWrite1h: parseOr(texts.cache_write_1h, input * 2n),
  };
}

/**
 * Reads prices and costs; a markup, and no price at all, follow the cost. Throws RangeError for an invalid
 * price, and for a price that needs a cost that is not there.
 */
export function readRoutePrices({ price, longPrice, cost, longCost }: PriceEntries): RoutePrices {
  const costs = { cost: cost && readCost(cost), longCost: longCost && readCost(longCost) };
  // Prices that are written count for long input too.
  const followsCost = costs.longCost !== undefined && (!price || price.markup !== undefined);
  const longByCost = followsCost ? priceOver(costs.longCost, price) : undefined;
  return {
    price: priceOver(costs.cost, price),
    longPrice: longPrice ? readCost(longPrice) : longByCost,
    ...costs,
  };
}

function priceOver(cost: Price | undefined, entry: PriceEntry = {}): Price {
  const { markup } = entry;
  const written = readWritten(entry);
  if (written) return written;
  if (!cost) throw new RangeError("Cannot read a price: expected prices of input and output, or a cost");
  return markup === undefined ? cost : scalePrice(cost, parseMarkup(markup));
}

function readCost(entry: CostEntry): Price {
  const cost = readWritten(entry);
  if (!cost) throw new RangeError("Cannot read a cost: expected prices of input and output, or of a unit");
  return cost;
}

/** Reads prices of tokens or of a unit; `undefined` without either. */
function readWritten(entry: CostEntry): Price | undefined {
  const { input, output } = entry;
  if (input !== undefined && output !== undefined) return readPrice({ ...entry, input, output });
  return readUnitPrice(entry);
}
