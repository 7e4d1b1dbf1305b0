import type { UsageEvent } from "../../domain/chat-event.ts";
import { inputTokensOf, isCount, isCounted, totalTokensOf, type Usage } from "../../domain/usage.ts";
import { isJsonObject } from "../json/read.ts";
import { readDetails, splitUsage } from "../openai-usage.ts";

/**
 * Reads the usage of a response as {@link splitUsage} does. Returns `undefined` when it is not an object.
 *
 * @see https://platform.openai.com/docs/api-reference/responses
 */
export function readUsage(usage: unknown): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const { reasoning_tokens: reasoning } = readDetails(usage.output_tokens_details);
  return splitUsage(usage, {
    input: usage.input_tokens,
    output: usage.output_tokens,
    inputDetails: usage.input_tokens_details,
    reasoning: isCount(reasoning) ? reasoning : undefined,
  });
}

/** Returns usage for a client, or null when the upstream reported none or implausible counts. */
export function printUsage(reported: UsageEvent | undefined): object | null {
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
