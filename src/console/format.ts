import * as money from "../domain/money.ts";
import { LOCALE, type Locale } from "./locale.ts";

const NANOS_PER_USD = 1e9;
/** Never in the scientific form: "0.000000014". */
const SMALL = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 2 });
const PERCENT = new Intl.NumberFormat(LOCALE.tag, { style: "percent", maximumFractionDigits: 1 });
/** "K", "M" and "B" are words of English. */
const COMPACT = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });
/** An amount in a text of the server, and in what is printed here: "$1,234.50"; in other texts "1234.50 USD". */
const DOLLARS = /\$(\d[\d,]*)(?:\.(\d+))?/g;
const USD = /(\d+\.\d+) USD/g;

/** Prints the amounts of an English text as the locale does: "$1,234.50 left." is "1.234,50 $ left." in German. */
export function localise(text: string, { point, group, withDollar }: Locale = LOCALE): string {
  return text.replace(USD, "$$$1").replace(DOLLARS, (_, whole: string, fraction?: string) => {
    const number = group(BigInt(whole.replaceAll(",", "")));
    return withDollar(fraction === undefined ? number : number + point + fraction);
  });
}

/** Prints to the cent: "$1,234.50", "<$0.01" for less than a cent. */
export function formatCents(nanos: money.Nanos): string {
  return localise(money.formatCents(nanos));
}

/** Prints 6 decimals, so that the amounts of a column can be compared by eye. */
export function formatAligned(nanos: money.Nanos): string {
  return localise(money.formatAligned(nanos));
}

/** Prints every digit that is not zero, at least the cents. */
export function formatExact(nanos: money.Nanos): string {
  return localise(money.formatExact(nanos));
}

/** Reads an amount of the API, which may be negative. Throws RangeError for other text. */
export function readUsd(text: string): money.Nanos {
  return text.startsWith("-") ? -money.parseUsd(text.slice(1)) : money.parseUsd(text);
}

/** The number that a chart draws; the exact amounts are in the tables. */
export function usdNumber(usd: string): number {
  return Number(readUsd(usd)) / NANOS_PER_USD;
}

/** Prints USD that were computed with as a number: to the cent, and two digits of less than ten cents. */
export function formatUsdNumber(value: number): string {
  if (value !== 0 && Math.abs(value) < 0.0995)
    return localise(`${value < 0 ? "−" : ""}$${SMALL.format(Math.abs(value))}`);
  return formatCents(BigInt(Math.round(value * NANOS_PER_USD)));
}

/** "12,345" */
export function formatCount(count: number): string {
  return LOCALE.group(count);
}

/** "1 request", "12,345 requests"; `many` is for plurals of another form. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** "12.3K"; for axes and narrow places, with the whole number in a title. */
export function formatCompact(count: number): string {
  return withPoint(COMPACT.format(count));
}

/** A share from 0 to 1: "12.5%" */
export function formatPercent(share: number): string {
  return PERCENT.format(share);
}

/** "840 ms", "12.4 s", "3 min 20 s"; "–" without a value. No line breaks before a unit. */
export function formatMs(ms: number | null): string {
  if (ms === null) return "–";
  const whole = Math.round(ms);
  if (whole < 1_000) return `${whole}\u00a0ms`;
  if (whole < 59_950) return `${withPoint((whole / 1_000).toFixed(whole < 9_995 ? 2 : 1))}\u00a0s`;
  const seconds = Math.round(whole / 1_000);
  return `${Math.floor(seconds / 60)}\u00a0min ${seconds % 60}\u00a0s`;
}

/** Prints the days that a wallet lasts at its present rate: "12 days", "Under a day"; "–" without spending. */
export function formatRunway(days: number | null): string {
  if (days === null) return "–";
  if (days < 1) return "Under a day";
  const whole = Math.floor(days);
  return whole > 999 ? "Over 999 days" : plural(whole, "day");
}

/** A duration in its largest unit, or two: "45 s", "12 min", "3 h 5 min", "4 d 2 h". */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  const steps = [
    { unit: "d", seconds: 86_400, lesser: "h", lesserSeconds: 3_600 },
    { unit: "h", seconds: 3_600, lesser: "min", lesserSeconds: 60 },
  ];
  for (const step of steps) {
    if (seconds < step.seconds) continue;
    const rest = Math.floor((seconds % step.seconds) / step.lesserSeconds);
    const whole = `${Math.floor(seconds / step.seconds)} ${step.unit}`;
    return rest === 0 ? whole : `${whole} ${rest} ${step.lesser}`;
  }
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
}

/** Puts the decimal point of the locale into a number without separators: "12,4" in German. */
export function withPoint(number: string): string {
  return number.replace(".", LOCALE.point);
}

/** Begins a text with a capital letter. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
