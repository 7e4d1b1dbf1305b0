import { isCount, isCounted, NO_USAGE, type Usage } from "../../domain/usage.ts";
import { isJsonObject, type JsonObject } from "../json/read.ts";
import { countOf, readCounts } from "./usage-counts.ts";

/** Sums over `usage.iterations`: one for what the top-level numbers hold, one for what they leave out. */
export interface Iterations {
  readonly sampled: Usage;
  /** Compactions, advisors and every type that is not known. */
  readonly others: Usage;
}

/** Types whose tokens are in the top-level numbers. */
const SAMPLED: readonly unknown[] = ["message", "fallback_message"];

/** Reads `usage.iterations`, as far as they can be counted; takes time in proportion to the entries. */
export function readIterations(listed: unknown): Iterations {
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

/** A type that is not known may leave a count out. What cannot be counted must not vanish in a sum. */
function readEntry(entry: JsonObject): Usage {
  const { input_tokens: input, output_tokens: output } = entry;
  return readCounts({ ...entry, input_tokens: countOf(input), output_tokens: countOf(output) });
}

/**
 * Adds to the top-level usage what its iterations show beside it, unless it holds them all already. Sampling iterations
 * that come to more than the top-level usage take its place.
 *
 * @see https://platform.claude.com/docs/en/build-with-claude/compaction Compactions are not in the top-level numbers.
 */
export function addIterations(top: Usage, { sampled, others }: Iterations): Usage {
  if (!isCounted(top)) return addToCounted(top, others);
  const all = sumOf(sampled, others);
  if (covers(all, top) && covers(top, all)) return top;
  return addCounted(covers(sampled, top) ? sampled : top, others);
}

/** A sum beyond all numbers leaves the first as it is. */
function addCounted(one: Usage, other: Usage): Usage {
  const sum = sumOf(one, other);
  return isCounted(sum) ? sum : one;
}

/** Adds class by class: one that is absurd stays so. */
function addToCounted(top: Usage, others: Usage): Usage {
  const add = (name: keyof Usage) => (isCount(top[name]) ? top[name] + others[name] : top[name]);
  return {
    inputTokens: add("inputTokens"),
    cachedInputTokens: add("cachedInputTokens"),
    cacheWriteTokens: add("cacheWriteTokens"),
    cacheWrite1hTokens: add("cacheWrite1hTokens"),
    outputTokens: add("outputTokens"),
  };
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
