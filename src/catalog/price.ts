import type { Price } from "../domain/model.ts";
import { parsePrice } from "../domain/money.ts";

/** Prices as an operator writes them: decimal USD per million tokens. */
export interface PriceTexts {
  readonly input: string;
  readonly output: string;
  /** Without it: as `input`. */
  readonly cached_input?: string | undefined;
  /** Without it: a quarter more than `input`, rounded up. */
  readonly cache_write?: string | undefined;
  /** Without it: twice `input`. */
  readonly cache_write_1h?: string | undefined;
}

/** Reads a price with its defaults. Throws RangeError when a text is no price. */
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
