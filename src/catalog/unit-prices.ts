import type { Price } from "../domain/model.ts";
import { parsePrice, parseUnitPrice } from "../domain/money.ts";
import type { UnitPrice, UnitVariant } from "../domain/units.ts";

/** Prices of units in the configuration, in decimal USD. At most one of them is set. */
export interface UnitPriceTexts {
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
