import type { UsageEvent } from "../../domain/chat-event.ts";
import { inputTokensOf, isCounted, totalTokensOf, type Usage } from "../../domain/usage.ts";
import { isJsonObject, readCount } from "../json-read.ts";

/**
 * Cached and cache-written tokens are counted inside `input_tokens`; ours are disjoint, so they come out.
 * Numbers are taken as they are, even absurd ones; `undefined` when one is no number.
 */
export function readUsage(usage: unknown): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const { input_tokens: input, output_tokens: outputTokens, input_tokens_details: details } = usage;
  if (typeof input !== "number" || typeof outputTokens !== "number") return undefined;
  const { cached_tokens, cache_write_tokens } = isJsonObject(details) ? details : {};
  const cachedInputTokens = readCount(cached_tokens);
  const cacheWriteTokens = readCount(cache_write_tokens);
  const inputTokens = input - cachedInputTokens - cacheWriteTokens;
  if (Number.isNaN(inputTokens)) return undefined;
  return { inputTokens, cachedInputTokens, cacheWriteTokens, cacheWrite1hTokens: 0, outputTokens };
}

/** The same the other way; null when none was reported, or none that can be true. */
export function usageOf(reported: UsageEvent | undefined): object | null {
  if (!reported || !isCounted(reported.usage)) return null;
  const { usage, reasoningTokens } = reported;
  return {
    input_tokens: inputTokensOf(usage),
    input_tokens_details: {
      cached_tokens: usage.cachedInputTokens,
      cache_write_tokens: usage.cacheWriteTokens + usage.cacheWrite1hTokens,
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens ?? 0 },
    total_tokens: totalTokensOf(usage),
  };
}
