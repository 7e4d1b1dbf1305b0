import type { UsageEvent } from "../../../domain/chat-event.ts";
import { isCount, isCounted, NO_USAGE, type Usage } from "../../../domain/usage.ts";

/**
 * Prints usage; an input that was not counted is guessed, and its output is 0. What cannot be true counts
 * as not reported, as it does on the bill.
 */
export function printUsage(event: UsageEvent | undefined, guessedInputTokens: number) {
  const usage = event && isCounted(event.usage) ? event.usage : undefined;
  if (!usage)
    return { ...printCounts({ ...NO_USAGE, inputTokens: guessedInputTokens }), cache_creation: null };
  const thinkingTokens = event?.reasoningTokens;
  return {
    ...printCounts(usage),
    ...(isCount(thinkingTokens) && { output_tokens_details: { thinking_tokens: thinkingTokens } }),
  };
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
