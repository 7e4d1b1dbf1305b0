import type { UsageEvent } from "../../domain/chat-event.ts";
import { isCount, isCounted, NO_USAGE, type Usage } from "../../domain/usage.ts";
import { isJsonObject, isSet, type JsonObject } from "../json/read.ts";
import { addIterations, type Iterations, readCounts, readIterations } from "./usage-counts.ts";

const COUNTED = [
  "input_tokens",
  "output_tokens",
  "cache_creation_input_tokens",
  "cache_read_input_tokens",
  "cache_creation",
  "output_tokens_details",
] as const;

/**
 * Reads the usage of a whole message, including iterations that its top-level counts leave out. Implausible
 * counts pass through; a total that is no number becomes NaN. Returns `undefined` without any total.
 */
export function readUsage(usage: JsonObject): Usage | undefined {
  return readTotal(usage, isSet(usage.iterations) ? readIterations(usage.iterations) : undefined);
}

/** Returns how many output tokens were thinking, or `undefined` when the upstream does not report it. */
export function readThinkingTokens({ output_tokens_details: details }: JsonObject): number | undefined {
  const tokens = isJsonObject(details) ? details.thinking_tokens : undefined;
  return isCount(tokens) ? tokens : undefined;
}

/**
 * Follows the usage of a streamed message. Usage is cumulative: a field that a later event omits or sets to
 * null keeps its earlier value.
 */
export function createUsageReader() {
  let known: JsonObject | undefined;
  /** Sums only: keeping the list would let a stream repeat the work with every event. */
  let iterations: Iterations | undefined;
  let isOutputReported = false;

  const read = (reported: unknown): Usage | undefined => {
    if (!isJsonObject(reported)) return undefined;
    known = mergeUsage(known ?? {}, reported);
    if (Array.isArray(reported.iterations)) iterations = readIterations(reported.iterations);
    return readTotal(known, iterations) ?? readCounts(known);
  };

  return {
    /** Reads the usage of `message_start`. */
    readStart: read,
    thinkingTokens: () => known && readThinkingTokens(known),

    /**
     * Reads the usage of `message_delta`. The start always reports one output token, so a finish without a
     * later output count has NaN output tokens.
     */
    readDelta(reported: unknown, isFinished: boolean): Usage | undefined {
      const usage = read(reported);
      isOutputReported ||= isJsonObject(reported) && isSet(reported.output_tokens);
      if (known === undefined || !isFinished || isOutputReported) return usage;
      return { ...(usage ?? readCounts(known)), outputTokens: Number.NaN };
    },
  };
}

/** Prints usage for a client. Unreported or implausible usage becomes the guessed input and no output. */
export function printUsage(event: UsageEvent | undefined, guessedInputTokens: number) {
  const usage = event && isCounted(event.usage) ? event.usage : undefined;
  if (!usage)
    return { ...printCounts({ ...NO_USAGE, inputTokens: guessedInputTokens }), cache_creation: null };
  const thinkingTokens = event?.reasoningTokens;
  return {
    ...printCounts(usage),
    ...(isCount(thinkingTokens) && { output_tokens_details: { thinking_tokens: thinkingTokens } }),
  };
}

function readTotal(counts: JsonObject, iterations: Iterations | undefined): Usage | undefined {
  const top = readCounts(counts);
  if (Number.isNaN(top.inputTokens) && Number.isNaN(top.outputTokens)) return undefined;
  return iterations ? addIterations(top, iterations) : top;
}

/** Keeps only the fields that are read here, so that a stream cannot make the merged object grow. */
function mergeUsage(before: JsonObject, reported: JsonObject): JsonObject {
  return Object.fromEntries(
    COUNTED.map((name) => [name, replaces(name, reported[name]) ? reported[name] : before[name]]),
  );
}

/** Whether a value replaces the earlier one. Only the two totals accept a value that cannot be counted. */
function replaces(name: (typeof COUNTED)[number], value: unknown): boolean {
  if (name === "input_tokens" || name === "output_tokens") return isSet(value);
  return isCount(value) || isJsonObject(value);
}

function printCounts(usage: Usage) {
  return {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens + usage.cacheWrite1hTokens,
    cache_read_input_tokens: usage.cachedInputTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWriteTokens,
      ephemeral_1h_input_tokens: usage.cacheWrite1hTokens,
    },
    output_tokens: usage.outputTokens,
  };
}
