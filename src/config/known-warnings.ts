import { DAY_MS } from "../domain/id-time.ts";
import type { FilledIn } from "./known.ts";
import { formatPath } from "./problems.ts";

/** Something that an operator should know of a known model that the file names. */
export interface KnownWarning {
  /** Where the file names it: `models.claude`. */
  readonly place: string;
  readonly known: string;
  readonly reason: "old_price" | "ended" | "ends_soon" | "other_cost" | "needs_responses";
  /** What is the matter, to follow the id of the model. */
  readonly text: string;
}

const PRICE_DAYS_MAX = 90;
const END_DAYS = 30;

/**
 * Finds prices that were last checked more than 90 days ago, models past their end or within 30 days of it, costs beside the price, and
 * routes to models of the responses format whose upstream does not speak it.
 */
export function findKnownWarnings(filled: readonly FilledIn[], nowMs: number): readonly KnownWarning[] {
  return filled.flatMap(({ place, known, values, checked, ends, otherCost, lacksResponses }) => {
    const warn = (reason: KnownWarning["reason"], text: string) => [
      { place: formatPath(place), known, reason, text },
    ];
    const days = Math.floor((nowMs - Date.parse(checked)) / DAY_MS);
    const hasCost = "cost" in values;
    return [
      ...(hasCost && days > PRICE_DAYS_MAX
        ? warn("old_price", `has a price of ${checked}, ${days} days ago`)
        : []),
      ...(ends !== undefined && Date.parse(ends) <= nowMs
        ? warn("ended", `may no longer be served since ${ends}`)
        : []),
      ...(ends !== undefined && Date.parse(ends) > nowMs && Date.parse(ends) - nowMs <= END_DAYS * DAY_MS
        ? warn("ends_soon", `may no longer be served from ${ends} on`)
        : []),
      ...(hasCost && otherCost
        ? warn("other_cost", `also costs ${describeOther(otherCost)}, which the price does not hold`)
        : []),
      ...(lacksResponses !== undefined
        ? warn("needs_responses", `needs responses: true at the upstream ${lacksResponses}`)
        : []),
    ];
  });
}

/** Describes a warning for the command line. */
export function describeKnownWarning({ place, known, text }: KnownWarning): string {
  return `${place}: ${known} ${text}`;
}

/** Describes what was filled in at each place, one line a place, with source and date. */
export function describeFilled({ place, known, values, source, checked }: FilledIn): string {
  const members = Object.entries(values).map(([name, value]) => `${name} ${printValue(value)}`);
  return `${formatPath(place)}: ${known} gives ${members.join(", ")} (${source}, checked on ${checked})`;
}

function describeOther({ audio_input, audio_output, request }: NonNullable<FilledIn["otherCost"]>): string {
  const parts = Object.entries({
    "per million tokens of audio input": audio_input,
    "per million tokens of audio output": audio_output,
    "per request": request,
  });
  return parts.flatMap(([unit, cost]) => (cost === undefined ? [] : [`${cost} USD ${unit}`])).join(" and ");
}

function printValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(printValue).join("+");
  if (typeof value !== "object" || value === null) return String(value);
  const members = Object.entries(value).map(([name, member]) => `${name} ${printValue(member)}`);
  return `{${members.join(", ")}}`;
}
