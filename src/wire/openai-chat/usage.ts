import type { UsageEvent } from "../../domain/chat-event.ts";
import { inputTokensOf, isCount, isCounted, totalTokensOf, type Usage } from "../../domain/usage.ts";
import { isJsonObject, isSet, type JsonObject, readArray } from "../json/read.ts";
import { splitUsage } from "../openai-usage.ts";

/**
 * Reads a usage with {@link splitUsage}; `undefined` for anything but an object.
 *
 * @see https://platform.openai.com/docs/api-reference/chat
 */
export function readUsage(usage: unknown): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  return splitUsage(usage, {
    input: usage.prompt_tokens,
    output: usage.completion_tokens,
    inputDetails: usage.prompt_tokens_details ?? usage.prompt_token_details,
    reasoning: readReasoningTokens(usage),
  });
}

/**
 * Returns the usage of a chunk. Some hosts put it into the finishing choice or into a member of their own.
 *
 * @see https://platform.moonshot.ai/docs/api/chat `choices[0].usage`
 * @see https://console.groq.com/docs/api-reference `x_groq.usage`
 */
export function usageOfChunk({ usage, choices, x_groq: groq }: JsonObject): unknown {
  if (isSet(usage)) return usage;
  const [choice] = readArray(choices);
  if (isJsonObject(choice) && isJsonObject(choice.usage)) return choice.usage;
  return isJsonObject(groq) ? groq.usage : undefined;
}

/**
 * Returns the usage event of a reported usage, with its reasoning tokens; no event for an unreadable usage.
 */
export function readUsageEvents(reported: unknown): readonly UsageEvent[] {
  const usage = readUsage(reported);
  if (usage === undefined || !isJsonObject(reported)) return [];
  return [{ kind: "usage", usage, reasoningTokens: readReasoningTokens(reported) }];
}

function readReasoningTokens({ completion_tokens_details: details }: JsonObject): number | undefined {
  const tokens = isJsonObject(details) ? details.reasoning_tokens : undefined;
  return isCount(tokens) ? tokens : undefined;
}

/** Prints the usage for clients; `undefined` if none was reported or a count is impossible. */
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
