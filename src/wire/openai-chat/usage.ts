import type { Usage } from "../../domain/usage.ts";
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
