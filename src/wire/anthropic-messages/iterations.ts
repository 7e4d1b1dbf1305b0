import { isCounted, NO_USAGE, type Usage } from "../../domain/usage.ts";
import { isJsonObject, type JsonObject } from "../json-read.ts";
import { readCounts, UNREADABLE } from "./usage-counts.ts";

/** Sums over `usage.iterations`: one for what the top-level numbers hold, one for what they leave out. */
export interface Iterations {
  readonly sampled: Usage;
  /** Compactions, advisors and every type that is not known. */
  readonly others: Usage;
}

/** Types whose tokens are in the top-level numbers. */
const SAMPLED: readonly unknown[] = ["message", "fallback_message"];

const UNCOUNTED: Iterations = { sampled: NO_USAGE, others: UNREADABLE };

/** Reads `usage.iterations`. Sums are not countable when an entry is not; takes time in proportion to the entries. */
export function readIterations(listed: unknown): Iterations {
  if (!Array.isArray(listed)) return UNCOUNTED;
  let sampled = NO_USAGE;
  let others = NO_USAGE;
  for (const entry of listed) {
    const counts = isJsonObject(entry) ? readEntry(entry) : undefined;
    // A negative entry must not vanish in a sum.
    if (!counts || !isCounted(counts)) return UNCOUNTED;
    if (SAMPLED.includes(entry.type)) sampled = sumOf(sampled, counts);
    else others = sumOf(others, counts);
  }
  return { sampled, others };
}

/** A type that is not known may leave a count out. */
function readEntry(entry: JsonObject): Usage | undefined {
  const { input_tokens: input, output_tokens: output } = entry;
  return readCounts({ ...entry, input_tokens: input ?? 0, output_tokens: output ?? 0 });
}

/**
 * Adds to the top-level usage what its iterations show beside it, unless it holds them all already. Sampling iterations
 * that come to more than the top-level usage take its place.
 *
 * @see https://platform.claude.com/docs/en/build-with-claude/compaction Compactions are not in the top-level numbers.
 */
export function addIterations(top: Usage, { sampled, others }: Iterations): Usage {
  if (!isCounted(top)) return top;
  const all = sumOf(sampled, others);
  if (covers(all, top) && covers(top, all)) return top;
  return sumOf(covers(sampled, top) ? sampled : top, others);
}

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
