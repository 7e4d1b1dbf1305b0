import { type PicosPerToken, printPicos } from "./money.ts";

/** What some models are charged by instead of tokens. Audio is counted in whole seconds, rounded up. */
export const UNIT_NAMES = ["search", "image", "character", "second"] as const;

export type UnitName = (typeof UNIT_NAMES)[number];

/** The price of one unit, in pico-USD. */
export interface UnitPrice {
  readonly name: UnitName;
  /** With variants, the highest of their prices. */
  readonly picos: PicosPerToken;
  /** Prices of images by size and quality, in the order of the configuration; never empty. */
  readonly variants?: readonly UnitVariant[] | undefined;
}

/** One kind of image with a price of its own. */
export interface UnitVariant {
  /** Width and height in pixels, such as "1024x1024". */
  readonly size: string;
  /** `undefined` for images without a quality, and for quality "standard". */
  readonly quality: string | undefined;
  readonly picos: PicosPerToken;
}

/** The size and quality of an image; `undefined` or "auto" leaves the choice to the model. */
export interface UnitKind {
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
}

/** The units that a request asks for. Plain data that can be sent between threads. */
export interface UnitDemand extends UnitKind {
  readonly name: UnitName;
  /** What a hold reserves. */
  readonly held: number;
  /** The field that asks for more than these units, which has no price by unit. */
  readonly unpriced?: string | undefined;
  /** What is charged where the answer does not count them. Default: `held`. */
  readonly usual?: number | undefined;
}

/** Converts a unit price to JSON: exact USD per unit, and of each kind of image with its own price. */
export function printUnitPrice({ name, picos, variants }: UnitPrice): PrintedUnitPrice {
  const kinds = variants?.map(({ size, quality, picos: each }) => {
    return [quality === undefined ? size : `${size} ${quality}`, printPicos(each)] as const;
  });
  return { unit: name, usd: printPicos(picos), kinds: kinds ? Object.fromEntries(kinds) : null };
}

/** A unit price as JSON. */
export interface PrintedUnitPrice {
  readonly unit: UnitName;
  /** Of the dearest kind where there are several. */
  readonly usd: string;
  readonly kinds: Record<string, string> | null;
}

/** Returns the field of a request that asks for an image without a price; `undefined` when it has one. */
export function findUnpriced({ variants }: UnitPrice, kind: UnitKind): "size" | "quality" | undefined {
  if (!variants || matching(variants, kind).length > 0) return undefined;
  return variants.some(({ size }) => isAny(kind.size) || size === kind.size) ? "quality" : "size";
}

/** Returns the highest price that a request may come to. */
export function dearestUnit({ picos, variants }: UnitPrice, kind: UnitKind): PicosPerToken {
  if (!variants) return picos;
  const found = matching(variants, kind).map((variant) => variant.picos);
  return found.reduce((dearest, each) => (each > dearest ? each : dearest), 0n);
}

/**
 * Returns the price of what was answered: of the first kind that the request allowed and that has the reported
 * size and quality, as far as they are reported. Without such a kind, of the first that the request allowed.
 */
export function answeredUnit(
  price: UnitPrice,
  asked: UnitKind,
  answered: UnitKind | undefined,
): Omit<UnitPrice, "variants"> {
  const { name, picos, variants } = price;
  if (!variants) return price;
  const allowed = matching(variants, asked);
  // An answer without a quality may be of any, unlike a request without one.
  const { size, quality = "auto" } = answered ?? {};
  const [variant] = [...matching(allowed, { size, quality }), ...allowed];
  return { name, picos: variant?.picos ?? picos };
}

/** Returns a unit price whose prices are all replaced. */
export function mapUnitPrice(price: UnitPrice, change: (picos: PicosPerToken) => PicosPerToken): UnitPrice {
  return {
    name: price.name,
    picos: change(price.picos),
    variants: price.variants?.map((variant) => ({ ...variant, picos: change(variant.picos) })),
  };
}

function matching(variants: readonly UnitVariant[], { size, quality }: UnitKind): readonly UnitVariant[] {
  const ofSize = isAny(size) ? variants : variants.filter((each) => each.size === size);
  if (quality === "auto") return ofSize;
  const plain = ofSize.filter((each) => each.quality === undefined);
  // Models with qualities of other names choose one of them for a request without any.
  if (quality === undefined) return plain.length > 0 ? plain : ofSize;
  const named = ofSize.filter((each) => each.quality === quality);
  return named.length > 0 || quality !== "standard" ? named : plain;
}

function isAny(size: string | undefined): boolean {
  return size === undefined || size === "auto";
}
