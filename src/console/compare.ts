import { formatPercent, readUsd } from "./format.ts";

/** Shares below it would be printed as 0%. */
const UNCHANGED_BELOW = 0.0005;

/** How a figure has changed: "+12.5%", "−40%", "unchanged"; `undefined` where there is nothing to compare. */
export function printChange(now: number, before: number | undefined): string | undefined {
  if (before === undefined || before === 0) return undefined;
  const share = now / before - 1;
  // Above tenfold a factor is easier to read than a percentage.
  if (share >= 9) return `×${Math.round(now / before)}`;
  const size = Math.abs(share);
  if (size < UNCHANGED_BELOW) return "unchanged";
  const text = formatPercent(size < 0.1 ? size : Math.round(size * 100) / 100);
  return `${share > 0 ? "+" : "−"}${text}`;
}

/** Like {@link printChange}, of decimal USD. */
export function printUsdChange(now: string, before: string | undefined): string | undefined {
  return printChange(Number(readUsd(now)), before === undefined ? undefined : Number(readUsd(before)));
}

/** A part of a whole as text: "12.5%"; "–" of nothing. */
export function printShare(part: number, whole: number): string {
  if (whole === 0) return "–";
  const share = part / whole;
  return share > 0 && share < 0.001 ? "<0.1%" : formatPercent(share);
}

/** Like {@link printShare}, of decimal USD. */
export function shareOf(part: string, whole: string): string {
  return printShare(Number(readUsd(part)), Number(readUsd(whole)));
}
