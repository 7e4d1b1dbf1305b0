import type { UsageEvent } from "../../domain/chat-event.ts";
import type { Usage } from "../../domain/usage.ts";
import { isJsonObject, type JsonObject, readArray, readCount, readTotal } from "../json/read.ts";

/**
 * Reads a token usage. Converse counts cached tokens beside `inputTokens`, so that the classes are disjoint;
 * `cacheDetails` tells how many of the written ones stay for an hour. Returns no event without a total.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html
 */
export function readUsageEvents(reported: unknown): readonly UsageEvent[] {
  if (!isJsonObject(reported)) return [];
  const { inputTokens, outputTokens } = reported;
  if (typeof inputTokens !== "number" && typeof outputTokens !== "number") return [];
  return [{ kind: "usage", usage: usageOf(reported), reasoningTokens: undefined }];
}

function usageOf(reported: JsonObject): Usage {
  const written = readCount(reported.cacheWriteInputTokens);
  const detailed = sumByTtl(reported.cacheDetails);
  const cacheWrite1hTokens = detailed.oneHour;
  return {
    inputTokens: readTotal(reported.inputTokens),
    cachedInputTokens: readCount(reported.cacheReadInputTokens),
    // The details may sum to more than the total, or come without it.
    cacheWriteTokens: Math.max(written, detailed.all) - cacheWrite1hTokens,
    cacheWrite1hTokens,
    outputTokens: readTotal(reported.outputTokens),
  };
}

function sumByTtl(details: unknown): { readonly all: number; readonly oneHour: number } {
  let all = 0;
  let oneHour = 0;
  for (const detail of readArray(details)) {
    if (!isJsonObject(detail)) continue;
    const tokens = readCount(detail.inputTokens);
    all += tokens;
    if (detail.ttl === "1h") oneHour += tokens;
  }
  return { all, oneHour };
}

/** A missing total becomes NaN, which the meter replaces by a local count. */
