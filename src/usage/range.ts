import { GatewayError } from "../errors.ts";

/** A range of time in Unix milliseconds; `toMs` is exclusive. */
export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The time in a UUIDv7, and so of every receipt, has 48 bits. */
const TIME_MS_MAX = 2 ** 48 - 1;

/** Parses a range; its end defaults to now, its start to `defaultMs` before its end. Throws `wrong_shape`. */
export function readRange(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  { nowMs, defaultMs }: { readonly nowMs: number; readonly defaultMs: number },
): Range {
  // Rounded up to the next minute, so that requests of this moment are inside.
  const toMs = readMs(to, "to") ?? Math.ceil((nowMs + 1) / 60_000) * 60_000;
  const fromMs = readMs(from, "from") ?? Math.max(toMs - defaultMs, 0);
  if (fromMs >= toMs) throw new GatewayError("wrong_shape", { path: "from" });
  return { fromMs, toMs };
}

/** Parses an ISO 8601 time. Throws `wrong_shape` with the name of the field. */
export function readMs(text: string | undefined, path: string): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  // Date.parse takes 30 February as a day of March.
  const isRolled = text.endsWith("Z") && ms >= 0 && ms <= TIME_MS_MAX && !sameDay(text, ms);
  if (isRolled || !Number.isInteger(ms) || ms < 0 || ms > TIME_MS_MAX)
    throw new GatewayError("wrong_shape", { path });
  return ms;
}

function sameDay(text: string, ms: number): boolean {
  return new Date(ms).toISOString().slice(0, 10) === text.slice(0, 10);
}
