// What requests must cost, by arithmetic of its own: exact fractions of USD, read from the texts of the file.

/** Tokens by class. A class that is added here needs its default in `defaultOf` alone. */
export const CLASSES = ["input", "output", "cached_input", "cache_write", "cache_write_1h"] as const;
type Class = (typeof CLASSES)[number];

/** Prices of a file: USD per million tokens, and those of service tiers. */
export type Prices = ClassPrices & { readonly tiers?: Readonly<Partial<Record<string, ClassPrices>>> };
type ClassPrices = Readonly<Partial<Record<Class, string>>>;
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
  /** The tier that is asked for; `auto` leaves it to the provider. Default: the standard one. */
  readonly asked?: string | undefined;
  /** The tier that the answer reports. */
  readonly served?: string | undefined;
  /** The tiers that the provider may choose for `auto`. Default: those of OpenAI's formats. */
  readonly choices?: readonly string[];
}

/** The tiers that a provider of OpenAI's formats may choose. */
const CHOSEN = ["priority", "flex", "scale", "performance"];

/** A fraction; the denominator is positive. */
export type Fraction = readonly [numerator: bigint, denominator: bigint];

/**
 * Returns charge and upstream cost in nano-USD, the cost `undefined` where it is unknown, and the tier that is charged;
 * `undefined` for a tier that is not sold.
 */
export function expectedMoney(keys: RouteKeys, charged: Charged, beside?: Beside) {
  const { asked, tokens } = charged;
  const named = asked === "auto" ? undefined : asked;
  if (named !== undefined && !pricesOf(keys, { ...charged, isLong: false }, named)) return undefined;
  const tier = chargedTier(keys, charged, named);
  const prices = pricesOf(keys, charged, tier);
  const cost = costsOf(keys, charged, tier);
  if (!prices) throw new Error("A tier is charged that has no price");
  const charge = sum(prices, tokens, beside?.ofPrice(prices));
  return { tier, charge, upstreamCost: cost && sum(cost, tokens, beside?.ofCost(cost)) };
}

/** What is added to the sums of tokens before they are rounded, at the prices of these tokens. */
export interface Beside {
  ofPrice(text: Scaled): Fraction;
  ofCost(text: Scaled): Fraction;
}

/** The tier that an answer reports, unless it has no price or is dearer than everything that was asked for. */
function chargedTier(keys: RouteKeys, charged: Charged, named: string | undefined): string | undefined {
  const { asked, served = named ?? "standard", choices = CHOSEN } = charged;
  const tier = served === "standard" ? undefined : served;
  const wanted = asked === "auto" ? [undefined, ...choices] : [named];
  const allowed = wanted.flatMap((each) => pricesOf(keys, charged, each) ?? []);
  const found = pricesOf(keys, charged, tier);
  const isAllowed = CLASSES.every((name) =>
    allowed.some((each) => found && isAtMost(found[name], each[name])),
  );
  return isAllowed ? tier : named;
}

/** USD per token of each class. */
export type Scaled = Readonly<Record<Class, Fraction>>;

/** The prices of a tier; `undefined` where it has none. */
function pricesOf(keys: RouteKeys, charged: Charged, tier: string | undefined): Scaled | undefined {
  const [prices, factor] = priceKeys(keys, charged);
  if (tier === undefined) return scale(prices, factor);
  const own = prices.tiers?.[tier];
  if (charged.isLong && (keys.longPrice || keys.longCost)) {
    // A tier is sold where the ordinary price has it.
    const ordinary = pricesOf(keys, { ...charged, isLong: false }, tier);
    return ordinary && (own ? scale(own, factor) : dearer(ordinary, scale(prices, factor)));
  }
  if (own) return scale(own, factor);
  const { price } = keys;
  const written = price && !("markup" in price) ? price.tiers?.[tier] : undefined;
  return written && scale(written, undefined);
}

/** The upstream costs of a tier; `undefined` where they are unknown. */
function costsOf(keys: RouteKeys, charged: Charged, tier: string | undefined): Scaled | undefined {
  const cost = costKeys(keys, charged);
  if (!cost) return undefined;
  if (tier === undefined) return scale(cost, undefined);
  const own = cost.tiers?.[tier];
  if (own) return scale(own, undefined);
  const ordinary = cost === keys.longCost ? keys.cost?.tiers?.[tier] : undefined;
  return ordinary && dearer(scale(ordinary, undefined), scale(cost, undefined));
}

function dearer(one: Scaled, other: Scaled): Scaled {
  return byClass((name) => (isAtMost(one[name], other[name]) ? other[name] : one[name]));
}

function isAtMost([a, b]: Fraction, [c, d]: Fraction): boolean {
  return a * d <= c * b;
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

/** Rounds each scaled price up to 1e-12 USD per token. */
function scale(prices: ClassPrices, factor: string | undefined): Scaled {
  return byClass((name) => {
    const price = priceOf(prices, name);
    return factor === undefined ? price : ceilTo(times(price, decimal(factor)), 10n ** 12n);
  });
}

function byClass(read: (name: Class) => Fraction): Scaled {
  const [input, output, cached, write, write1h] = CLASSES.map(read);
  if (!input || !output || !cached || !write || !write1h) throw new Error("A class has no price");
  return { input, output, cached_input: cached, cache_write: write, cache_write_1h: write1h };
}

/** Rounds the sum up to 1e-9 USD. */
function sum(prices: Scaled, tokens: Charged["tokens"], beside: Fraction = [0n, 1n]): bigint {
  let total = beside;
  for (const name of CLASSES) total = plus(total, times(prices[name], [BigInt(tokens[name]), 1n]));
  const [nanos] = ceilTo(total, 10n ** 9n);
  return nanos;
}

/** USD per token. */
function priceOf(prices: ClassPrices, name: Class): Fraction {
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

export function decimal(text: string): Fraction {
  const [whole = "", decimals = ""] = text.split(".");
  return [BigInt(whole + decimals), 10n ** BigInt(decimals.length)];
}

export function times([a, b]: Fraction, [c, d]: Fraction): Fraction {
  return [a * c, b * d];
}

export function plus([a, b]: Fraction, [c, d]: Fraction): Fraction {
  return [a * d + c * b, b * d];
}

/** Rounds up to a whole number of `parts` of one. */
export function ceilTo([numerator, denominator]: Fraction, parts: bigint): Fraction {
  const scaled = numerator * parts;
  return [scaled / denominator + (scaled % denominator > 0n ? 1n : 0n), parts];
}
