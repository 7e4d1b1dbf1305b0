import type { Model } from "../domain/model.ts";

const GENERATION = ["generateContent", "streamGenerateContent", "countTokens"];
const EMBEDDING = ["embedContent", "batchEmbedContents"];

/** Prints all models at once: clients follow a page token only where there is one. */
export function printGeminiList(models: readonly Model[]): object {
  return { models: models.map(printGeminiModel) };
}

/**
 * Prints a model in Google's form.
 *
 * @see https://ai.google.dev/api/models
 */
export function printGeminiModel({ id, contextWindow, outputTokensMax, can }: Model): object {
  return {
    name: `models/${id}`,
    baseModelId: id,
    version: "1",
    displayName: id,
    inputTokenLimit: contextWindow,
    outputTokenLimit: outputTokensMax,
    supportedGenerationMethods: outputTokensMax === 0 ? EMBEDDING : GENERATION,
    ...(can ? { thinking: can.includes("reasoning") } : {}),
  };
}
