import { type Nanos, parseUsd, printUsd } from "../domain/money.ts";

const NANOS_PER_CENT = 10_000_000n;
const COUNT = new Intl.NumberFormat("en-US");
const COMPACT = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });
const PERCENT = new Intl.NumberFormat("en-US", { style: "percent", maximumFractionDigits: 1 });

/** Reads an amount of the API, which may be negative. Throws RangeError for other text. */
export function readUsd(text: string): Nanos {
  return text.startsWith("-") ? -parseUsd(text.slice(1)) : parseUsd(text);
}

/** Prints to the cent, half a cent away from zero: "$1,234.50", "−$0.10"; "<$0.01" for less than a cent. */
export function formatCents(nanos: Nanos): string {
  const size = nanos < 0n ? -nanos : nanos;
  const sign = nanos < 0n ? "−" : "";
  if (size > 0n && size < NANOS_PER_CENT / 2n) return nanos < 0n ? "−<$0.01" : "<$0.01";
  const cents = (size + NANOS_PER_CENT / 2n) / NANOS_PER_CENT;
  return `${sign}$${(cents / 100n).toLocaleString("en-US")}.${(cents % 100n).toString().padStart(2, "0")}`;
}

/** Prints every digit that is not zero, at least the cents: "$0.0000125". */
export function formatExact(nanos: Nanos): string {
  const [whole = "0", fraction = "00"] = printUsd(nanos < 0n ? -nanos : nanos).split(".");
  return `${nanos < 0n ? "−" : ""}$${BigInt(whole).toLocaleString("en-US")}.${fraction}`;
}

/** "12,345" */
export function formatCount(count: number): string {
  return COUNT.format(count);
}

/** "12.3K"; for axes and narrow places, with the whole number in a title. */
export function formatCompact(count: number): string {
  return COMPACT.format(count);
}

/** A share from 0 to 1: "12.5%" */
export function formatPercent(share: number): string {
  return PERCENT.format(share);
}

/** "840 ms", "12.4 s", "3 min 20 s"; "–" without a value. */
export function formatMs(ms: number | null): string {
  if (ms === null) return "–";
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
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
