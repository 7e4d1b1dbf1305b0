import { isCount, totalTokensOf, type Usage } from "../../domain/usage.ts";
import { isJsonObject, isSet, type JsonObject } from "../json-read.ts";
import { addIterations, type Iterations, readIterations } from "./iterations.ts";
import { readCounts, UNREADABLE } from "./usage-counts.ts";

const COUNTED = [
  "input_tokens",
  "output_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "cache_creation",
  "output_tokens_details",
] as const;

/**
 * Reads the usage of a whole message, iterations that its top-level numbers leave out included. Absurd numbers stay as
 * they are; `undefined` when one is no number.
 */
export function readUsage(usage: JsonObject): Usage | undefined {
  return readTotal(usage, isSet(usage.iterations) ? readIterations(usage.iterations) : undefined);
}

function readTotal(counts: JsonObject, iterations: Iterations | undefined): Usage | undefined {
  const top = readCounts(counts);
  const total = top && iterations ? addIterations(top, iterations) : top;
  return total && Number.isNaN(totalTokensOf(total)) ? undefined : total;
}

/** How much of the output was thinking, where the upstream tells. */
export function readThinkingTokens({ output_tokens_details: details }: JsonObject): number | undefined {
  const tokens = isJsonObject(details) ? details.thinking_tokens : undefined;
  return isCount(tokens) ? tokens : undefined;
}

/**
 * Follows the usage of a streamed message, which is cumulative: what a later event leaves out or has as
 * null still stands.
 */
export function createUsageReader() {
  let known: JsonObject | undefined;
  /** Sums alone, or a stream could have a long list added up with its every event. */
  let iterations: Iterations | undefined;
  let isOutputSaid = false;

  const read = (reported: unknown): Usage | undefined => {
    if (!isJsonObject(reported)) return undefined;
    known = mergeUsage(known ?? {}, reported);
    if (isSet(reported.iterations)) iterations = readIterations(reported.iterations);
    return readTotal(known, iterations) ?? UNREADABLE;
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
