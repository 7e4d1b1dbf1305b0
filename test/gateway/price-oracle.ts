// What requests must cost, by arithmetic of its own: exact fractions of USD, read from the texts of the file.

/** Tokens by class. A class that is added here needs its default in `defaultOf` alone. */
export const CLASSES = ["input", "output", "cached_input", "cache_write", "cache_write_1h"] as const;
type Class = (typeof CLASSES)[number];

/** Prices of a file: USD per million tokens. */
export type Prices = Readonly<Partial<Record<Class, string>>>;
type PriceKey = Prices | { readonly markup: string };

/** The keys of a route, with those of its model where it has none. */
export interface RouteKeys {
  readonly price?: PriceKey;
  readonly cost?: Prices;
  readonly longPrice?: Prices;
  readonly longCost?: Prices;
}

export interface Charged {
  readonly tokens: Readonly<Record<Class, number>>;
  readonly isLong: boolean;
  /** The account's markup. */
  readonly markup: string | undefined;
}

/** A fraction; the denominator is positive. */
type Fraction = readonly [numerator: bigint, denominator: bigint];

/** Returns charge and upstream cost in nano-USD, the cost `undefined` where it is unknown. */
export function expectedMoney(keys: RouteKeys, charged: Charged) {
  const cost = costKeys(keys, charged);
  const [prices, factor] = priceKeys(keys, charged);
  return { charge: sum(prices, factor, charged), upstreamCost: cost && sum(cost, undefined, charged) };
}

/** The cost of long input is unknown where only its price is written. */
function costKeys({ cost, longCost, longPrice }: RouteKeys, { isLong }: Charged): Prices | undefined {
  return isLong && (longCost ?? longPrice) ? longCost : cost;
}

/** The prices that a charge is made of, and the factor over them. */
function priceKeys(keys: RouteKeys, { isLong, markup }: Charged): [Prices, string | undefined] {
  const { price, cost, longPrice, longCost } = keys;
  if (isLong && markup !== undefined && longCost) return [longCost, markup];
  if (isLong && longPrice) return [longPrice, undefined];
  if (markup !== undefined && cost) return [cost, markup];
  const isWritten = price !== undefined && !("markup" in price);
  if (isWritten) return [price, undefined];
  const followed = isLong && longCost ? longCost : cost;
  if (!followed) throw new Error("The route has neither price nor cost");
  return [followed, price?.markup];
}

/** Rounds each scaled price up to 1e-12 USD per token, and the sum up to 1e-9 USD. */
function sum(prices: Prices, factor: string | undefined, { tokens }: Charged): bigint {
  let total: Fraction = [0n, 1n];
  for (const name of CLASSES) {
    const price = priceOf(prices, name);
    const scaled = factor === undefined ? price : ceilTo(times(price, decimal(factor)), 10n ** 12n);
    total = plus(total, times(scaled, [BigInt(tokens[name]), 1n]));
  }
  const [nanos] = ceilTo(total, 10n ** 9n);
  return nanos;
}

/** USD per token. */
function priceOf(prices: Prices, name: Class): Fraction {
  const text = prices[name];
  if (text !== undefined) return times(decimal(text), [1n, 10n ** 6n]);
  const input = priceOf(prices, "input");
  return ceilTo(times(input, defaultOf(name)), 10n ** 12n);
}

/** The price of a class that is not written, as a multiple of that of input. */
function defaultOf(name: Class): Fraction {
  if (name === "cache_write") return [5n, 4n];
  return name === "cache_write_1h" ? [2n, 1n] : [1n, 1n];
}

function decimal(text: string): Fraction {
  const [whole = "", decimals = ""] = text.split(".");
  return [BigInt(whole + decimals), 10n ** BigInt(decimals.length)];
}

function times([a, b]: Fraction, [c, d]: Fraction): Fraction {
  return [a * c, b * d];
}

function plus([a, b]: Fraction, [c, d]: Fraction): Fraction {
  return [a * d + c * b, b * d];
}

/** Rounds up to a whole number of `parts` of one. */
function ceilTo([numerator, denominator]: Fraction, parts: bigint): Fraction {
  const scaled = numerator * parts;
  return [scaled / denominator + (scaled % denominator > 0n ? 1n : 0n), parts];
}
