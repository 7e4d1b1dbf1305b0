import { isCount, type Usage } from "../../domain/usage.ts";
import { isJsonObject, type JsonObject } from "../json/read.ts";

/**
 * Reads the counts of a usage or of one iteration. Anthropic's `input_tokens` leave out what was read from or written to
 * a cache, as ours do. Absurd totals stay as they are and one that is no number is NaN; no other number can be absurd.
 */
export function readCounts(usage: JsonObject): Usage {
  const split = isJsonObject(usage.cache_creation) ? usage.cache_creation : {};
  const cacheWrite1hTokens = countOf(split.ephemeral_1h_input_tokens);
  const parts = countOf(split.ephemeral_5m_input_tokens) + cacheWrite1hTokens;
  // The parts may be more than their sum, or come without it.
  const written = Math.max(countOf(usage.cache_creation_input_tokens), parts);
  return {
    inputTokens: readTotal(usage.input_tokens),
    cachedInputTokens: countOf(usage.cache_read_input_tokens),
    cacheWriteTokens: written - cacheWrite1hTokens,
    cacheWrite1hTokens,
    outputTokens: readTotal(usage.output_tokens),
  };
}

/** A count, or 0 for what is none. */
export function countOf(value: unknown): number {
  return isCount(value) ? value : 0;
}

function readTotal(value: unknown): number {
  return typeof value === "number" ? value : Number.NaN;
}
