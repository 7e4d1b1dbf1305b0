import { parseUsd, printUsd } from "../domain/money.ts";
import { formatExact, readUsd } from "./format.ts";
import { readAmount } from "./typed-amount.ts";

/** The most that may be spent per period, as the API takes it. */
export interface SpendingLimitValues {
  readonly amount_usd: string;
  readonly period: string;
  readonly time_zone?: string;
}

/** A limit as the API answers it, as far as its values go. */
interface ShownLimit {
  readonly amount_usd: string;
  readonly period: string;
  readonly time_zone: string | null;
}

/** The names of the fields of a limit in a form. The server's refusal names the field of the amount. */
export interface LimitFieldNames {
  readonly amount: string;
  readonly period: string;
  readonly zone: string;
}

const OWN: LimitFieldNames = { amount: "amount_usd", period: "period", zone: "time_zone" };

/** The names of the fields of one of several limits in a form, such as "end_user_limit". */
export function limitFieldNames(limit?: string): LimitFieldNames {
  return limit === undefined ? OWN : { amount: limit, period: `${limit}.period`, zone: `${limit}.time_zone` };
}

const PERIOD_TEXTS: Readonly<Record<string, string>> = {
  total: "in total",
  day: "per day",
  week: "per week",
  month: "per month",
};

/** Describes a period, such as "per 5 hours" of a window. */
export function describePeriod(period: string): string {
  return PERIOD_TEXTS[period] ?? `per ${period.slice(0, -1)} hours`;
}

/** Describes a limit in one line: "$5.00 per day, Asia/Kolkata". */
export function describeLimit(limit: SpendingLimitValues | null): string {
  if (!limit) return "none";
  const zone = limit.time_zone ? `, ${limit.time_zone}` : "";
  return `${describeAmount(limit.amount_usd)} ${describePeriod(limit.period)}${zone}`;
}

/** What was typed may be no amount. */
function describeAmount(text: string): string {
  try {
    return formatExact(readUsd(text));
  } catch {
    return text;
  }
}

/** The values of a limit of the API. */
export function limitValuesOf(limit: ShownLimit | null): SpendingLimitValues | null {
  if (!limit) return null;
  const { amount_usd, period, time_zone } = limit;
  return { amount_usd, period, ...(time_zone && { time_zone }) };
}

/** Reads a limit from a form; an empty amount is none. */
export function readLimit(form: FormData, limit?: string): SpendingLimitValues | null {
  const names = limitFieldNames(limit);
  const amount = readAmount(textOf(form, names.amount));
  if (amount === "") return null;
  const period = textOf(form, names.period) || "month";
  const zone = textOf(form, names.zone);
  const hasZone = zone !== "" && zone !== "UTC" && period !== "total";
  return { amount_usd: canonical(amount), period, ...(hasZone && { time_zone: zone }) };
}

/** "5" and "5.00" are one amount. The server refuses any other text. */
function canonical(amount: string): string {
  try {
    return printUsd(parseUsd(amount));
  } catch {
    return amount;
  }
}

/** Returns the text of a field of a form, without space around it. */
export function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value.trim() : "";
}
