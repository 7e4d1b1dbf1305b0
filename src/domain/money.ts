/** An amount of money in nano-USD (1e-9 USD). Negative only where a balance may be. */
export type Nanos = bigint;

/** A price in pico-USD (1e-12 USD) per token: "3.00" USD per million tokens is 3_000_000n. */
export type PicosPerToken = bigint;

/** A factor over a cost in ten-thousandths, 1n to 10_000_000n: "1.15" is 11_500n. */
export type Markup = bigint;

const NANO_DIGITS = 9;
const PICO_DIGITS = 12;
const PRICE_DIGITS = 6;
const MARKUP_DIGITS = 4;
const PICOS_PER_NANO = 1000n;
const MARKUP_ONE: Markup = 10_000n;
const MARKUP_MAX: Markup = 1_000n * MARKUP_ONE;
const ROUNDING_UP = PICOS_PER_NANO - 1n;
const DECIMALS_MIN = 2;
const ZERO = "0".charCodeAt(0);
const NANOS_PER_CENT = 10_000_000n;
const NANOS_PER_MICRO = 1_000n;
const MICRO_DIGITS = 6;
const MICROS_PER_USD = 1_000_000n;

/** The largest amount of one command: 4e18 nano-USD, so that the sum of two fits in int64. */
export const NANOS_MAX: Nanos = 4_000_000_000_000_000_000n;

/** The texts of markups, for schemas. */
export const MARKUP_PATTERN = "^(?!0+(\\.0+)?$)(\\d{1,3}(\\.\\d{1,4})?|1000(\\.0{1,4})?)$";

/** Parses decimal USD with at most 9 decimals ("5", "0.000000001"). Throws RangeError for other text. */
export function parseUsd(text: string): Nanos {
  return parseDecimal(text, NANO_DIGITS);
}

/** Parses USD per million tokens with at most 6 decimals ("3.00"). Throws RangeError for other text. */
export function parsePrice(text: string): PicosPerToken {
  return parseDecimal(text, PRICE_DIGITS);
}

/** Parses a factor from 0.0001 to 1000 with at most 4 decimals ("1.15"). Throws RangeError for other text. */
export function parseMarkup(text: string): Markup {
  const markup = parseDecimal(text, MARKUP_DIGITS);
  if (markup < 1n || markup > MARKUP_MAX) {
    throw new RangeError(`Cannot read "${text}" as a markup: expected 0.0001 to 1000`);
  }
  return markup;
}

/** Prints a markup as an exact decimal factor with at least 2 decimals: "1.15", "0.9075". */
export function printMarkup(markup: Markup): string {
  return printDecimal(markup, MARKUP_DIGITS);
}

/** Multiplies a price per token by a markup, rounded up; at most {@link NANOS_MAX}, so that it fits in int64. */
export function scalePicos(picos: PicosPerToken, markup: Markup): PicosPerToken {
  const scaled = (picos * markup + MARKUP_ONE - 1n) / MARKUP_ONE;
  return scaled > NANOS_MAX ? NANOS_MAX : scaled;
}

/** Parses USD per unit with at most 12 decimals ("0.002"). Throws RangeError for other text. */
export function parseUnitPrice(text: string): bigint {
  return parseDecimal(text, PICO_DIGITS);
}

/** Prints an amount as exact decimal USD with at least 2 decimals: "5.00", "-0.0000125". */
export function printUsd(nanos: Nanos): string {
  return printDecimal(nanos, NANO_DIGITS);
}

/** Prints a sum of tokens × price as exact decimal USD with at most 12 decimals: "0.0000000125". */
export function printPicos(picos: bigint): string {
  return printDecimal(picos, PICO_DIGITS);
}

/** Prints a price as exact decimal USD per million tokens: "3.00", "0.075". */
export function printPrice(price: PicosPerToken): string {
  return printDecimal(price, PRICE_DIGITS);
}

/** Converts a sum of tokens × price to money, rounded up: the only rounding of a request. */
export function picosToNanos(picos: bigint): Nanos {
  return (picos + ROUNDING_UP) / PICOS_PER_NANO;
}

/** Converts money to a sum of tokens × price. */
export function nanosToPicos(nanos: Nanos): bigint {
  return nanos * PICOS_PER_NANO;
}

function parseDecimal(text: string, digits: number): bigint {
  const match = /^(\d{1,10})(?:\.(\d+))?$/.exec(text);
  const fraction = match?.[2] ?? "";
  if (!match?.[1] || fraction.length > digits) {
    throw new RangeError(
      `Cannot read "${text}" as an amount: expected digits with at most ${digits} decimals`,
    );
  }
  const amount = BigInt(match[1] + fraction.padEnd(digits, "0"));
  if (amount > NANOS_MAX) throw new RangeError(`Cannot read "${text}" as an amount: it is too large`);
  return amount;
}

function printDecimal(amount: bigint, digits: number): string {
  const sign = amount < 0n ? "-" : "";
  const padded = (amount < 0n ? -amount : amount).toString().padStart(digits + 1, "0");
  const point = padded.length - digits;
  let end = padded.length;
  while (end > point + DECIMALS_MIN && padded.charCodeAt(end - 1) === ZERO) end -= 1;
  return `${sign}${padded.slice(0, point)}.${padded.slice(point, end)}`;
}

/** Prints to the cent, half a cent away from zero: "$1,234.50", "−$0.10"; "<$0.01" for less than a cent. */
export function formatCents(nanos: Nanos): string {
  const size = sizeOf(nanos);
  if (size > 0n && size < NANOS_PER_CENT / 2n) return `${signOf(nanos)}<$0.01`;
  const cents = (size + NANOS_PER_CENT / 2n) / NANOS_PER_CENT;
  return `${signOf(nanos)}$${group(cents / 100n)}.${(cents % 100n).toString().padStart(2, "0")}`;
}

/** The larger of two amounts or prices. */
export function mostOf(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

/** The smaller of two amounts. */
export function leastOf(one: Nanos, other: Nanos): Nanos {
  return one < other ? one : other;
}

/** Prints every digit that is not zero, at least the cents: "$0.0000125". */
export function formatExact(nanos: Nanos): string {
  const [whole = "0", fraction = "00"] = printUsd(sizeOf(nanos)).split(".");
  return `${signOf(nanos)}$${group(BigInt(whole))}.${fraction}`;
}

/**
 * Prints 6 decimals, rounded as cents are, so that the amounts of a column can be compared by eye: "$0.012500".
 * "<$0.000001" stands for less.
 */
export function formatAligned(nanos: Nanos): string {
  const size = sizeOf(nanos);
  if (size > 0n && size < NANOS_PER_MICRO / 2n) return `${signOf(nanos)}<$0.000001`;
  const micros = (size + NANOS_PER_MICRO / 2n) / NANOS_PER_MICRO;
  const decimals = (micros % MICROS_PER_USD).toString().padStart(MICRO_DIGITS, "0");
  return `${signOf(nanos)}$${group(micros / MICROS_PER_USD)}.${decimals}`;
}

function sizeOf(nanos: Nanos): Nanos {
  return nanos < 0n ? -nanos : nanos;
}

function signOf(nanos: Nanos): string {
  return nanos < 0n ? "−" : "";
}

function group(whole: bigint): string {
  return whole.toLocaleString("en-US");
}
