import { isCount, NO_USAGE, type Usage } from "../../domain/usage.ts";
import { isJsonObject, isSet, type JsonObject, readCount } from "../json-read.ts";

const COUNTED = [
  "input_tokens",
  "output_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "cache_creation",
  "output_tokens_details",
] as const;

/**
 * Anthropic's `input_tokens` leave out what was read from or written to a cache, as ours do. Numbers are
 * taken as they are, even absurd ones; `undefined` when one is no number.
 */
export function readUsage(usage: JsonObject): Usage | undefined {
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

/** How much of the output was thinking, where the upstream tells. */
export function readThinkingTokens({ output_tokens_details: details }: JsonObject): number | undefined {
  const tokens = isJsonObject(details) ? details.thinking_tokens : undefined;
  return isCount(tokens) ? tokens : undefined;
}

/** A report that cannot be true: it takes back what was reported before. */
const UNREADABLE: Usage = Object.freeze({ ...NO_USAGE, outputTokens: Number.NaN });

/**
 * Follows the usage of a streamed message, which is cumulative: what a later event leaves out or has as
 * null still stands.
 */
export function createUsageReader() {
  let known: JsonObject | undefined;
  let isOutputSaid = false;

  const read = (reported: unknown): Usage | undefined => {
    if (!isJsonObject(reported)) return undefined;
    known = mergeUsage(known ?? {}, reported);
    return readUsage(known) ?? UNREADABLE;
  };

  return {
    readStart: read,
    thinkingTokens: () => known && readThinkingTokens(known),

    /** The start speaks of one output token whatever will follow: a finish on that word alone is no report. */
    readDelta(reported: unknown, isFinished: boolean): Usage | undefined {
      const usage = read(reported);
      isOutputSaid ||= isJsonObject(reported) && isSet(reported.output_tokens);
      return known !== undefined && isFinished && !isOutputSaid ? UNREADABLE : usage;
    },
  };
}

/** Keeps what is read here and nothing else, or a stream could make it grow without end. */
function mergeUsage(before: JsonObject, reported: JsonObject): JsonObject {
  return Object.fromEntries(COUNTED.map((name) => [name, reported[name] ?? before[name]]));
}

function sumOf(split: JsonObject): number {
  return readCount(split.ephemeral_5m_input_tokens) + readCount(split.ephemeral_1h_input_tokens);
}
