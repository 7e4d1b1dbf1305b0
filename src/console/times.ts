import { LOCALE, type Locale, toLeftToRight } from "./locale.ts";

/**
 * How a time is shown. `relative` is "3 min ago" within a day, else a date. `moment` is "14:05:10" today, else
 * "21 Nov, 14:05", with the year when it is another one. `zoned` names the zone, for sentences.
 */
export type TimeStyle = "minute" | "zoned" | "second" | "date" | "shortClock" | "relative" | "moment";

const DATE = { year: "numeric", month: "short", day: "numeric" } as const;
const CLOCK = { hour: "2-digit", minute: "2-digit" } as const;
const FORMATS = {
  minute: { ...DATE, ...CLOCK },
  zoned: { ...DATE, ...CLOCK, timeZoneName: "short" },
  second: { ...DATE, ...CLOCK, second: "2-digit" },
  date: DATE,
  day: { month: "short", day: "numeric" },
  shortClock: CLOCK,
  clock: { ...CLOCK, second: "2-digit" },
  thisYear: { month: "short", day: "numeric", ...CLOCK },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "short" });
const UTC_DAY = createFormat({ ...FORMATS.day, timeZone: "UTC" });
/** The name of a month is a word, which is English in every language. */
const MONTH = new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric", timeZone: "UTC" });
const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

type Format = Pick<Intl.DateTimeFormat, "format">;

const formatters = new Map<string, Format>();

/** Every space but the one between a date and its time of day. */
const WITHIN = /(?<!,) | (?=.*,)/g;

/**
 * Prints an ISO time in the viewer's zone. `nowMs` is what `relative` counts from. A line breaks between date and time
 * of day alone.
 */
export function formatTime(iso: string, style: TimeStyle = "minute", nowMs = Date.now()): string {
  return printTime(new Date(iso), style, nowMs).replaceAll(WITHIN, "\u00a0");
}

function printTime(date: Date, style: TimeStyle, nowMs: number): string {
  if (style === "moment") return formatMoment(date, new Date(nowMs));
  if (style !== "relative") return formatterOf(style).format(date);
  const agoMs = nowMs - date.getTime();
  const size = Math.abs(agoMs);
  if (size >= DAY_MS) return formatterOf("minute").format(date);
  if (size >= HOUR_MS) return RELATIVE.format(-Math.trunc(agoMs / HOUR_MS), "hour");
  if (size >= MINUTE_MS) return RELATIVE.format(-Math.trunc(agoMs / MINUTE_MS), "minute");
  return agoMs >= 0 ? "just now" : "in under a minute";
}

function formatMoment(date: Date, now: Date): string {
  if (date.toDateString() === now.toDateString()) return formatterOf("clock").format(date);
  return formatterOf(date.getFullYear() === now.getFullYear() ? "thisYear" : "minute").format(date);
}

/** Prints a day of UTC without its year, for the foot of a chart: "22 Nov". */
export function formatUtcDay(date: Date): string {
  return UTC_DAY.format(date);
}

/** Prints a time in the viewer's zone for the foot of a chart: "14:05". */
export function formatClock(date: Date): string {
  return formatterOf("shortClock").format(date);
}

/** Prints the day of a time in the viewer's zone, without its year: "22 Nov". */
export function formatShortDay(date: Date): string {
  return formatterOf("day").format(date);
}

/** Prints a month of UTC in words: "November 2026". */
export function formatMonth(month: string): string {
  return MONTH.format(new Date(`${month.slice(0, 7)}-01T00:00:00Z`));
}

/** Prints an ISO time in UTC with its seconds: "2026-11-22 12:40:05 UTC". */
export function formatUtc(iso: string): string {
  return `${new Date(iso).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** The day of a moment in the viewer's zone, as date fields have it: "2026-12-31". */
export function formatDay(ms: number): string {
  const at = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** The end of a day in the viewer's zone as an ISO time; `null` for "". */
export function readLastDay(day: string | undefined): string | null {
  return day ? new Date(`${day}T23:59:59`).toISOString() : null;
}

/** The viewer's zone and its offset now: "Europe/Berlin, UTC+1". */
export function describeZone(): string {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const minutes = -new Date().getTimezoneOffset();
  if (minutes === 0) return zone === "UTC" ? "UTC" : `${zone}, UTC`;
  const hours = Math.trunc(Math.abs(minutes) / 60);
  const rest = Math.abs(minutes) % 60;
  const offset = rest === 0 ? `${hours}` : `${hours}:${String(rest).padStart(2, "0")}`;
  return `${zone}, UTC${minutes < 0 ? "−" : "+"}${offset}`;
}

function formatterOf(style: keyof typeof FORMATS): Format {
  const known = formatters.get(style) ?? createFormat(FORMATS[style]);
  formatters.set(style, known);
  return known;
}

/** Languages without words in common with English have months as numbers, and no "PM". */
export function createFormat(
  options: Intl.DateTimeFormatOptions,
  { tag, isEnglish }: Locale = LOCALE,
): Format {
  const { month, day, hour } = options;
  const plain: Intl.DateTimeFormatOptions = {
    ...(month && { month: "2-digit" }),
    ...(day && { day: "2-digit" }),
    ...(hour && { hourCycle: "h23" }),
  };
  const format = new Intl.DateTimeFormat(tag, isEnglish ? options : { ...options, ...plain });
  return { format: (date) => toLeftToRight(format.format(date)) };
}
