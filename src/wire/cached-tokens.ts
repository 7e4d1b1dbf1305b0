import { isCount } from "../domain/usage.ts";
import { isJsonObject, type JsonObject } from "./json/read.ts";

/**
 * Input tokens that an OpenAI-shaped usage reports as read from a cache. Hosts spell them in several ways and may print
 * a zero beside the true number, so the largest counts. What is no count says nothing: those tokens are paid as input.
 *
 * @see https://platform.moonshot.ai/docs/api/chat `cached_tokens`
 * @see https://api-docs.deepseek.com/guides/kv_cache `prompt_cache_hit_tokens`
 * @see https://docs.mistral.ai/api `num_cached_tokens`, `prompt_token_details`
 * @see https://docs.litellm.ai/docs/completion/prompt_caching `cache_read_input_tokens`
 */
export function readCachedTokens(usage: JsonObject, details: JsonObject): number {
  return largestOf([
    details.cached_tokens,
    usage.cached_tokens,
    usage.prompt_cache_hit_tokens,
    usage.num_cached_tokens,
    usage.cache_read_input_tokens,
  ]);
}

/**
 * Input tokens reported as written to a cache, likewise.
 *
 * @see https://help.aliyun.com/zh/model-studio/context-cache `cache_creation_input_tokens` among the details
 * @see https://docs.litellm.ai/docs/completion/prompt_caching `cache_creation_tokens`
 */
export function readCacheWriteTokens(usage: JsonObject, details: JsonObject): number {
  return largestOf([
    details.cache_write_tokens,
    details.cache_creation_input_tokens,
    details.cache_creation_tokens,
    usage.cache_creation_input_tokens,
  ]);
}

/** A usage's details as an object: empty when the usage has none. */
export function readDetails(details: unknown): JsonObject {
  return isJsonObject(details) ? details : {};
}

function largestOf(values: readonly unknown[]): number {
  let largest = 0;
  for (const value of values) {
    if (isCount(value) && value > largest) largest = value;
  }
  return largest;
}
