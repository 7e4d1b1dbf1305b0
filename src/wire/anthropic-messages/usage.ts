import { isCount, type Usage } from "../../domain/usage.ts";
import { isJsonObject, isSet, type JsonObject } from "../json/read.ts";
import { addIterations, type Iterations, readIterations } from "./iterations.ts";
import { readCounts } from "./usage-counts.ts";

const COUNTED = [
  "input_tokens",
  "output_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "cache_creation",
  "output_tokens_details",
] as const;

/**
 * Reads the usage of a whole message, iterations that its top-level numbers leave out included. Absurd totals stay as
 * they are and one that is no number is NaN; `undefined` without any.
 */
export function readUsage(usage: JsonObject): Usage | undefined {
  return readTotal(usage, isSet(usage.iterations) ? readIterations(usage.iterations) : undefined);
}

function readTotal(counts: JsonObject, iterations: Iterations | undefined): Usage | undefined {
  const top = readCounts(counts);
  if (Number.isNaN(top.inputTokens) && Number.isNaN(top.outputTokens)) return undefined;
  return iterations ? addIterations(top, iterations) : top;
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
    if (Array.isArray(reported.iterations)) iterations = readIterations(reported.iterations);
    return readTotal(known, iterations) ?? readCounts(known);
  };

  return {
    readStart: read,
    thinkingTokens: () => known && readThinkingTokens(known),

    /** The start speaks of one output token whatever will follow: a finish on that word alone reports no output. */
    readDelta(reported: unknown, isFinished: boolean): Usage | undefined {
      const usage = read(reported);
      isOutputSaid ||= isJsonObject(reported) && isSet(reported.output_tokens);
      if (known === undefined || !isFinished || isOutputSaid) return usage;
      return { ...(usage ?? readCounts(known)), outputTokens: Number.NaN };
    },
  };
}

/** Keeps what is read here and nothing else, or a stream could make it grow without end. */
function mergeUsage(before: JsonObject, reported: JsonObject): JsonObject {
  return Object.fromEntries(
    COUNTED.map((name) => [name, stands(name, reported[name]) ? reported[name] : before[name]]),
  );
}

/** Whether a value takes the place of an earlier one: what cannot be counted does so for the two totals alone. */
function stands(name: (typeof COUNTED)[number], value: unknown): boolean {
  if (name === "input_tokens" || name === "output_tokens") return isSet(value);
  return isCount(value) || isJsonObject(value);
}
