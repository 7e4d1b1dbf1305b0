import { type Nanos, printUsd } from "./money.ts";

const NANOS_PER_CENT = 10_000_000n;
const NANOS_PER_MICRO = 1_000n;
const MICRO_DIGITS = 6;
const MICROS_PER_USD = 1_000_000n;

/** Prints to the cent, half a cent away from zero: "$1,234.50", "−$0.10"; "<$0.01" for less than a cent. */
export function formatCents(nanos: Nanos): string {
  const size = sizeOf(nanos);
  if (size > 0n && size < NANOS_PER_CENT / 2n) return `${signOf(nanos)}<$0.01`;
  const cents = (size + NANOS_PER_CENT / 2n) / NANOS_PER_CENT;
  return `${signOf(nanos)}$${group(cents / 100n)}.${(cents % 100n).toString().padStart(2, "0")}`;
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
