import { NO_USAGE, type Usage } from "../../domain/usage.ts";
import { isJsonObject, type JsonObject, readCount } from "../json-read.ts";

/** A report that cannot be counted: it takes back what was reported before. */
export const UNREADABLE: Usage = Object.freeze({ ...NO_USAGE, outputTokens: Number.NaN });

/**
 * Reads the counts of a usage or of one iteration. Anthropic's `input_tokens` leave out what was read from or written to
 * a cache, as ours do. Absurd numbers stay as they are; `undefined` when one is no number.
 */
export function readCounts(usage: JsonObject): Usage | undefined {
  const { input_tokens: inputTokens, output_tokens: outputTokens } = usage;
  if (typeof inputTokens !== "number" || typeof outputTokens !== "number") return undefined;
  const split = isJsonObject(usage.cache_creation) ? usage.cache_creation : {};
  const cacheWrite1hTokens = readCount(split.ephemeral_1h_input_tokens);
  const written = readCount(usage.cache_creation_input_tokens ?? sumOf(split));
  const cachedInputTokens = readCount(usage.cache_read_input_tokens);
  if (Number.isNaN(cacheWrite1hTokens + written + cachedInputTokens)) return undefined;
  return {
    inputTokens,
    cachedInputTokens,
    cacheWriteTokens: written - cacheWrite1hTokens,
    cacheWrite1hTokens,
    outputTokens,
  };
}

function sumOf(split: JsonObject): number {
  return readCount(split.ephemeral_5m_input_tokens) + readCount(split.ephemeral_1h_input_tokens);
}
