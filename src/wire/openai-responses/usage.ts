import type { UsageEvent } from "../../domain/chat-event.ts";
import { inputTokensOf, isCount, isCounted, totalTokensOf, type Usage } from "../../domain/usage.ts";
import { readCachedTokens, readCacheWriteTokens, readDetails } from "../cached-tokens.ts";
import { isJsonObject } from "../json-read.ts";
import { findOutsideTokens } from "../outside-tokens.ts";

/**
 * Reads a usage into disjoint classes: `input_tokens` holds cached and cache-written tokens too. Adds tokens that only
 * `total_tokens` shows. Absurd numbers stay as they are; `undefined` when one is no number.
 */
export function readUsage(usage: unknown): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const { input_tokens: input, output_tokens: output, total_tokens: total } = usage;
  if (typeof input !== "number" || typeof output !== "number") return undefined;
  const details = readDetails(usage.input_tokens_details);
  const cachedInputTokens = readCachedTokens(usage, details);
  const cacheWriteTokens = readCacheWriteTokens(usage, details);
  const cached = cachedInputTokens + cacheWriteTokens;
  const { reasoning_tokens: tokens } = readDetails(usage.output_tokens_details);
  const reasoning = isCount(tokens) ? tokens : undefined;
  const outside = findOutsideTokens({ input, output, cached, reasoning, total });
  const inputTokens = input + outside.input - cached;
  if (Number.isNaN(inputTokens)) return undefined;
  const outputTokens = output + outside.output;
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
