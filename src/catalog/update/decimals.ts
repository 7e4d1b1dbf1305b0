/** Digits that every double keeps. Digits beyond them are noise of the list's own arithmetic. */
const EXACT_DIGITS = 15;

/** A decimal number: `digits` × 10^`exponent`. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/**
 * Multiplies a number of the list by a power of ten or another whole number and prints it as a decimal with
 * at most `decimals`, rounded up, so that a cost is never below the listed one. Throws RangeError for NaN,
 * infinities and negative numbers.
 */
export function printScaled(value: number, factor: number, decimals: number): string {
  const { digits, exponent } = readDecimal(value);
  return printDecimal(digits * BigInt(factor), exponent, decimals);
}

/** Reads the shortest decimal of a double, which is the list's own text, cut to the digits that are exact. */
function readDecimal(value: number): Decimal {
  if (!Number.isFinite(value) || value < 0) throw new RangeError(`Cannot read ${value} as a cost`);
  const text =
    String(value).replace(/[.-]|e.*/g, "").length > EXACT_DIGITS
      ? value.toPrecision(EXACT_DIGITS)
      : String(value);
  const [, whole = "", fraction = "", power = "0"] = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(text) ?? [];
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}

function printDecimal(digits: bigint, exponent: number, decimals: number): string {
  const shift = exponent + decimals;
  const scaled = shift >= 0 ? digits * 10n ** BigInt(shift) : divideUp(digits, 10n ** BigInt(-shift));
  const padded = scaled.toString().padStart(decimals + 1, "0");
  const whole = padded.slice(0, padded.length - decimals);
  const fraction = padded.slice(padded.length - decimals).replace(/0+$/, "");
  return `${whole}.${fraction.padEnd(2, "0")}`;
}

function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}
