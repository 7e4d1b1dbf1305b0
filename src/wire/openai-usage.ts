import type { UsageEvent } from "../domain/chat-event.ts";
import { type ModalTokens, modalTokens } from "../domain/modalities.ts";
import { inputTokensOf, isCount, isCounted, totalTokensOf, type Usage } from "../domain/usage.ts";
import { isJsonObject, isSet, type JsonObject, readArray, readCount, readTotal } from "./json/read.ts";

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
    outputDetails: usage.completion_tokens_details,
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

/** The counts of an OpenAI-shaped usage whose names differ between chat and responses. */
interface ReportedTotals {
  readonly input: unknown;
  readonly output: unknown;
  readonly inputDetails: unknown;
  readonly outputDetails: unknown;
  readonly reasoning: number | undefined;
}

/**
 * Splits a usage into disjoint classes; its input includes the tokens read from a cache or written to one.
 * Adds tokens that only `total_tokens` includes. Returns `undefined` if neither total is a number; a single
 * total that is not a number is NaN. Impossible counts are kept.
 */
export function splitUsage(usage: JsonObject, reported: ReportedTotals): Usage | undefined {
  const input = readTotal(reported.input);
  const output = readTotal(reported.output);
  if (Number.isNaN(input) && Number.isNaN(output)) return undefined;
  const details = readDetails(reported.inputDetails);
  const cachedInputTokens = readCachedTokens(usage, details);
  const cacheWriteTokens = readCacheWriteTokens(usage, details);
  const cached = cachedInputTokens + cacheWriteTokens;
  const { reasoning } = reported;
  const extra = findExtraTokens({ input, output, cached, reasoning, total: usage.total_tokens });
  const all = input + extra.input;
  const split = {
    // A host with more cached than input tokens counts them beside the input, so both are charged.
    inputTokens: all >= cached ? all - cached : all,
    cachedInputTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: 0,
    outputTokens: output + extra.output,
  };
  return addModalities(split, details, readDetails(reported.outputDetails));
}

/**
 * Adds the tokens of audio and images that a usage reports apart. Those of the input include the cached ones.
 *
 * @see https://platform.openai.com/docs/api-reference/chat `prompt_tokens_details.audio_tokens`
 */
function addModalities(usage: Usage, input: JsonObject, output: JsonObject): Usage {
  const audio = readModality("audio_tokens", usage, { input, output });
  const image = readModality("image_tokens", usage, { input, output });
  return audio || image ? { ...usage, ...(audio && { audio }), ...(image && { image }) } : usage;
}

function readModality(
  name: "audio_tokens" | "image_tokens",
  { inputTokens, cachedInputTokens }: Usage,
  { input, output }: { readonly input: JsonObject; readonly output: JsonObject },
): ModalTokens | undefined {
  const [all, generated] = [readCount(input[name]), readCount(output[name])];
  if (all === 0 && generated === 0) return undefined;
  const known = readDetails(input.cached_tokens_details)[name];
  // Without a count of its own, only what is more than the uncached input was cached.
  const cached = isSet(known)
    ? readCount(known)
    : Math.min(Math.max(all - inputTokens, 0), cachedInputTokens);
  return modalTokens(all - cached, cached, generated);
}

/** Returns the details of a usage; an empty object if it has none. */
export function readDetails(details: unknown): JsonObject {
  return isJsonObject(details) ? details : {};
}

/**
 * Reads the input tokens that were read from a cache. Hosts use several names and may send 0 beside the true
 * number, so the largest count wins. Anything but a count is ignored: those tokens are charged as input.
 *
 * @see https://platform.moonshot.ai/docs/api/chat `cached_tokens`
 * @see https://api-docs.deepseek.com/guides/kv_cache `prompt_cache_hit_tokens`
 * @see https://docs.mistral.ai/api `num_cached_tokens`, `prompt_token_details`
 * @see https://docs.litellm.ai/docs/completion/prompt_caching `cache_read_input_tokens`
 */
function readCachedTokens(usage: JsonObject, details: JsonObject): number {
  return largestOf([
    details.cached_tokens,
    usage.cached_tokens,
    usage.prompt_cache_hit_tokens,
    usage.num_cached_tokens,
    usage.cache_read_input_tokens,
  ]);
}

/**
 * Reads the input tokens that were written to a cache; the largest count wins.
 *
 * @see https://help.aliyun.com/zh/model-studio/context-cache `cache_creation_input_tokens` in the details
 * @see https://docs.litellm.ai/docs/completion/prompt_caching `cache_creation_tokens`
 */
function readCacheWriteTokens(usage: JsonObject, details: JsonObject): number {
  return largestOf([
    details.cache_write_tokens,
    details.cache_creation_input_tokens,
    details.cache_creation_tokens,
    usage.cache_creation_input_tokens,
  ]);
}

function largestOf(values: readonly unknown[]): number {
  let largest = 0;
  for (const value of values) {
    if (isCount(value) && value > largest) largest = value;
  }
  return largest;
}

/** The counts of a usage before it is split into classes; they may be impossible. */
interface ReportedTokens {
  /** All input tokens, cached ones included. */
  readonly input: number;
  readonly output: number;
  /** Input tokens read from a cache or written to one. */
  readonly cached: number;
  readonly reasoning: number | undefined;
  readonly total: unknown;
}

/** Tokens that are part of the total, but of neither the input nor the output count. */
interface ExtraTokens {
  readonly input: number;
  readonly output: number;
}

const NO_EXTRA_TOKENS: ExtraTokens = { input: 0, output: 0 };

/**
 * Finds tokens that only `total_tokens` includes, from the gap between the total and input plus output. A gap
 * equal to the reasoning is output. Otherwise a gap equal to the cached tokens is input. Any other gap is
 * output, at most the reported reasoning if there is one.
 *
 * @see https://docs.x.ai/docs/key-information/consumption-and-rate-limits xAI counts reasoning in the total alone.
 * @see https://ai.google.dev/gemini-api/docs/openai Gemini reports no number of thinking tokens.
 */
function findExtraTokens({ input, output, cached, reasoning, total }: ReportedTokens): ExtraTokens {
  const gap = isCount(total) ? total - input - output : 0;
  if (!(gap > 0) || input < 0 || output < 0) return NO_EXTRA_TOKENS;
  if (gap === reasoning) return { input: 0, output: gap };
  if (gap === cached) return { input: gap, output: 0 };
  return { input: 0, output: Math.min(gap, reasoning ?? gap) };
}
