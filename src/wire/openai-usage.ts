import type { Usage } from "../domain/usage.ts";
import { readCachedTokens, readCacheWriteTokens, readDetails } from "./cached-tokens.ts";
import type { JsonObject } from "./json/read.ts";
import { findExtraTokens } from "./outside-tokens.ts";

/** What an OpenAI-shaped usage reports under names that differ between chat and responses. */
export interface ReportedTotals {
  readonly input: unknown;
  readonly output: unknown;
  readonly inputDetails: unknown;
  readonly reasoning: number | undefined;
}

/**
 * Splits a usage into disjoint classes: the input holds tokens read from a cache or written to one. Adds tokens that only
 * `total_tokens` shows. Absurd totals stay as they are and a total that is no number is NaN; `undefined` without any.
 */
export function splitUsage(usage: JsonObject, reported: ReportedTotals): Usage | undefined {
  const input = readTotal(reported.input);
  const output = readTotal(reported.output);
  if (Number.isNaN(input) && Number.isNaN(output)) return undefined;
  const details = readDetails(reported.inputDetails);
  const cachedInputTokens = readCachedTokens(usage, details);
  const cacheWriteTokens = readCacheWriteTokens(usage, details);
  const cached = cachedInputTokens + cacheWriteTokens;
  const { reasoning } = reported;
  const outside = findExtraTokens({ input, output, cached, reasoning, total: usage.total_tokens });
  const all = input + outside.input;
  return {
    // More cached than there was at all is counted beside the input: both are paid.
    inputTokens: all >= cached ? all - cached : all,
    cachedInputTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: 0,
    outputTokens: output + outside.output,
  };
}

function readTotal(value: unknown): number {
  return typeof value === "number" ? value : Number.NaN;
}
