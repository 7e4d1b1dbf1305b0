import { isCount, NO_USAGE, type Usage } from "../domain/usage.ts";
import { isJsonObject, readCount } from "./json/read.ts";

/**
 * Reads a usage all of which is input, as embeddings and rerankers report. Tokens that only `total_tokens`
 * includes are input too: some hosts count images that way. Impossible counts are kept; `undefined` if no
 * count is a number.
 *
 * @see https://platform.openai.com/docs/api-reference/embeddings
 */
export function readInputUsage(usage: unknown): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage;
  const inputTokens = typeof prompt === "number" ? prompt : total;
  if (typeof inputTokens !== "number") return undefined;
  const gap = isCount(total) ? total - readCount(completion) - inputTokens : 0;
  return { ...NO_USAGE, inputTokens: inputTokens >= 0 && gap > 0 ? inputTokens + gap : inputTokens };
}
