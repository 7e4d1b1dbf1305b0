import type { ModalPrice } from "../domain/modalities.ts";
import {
  fillApart,
  mapTiers,
  type Price,
  type RoutePrices,
  scalePrice,
  type TokenPrice,
} from "../domain/model.ts";
import { parseMarkup, parsePrice, parseUnitPrice } from "../domain/money.ts";
import type { Tier } from "../domain/tiers.ts";
import type { ToolFees } from "../domain/tool-fees.ts";
import type { UnitPrice, UnitVariant } from "../domain/units.ts";

/** Prices in the configuration: decimal USD per million tokens. */
interface PriceTexts {
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
interface CostEntry extends Partial<PriceTexts>, UnitPriceTexts {
  /** The prices of tokens under service tiers. */
  readonly tiers?: Readonly<Partial<Record<Tier, PriceTexts>>> | undefined;
  /** USD per call, by the name of a tool. */
  readonly tools?: Readonly<Record<string, string>> | undefined;
  readonly audio_tokens?: ModalTexts | undefined;
  readonly image_tokens?: ModalTexts | undefined;
}

/** Prices of one modality. Default: those of text; of cached input, that of the modality's input. */
interface ModalTexts {
  readonly input?: string | undefined;
  readonly output?: string | undefined;
  readonly cached_input?: string | undefined;
}

/** A price in the configuration: prices per class or unit, or a factor over the cost. */
interface PriceEntry extends CostEntry {
  readonly markup?: string | undefined;
}

/** Prices and costs of a route in the configuration, with those of its model as defaults. */
interface PriceEntries {
  readonly price?: PriceEntry | undefined;
  readonly longPrice?: CostEntry | undefined;
  readonly cost?: CostEntry | undefined;
  readonly longCost?: CostEntry | undefined;
  /** The fees of the provider's tools that cost and price leave out. */
  readonly fees?: Readonly<Record<string, string>> | undefined;
}

/** Parses a price and applies the defaults. Throws RangeError for an invalid price. */
export function readPrice(texts: PriceTexts & Pick<CostEntry, "tiers">): Price {
  const { tiers } = texts;
  return tiers ? { ...readClasses(texts), tiers: mapTiers(tiers, readClasses) } : readClasses(texts);
}

function readClasses(texts: PriceTexts): TokenPrice {
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
export function readRoutePrices({ price, longPrice, cost, longCost, fees }: PriceEntries): RoutePrices {
  const ofCost = cost && addFees(readCost(cost), fees);
  const costs = { cost: ofCost, longCost: longCost && fillApart(readCost(longCost), ofCost) };
  // Prices that are written count for long input too.
  const followsCost = costs.longCost !== undefined && (!price || price.markup !== undefined);
  const longByCost = followsCost ? priceOver(costs.longCost, price) : undefined;
  const own = addFees(priceOver(costs.cost, price), fees);
  return {
    price: own,
    longPrice: longPrice ? fillApart(readCost(longPrice), own) : longByCost,
    ...costs,
  };
}

/** Adds fees that a price of tokens leaves out. */
function addFees(price: Price, fees: PriceEntries["fees"]): Price {
  if (!fees || price.unit) return price;
  return { ...price, tools: { ...readFees(fees), ...price.tools } };
}

function readFees(fees: Readonly<Record<string, string>>): ToolFees {
  return Object.fromEntries(Object.entries(fees).map(([name, text]) => [name, parseUnitPrice(text)]));
}

function priceOver(cost: Price | undefined, entry: PriceEntry = {}): Price {
  const { markup } = entry;
  const written = readWritten(entry);
  // What a price leaves out, such as the fee of a tool, is passed on at cost.
  if (written) return fillApart(written, cost);
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
  if (input !== undefined && output !== undefined)
    return { ...readPrice({ ...entry, input, output }), ...readApart(entry) };
  return readUnitPrice(entry);
}

function readApart({ tools, audio_tokens: audio, image_tokens: image }: CostEntry): Partial<Price> {
  return {
    ...(tools && { tools: readFees(tools) }),
    ...(audio && { audio: readModal(audio) }),
    ...(image && { image: readModal(image) }),
  };
}

function readModal({ input, output, cached_input = input }: ModalTexts): ModalPrice {
  const parse = (text: string | undefined) => (text === undefined ? undefined : parsePrice(text));
  return { input: parse(input), output: parse(output), cachedInput: parse(cached_input) };
}

/** Prices of units in the configuration, in decimal USD. At most one of them is set. */
interface UnitPriceTexts {
  readonly search?: string | undefined;
  /** Of every image, or by size and quality: "1024x1024", "1024x1024 hd". */
  readonly image?: string | Readonly<Record<string, string>> | undefined;
  readonly million_characters?: string | undefined;
  readonly minute?: string | undefined;
}

/** The keys of unit prices in the configuration. */
export const UNIT_KEYS = [
  "search",
  "image",
  "million_characters",
  "minute",
] as const satisfies readonly (keyof UnitPriceTexts)[];

const SECONDS_PER_MINUTE = 60n;

/**
 * Parses the price of a unit; `undefined` without one. A second costs a sixtieth of a minute, rounded up to a
 * pico-USD. Throws RangeError for an invalid price.
 */
export function readUnitPrice(texts: UnitPriceTexts): Price | undefined {
  const unit = readUnit(texts);
  return unit && { input: 0n, output: 0n, cachedInput: 0n, cacheWrite: 0n, cacheWrite1h: 0n, unit };
}

function readUnit({ search, image, million_characters, minute }: UnitPriceTexts): UnitPrice | undefined {
  if (search !== undefined) return { name: "search", picos: parseUnitPrice(search) };
  if (typeof image === "string") return { name: "image", picos: parseUnitPrice(image) };
  if (image !== undefined) return readImages(image);
  if (million_characters !== undefined) return { name: "character", picos: parsePrice(million_characters) };
  if (minute === undefined) return undefined;
  const perSecond = (parseUnitPrice(minute) + SECONDS_PER_MINUTE - 1n) / SECONDS_PER_MINUTE;
  return { name: "second", picos: perSecond };
}

function readImages(byKind: Readonly<Record<string, string>>): UnitPrice {
  const variants = Object.entries(byKind).map(([kind, text]): UnitVariant => {
    const [size = "", quality] = kind.split(" ");
    return { size, quality, picos: parseUnitPrice(text) };
  });
  const dearest = variants.reduce((most, { picos }) => (picos > most ? picos : most), 0n);
  return { name: "image", picos: dearest, variants };
}
