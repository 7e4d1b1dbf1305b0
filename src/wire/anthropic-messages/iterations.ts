import { isCounted, NO_USAGE, type Usage } from "../../domain/usage.ts";
import { isJsonObject } from "../json-read.ts";
import { readCounts, UNREADABLE } from "./usage-counts.ts";

/** Sums over `usage.iterations`: one for what the top-level numbers hold, one for what they leave out. */
export interface Iterations {
  /** `undefined` when no sampling iteration is listed. */
  readonly sampled: Usage | undefined;
  /** Compactions, advisors and every type that is not known. */
  readonly others: Usage;
}

/** Types whose tokens are in the top-level numbers. */
const SAMPLED: readonly unknown[] = ["message", "fallback_message"];

/** Reads `usage.iterations`. Sums are not countable when an entry is not; takes time in proportion to the entries. */
export function readIterations(listed: unknown): Iterations {
  if (!Array.isArray(listed)) return { sampled: undefined, others: UNREADABLE };
  let sampled: Usage | undefined;
  let others = NO_USAGE;
  for (const entry of listed) {
    const counts = isJsonObject(entry) ? readCounts(entry) : undefined;
    // A negative entry must not vanish in a sum.
    if (!counts || !isCounted(counts)) return { sampled: undefined, others: UNREADABLE };
    if (SAMPLED.includes(entry.type)) sampled = sumOf(sampled ?? NO_USAGE, counts);
    else others = sumOf(others, counts);
  }
  return { sampled, others };
}

/**
 * Adds to the top-level usage what its iterations show beside it. A list that covers the top-level usage in every class
 * is the whole bill; what a shorter list has beside sampling is added, unless it equals the top-level usage.
 *
 * @see https://platform.claude.com/docs/en/build-with-claude/compaction Compactions are not in the top-level numbers.
 */
export function addIterations(top: Usage, { sampled, others }: Iterations): Usage {
  if (!isCounted(top)) return top;
  if (sampled === undefined) return covers(top, others) && covers(others, top) ? top : sumOf(top, others);
  const all = sumOf(sampled, others);
  return covers(all, top) ? all : sumOf(top, others);
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
