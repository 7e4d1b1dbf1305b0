import type { UsageEvent } from "../../domain/chat-event.ts";
import { type ModalTokens, modalTokens } from "../../domain/modalities.ts";
import { inputTokensOf, isCount, isCounted, totalTokensOf, type Usage } from "../../domain/usage.ts";
import { isJsonObject, type JsonObject, readArray, readCount } from "../json/read.ts";

/**
 * Returns the usage of a `usageMetadata`; `undefined` for anything but an object with a prompt count.
 *
 * @see https://ai.google.dev/api/generate-content#UsageMetadata
 */
export function readUsageEvent(reported: unknown): UsageEvent | undefined {
  if (!isJsonObject(reported) || typeof reported.promptTokenCount !== "number") return undefined;
  const { thoughtsTokenCount: thoughts } = reported;
  const reasoningTokens = isCount(thoughts) ? thoughts : undefined;
  return { kind: "usage", usage: readUsage(reported), reasoningTokens };
}

/**
 * Splits the counts into disjoint classes: the prompt includes the cached tokens, and the candidates exclude
 * the thoughts. Counts of 0 are omitted on the wire. Impossible counts are kept.
 */
function readUsage(reported: JsonObject): Usage {
  const prompt = readCount(reported.promptTokenCount);
  const toolResults = readCount(reported.toolUsePromptTokenCount);
  const cached = isCount(reported.cachedContentTokenCount) ? reported.cachedContentTokenCount : 0;
  // More cached than prompt tokens were counted beside the prompt, so both are charged.
  const uncached = prompt >= cached ? prompt - cached : prompt;
  const [audio, image] = [readModality(reported, "AUDIO"), readModality(reported, "IMAGE")];
  return {
    ...(audio && { audio }),
    ...(image && { image }),
    inputTokens: uncached + toolResults,
    cachedInputTokens: cached,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    outputTokens: readOutput(reported, prompt + toolResults),
  };
}

/** Reads the tokens of one modality. Those of the prompt include the cached ones. */
function readModality(reported: JsonObject, modality: "AUDIO" | "IMAGE"): ModalTokens | undefined {
  const count = (list: unknown) => {
    const found = readArray(list).find((each) => isJsonObject(each) && each.modality === modality);
    return isJsonObject(found) ? readCount(found.tokenCount) : 0;
  };
  const [prompt, cached] = [count(reported.promptTokensDetails), count(reported.cacheTokensDetails)];
  return modalTokens(prompt - cached, cached, count(reported.candidatesTokensDetails));
}

/** Some models report thoughts in the total alone, so what exceeds the input there is output. */
function readOutput(reported: JsonObject, input: number): number {
  const output = readCount(reported.candidatesTokenCount) + readCount(reported.thoughtsTokenCount);
  const { totalTokenCount: total } = reported;
  return isCount(total) && total - input > output && input >= 0 ? total - input : output;
}

/** Prints a usage as `usageMetadata`; `undefined` for an unknown or uncountable one. */
export function printUsage(event: UsageEvent | undefined): object | undefined {
  if (!event || !isCounted(event.usage)) return undefined;
  const { usage, reasoningTokens = 0 } = event;
  const thoughts = Math.min(reasoningTokens, usage.outputTokens);
  return {
    promptTokenCount: inputTokensOf(usage),
    candidatesTokenCount: usage.outputTokens - thoughts,
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
    ...(usage.cachedInputTokens > 0 && { cachedContentTokenCount: usage.cachedInputTokens }),
    totalTokenCount: totalTokensOf(usage),
  };
}
