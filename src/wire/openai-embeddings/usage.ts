import { NO_USAGE, type Usage } from "../../domain/usage.ts";
import { isJsonObject } from "../json-read.ts";

/** Embeddings are all input, whatever else a host says. Numbers are taken as they are, even absurd ones. */
export function readUsage(usage: unknown): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const inputTokens = usage.prompt_tokens ?? usage.total_tokens;
  return typeof inputTokens === "number" ? { ...NO_USAGE, inputTokens } : undefined;
}
