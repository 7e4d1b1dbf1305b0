import type { UsageEvent } from "../../domain/chat-event.ts";
import { inputTokensOf, isCount, isCounted, totalTokensOf, type Usage } from "../../domain/usage.ts";
import { isJsonObject, readCount } from "../json-read.ts";

/**
 * OpenAI counts cached and cache-written tokens inside `prompt_tokens`; ours are disjoint, so they come
 * out. Numbers are taken as they are, even absurd ones; `undefined` when one is no number.
 */
export function readUsage(usage: unknown): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const { prompt_tokens: prompt, completion_tokens: completion, prompt_tokens_details: details } = usage;
  if (typeof prompt !== "number" || typeof completion !== "number") return undefined;
  const { cached_tokens, cache_write_tokens } = isJsonObject(details) ? details : {};
  const cachedInputTokens = readCount(cached_tokens ?? usage.prompt_cache_hit_tokens);
  const cacheWriteTokens = readCount(cache_write_tokens);
  const inputTokens = prompt - cachedInputTokens - cacheWriteTokens;
  if (Number.isNaN(inputTokens)) return undefined;
  return {
    inputTokens,
    cachedInputTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: 0,
    outputTokens: completion,
  };
}

/** The same with how much of the output was reasoning: no event, or one. */
export function readUsageEvents(reported: unknown): readonly UsageEvent[] {
  const usage = readUsage(reported);
  if (usage === undefined) return [];
  const details = isJsonObject(reported) && reported.completion_tokens_details;
  const tokens = isJsonObject(details) ? details.reasoning_tokens : undefined;
  return [{ kind: "usage", usage, reasoningTokens: isCount(tokens) ? tokens : undefined }];
}

/** The usage as clients know it; `undefined` when nobody reported any, or none that can be true. */
export function printUsage(event: UsageEvent | undefined): object | undefined {
  if (!event || !isCounted(event.usage)) return undefined;
  const { usage, reasoningTokens } = event;
  return {
    prompt_tokens: inputTokensOf(usage),
    completion_tokens: usage.outputTokens,
    total_tokens: totalTokensOf(usage),
    prompt_tokens_details: {
      cached_tokens: usage.cachedInputTokens,
      cache_write_tokens: usage.cacheWriteTokens + usage.cacheWrite1hTokens,
      audio_tokens: 0,
    },
    ...(reasoningTokens !== undefined && {
      completion_tokens_details: {
        reasoning_tokens: reasoningTokens,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
    }),
  };
}
