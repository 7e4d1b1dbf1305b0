import type { Price } from "../domain/model.ts";
import { printPrice } from "../domain/money.ts";

/** Prices as clients see them: decimal strings of USD per million tokens. */
export function printPrices(price: Price): object {
  return {
    input: printPrice(price.input),
    output: printPrice(price.output),
    cached_input: printPrice(price.cachedInput),
    cache_write: printPrice(price.cacheWrite),
    cache_write_1h: printPrice(price.cacheWrite1h),
  };
}
