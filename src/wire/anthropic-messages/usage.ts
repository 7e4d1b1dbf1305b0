import type { UsageEvent } from "../../domain/chat-event.ts";
import { isCount, isCounted, NO_USAGE, type TokenUsage, type Usage } from "../../domain/usage.ts";
import { isJsonObject, isSet, type JsonObject, readTotal } from "../json/read.ts";

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
 * counts pass through; a total that is not a number becomes NaN. Returns `undefined` without any total.
 */
export function readUsage(usage: JsonObject): Usage | undefined {
  return totalUsageOf(usage, isSet(usage.iterations) ? readIterations(usage.iterations) : undefined);
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
    return totalUsageOf(known, iterations) ?? readCounts(known);
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

/** Prints usage for a client. Unreported or implausible usage becomes the estimated input and no output. */
export function printUsage(event: UsageEvent | undefined, estimatedInputTokens: number) {
  const usage = event && isCounted(event.usage) ? event.usage : undefined;
  if (!usage)
    return { ...printCounts({ ...NO_USAGE, inputTokens: estimatedInputTokens }), cache_creation: null };
  const thinkingTokens = event?.reasoningTokens;
  return {
    ...printCounts(usage),
    ...(isCount(thinkingTokens) && { output_tokens_details: { thinking_tokens: thinkingTokens } }),
  };
}

function totalUsageOf(counts: JsonObject, iterations: Iterations | undefined): Usage | undefined {
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

/**
 * Reads the counts of one usage object or of one iteration. As in {@link Usage}, `input_tokens` excludes
 * tokens that were read from or written to a cache. A total that is not a number becomes NaN, and an implausible
 * total passes through. Any other invalid count becomes 0.
 */
function readCounts(usage: JsonObject): Usage {
  const split = isJsonObject(usage.cache_creation) ? usage.cache_creation : {};
  const cacheWrite1hTokens = countOf(split.ephemeral_1h_input_tokens);
  const parts = countOf(split.ephemeral_5m_input_tokens) + cacheWrite1hTokens;
  // Some hosts report parts larger than their sum, or parts without a sum.
  const written = Math.max(countOf(usage.cache_creation_input_tokens), parts);
  return {
    inputTokens: readTotal(usage.input_tokens),
    cachedInputTokens: countOf(usage.cache_read_input_tokens),
    cacheWriteTokens: written - cacheWrite1hTokens,
    cacheWrite1hTokens,
    outputTokens: readTotal(usage.output_tokens),
  };
}

/** Sums over `usage.iterations`, by whether the top-level counts include the iteration. */
interface Iterations {
  /** Iterations that the top-level counts include. */
  readonly sampled: Usage;
  /** Iterations that they leave out: compactions, advisors and every unknown type. */
  readonly others: Usage;
}

/** Types of iterations that the top-level counts include. */
const SAMPLED: readonly unknown[] = ["message", "fallback_message"];

/** Sums `usage.iterations` as far as they can be counted, in time linear in the number of entries. */
function readIterations(listed: unknown): Iterations {
  let sampled = NO_USAGE;
  let others = NO_USAGE;
  for (const entry of Array.isArray(listed) ? listed : []) {
    if (!isJsonObject(entry)) continue;
    const counts = readEntry(entry);
    if (SAMPLED.includes(entry.type)) sampled = addCounted(sampled, counts);
    else others = addCounted(others, counts);
  }
  return { sampled, others };
}

/**
 * Adds to the top-level usage the iterations that it leaves out, unless it equals the sum of all iterations.
 * Sampling iterations that sum to more than the top-level usage replace it.
 *
 * @see https://platform.claude.com/docs/en/build-with-claude/compaction The top-level counts exclude
 * compactions.
 */
function addIterations(top: Usage, { sampled, others }: Iterations): Usage {
  if (!isCounted(top)) return addToCounted(top, others);
  const all = sumOf(sampled, others);
  if (covers(all, top) && covers(top, all)) return top;
  return addCounted(covers(sampled, top) ? sampled : top, others);
}

/** Reads one iteration. A missing total becomes 0, because a NaN would make the whole sum invalid. */
function readEntry(entry: JsonObject): Usage {
  const { input_tokens: input, output_tokens: output } = entry;
  return readCounts({ ...entry, input_tokens: countOf(input), output_tokens: countOf(output) });
}

/** Adds two usages. Returns `one` if their sum cannot be counted. */
function addCounted(one: Usage, other: Usage): Usage {
  const sum = sumOf(one, other);
  return isCounted(sum) ? sum : one;
}

/** Adds `others` to each class of `top` that is a count. An implausible class stays as it is. */
function addToCounted(top: Usage, others: Usage): Usage {
  const add = (name: keyof TokenUsage) => (isCount(top[name]) ? top[name] + others[name] : top[name]);
  return {
    inputTokens: add("inputTokens"),
    cachedInputTokens: add("cachedInputTokens"),
    cacheWriteTokens: add("cacheWriteTokens"),
    cacheWrite1hTokens: add("cacheWrite1hTokens"),
    outputTokens: add("outputTokens"),
  };
}

/** Whether every count of `one` is at least that of `other`. */
function covers(one: Usage, other: Usage): boolean {
  return (
    one.inputTokens >= other.inputTokens &&
    one.cachedInputTokens >= other.cachedInputTokens &&
    one.cacheWriteTokens >= other.cacheWriteTokens &&
    one.cacheWrite1hTokens >= other.cacheWrite1hTokens &&
    one.outputTokens >= other.outputTokens
  );
}

function sumOf(one: Usage, other: Usage): Usage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
    cacheWrite1hTokens: one.cacheWrite1hTokens + other.cacheWrite1hTokens,
    outputTokens: one.outputTokens + other.outputTokens,
  };
}

function countOf(value: unknown): number {
  return isCount(value) ? value : 0;
}
