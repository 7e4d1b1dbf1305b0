import type { EmbeddingsFormat } from "../format.ts";
import { readPromptTooLong } from "../google-gemini/egress/read-answer.ts";
import { modelPath } from "../google-gemini/path.ts";
import { isJsonObject, type JsonObject, readArray } from "../json/read.ts";
import type { EmbeddingsCodec, EmbeddingsRequest } from "./codec.ts";
import { readAnswer, readVector, sumOfCounts } from "./vectors.ts";

const GEMINI_TEXTS_MAX = 100;
const VERTEX_TEXTS_MAX = 250;

/** The Gemini API takes many requests at once, in the order of their vectors. */
const geminiCodec: EmbeddingsCodec = {
  textsMax: () => GEMINI_TEXTS_MAX,
  printRequest: ({ texts, dimensions, taskType }, model) =>
    JSON.stringify({
      requests: texts.map((text) => ({
        model: model.includes("/") ? model : `models/${model}`,
        content: { parts: [{ text }] },
        ...(taskType !== undefined && { taskType }),
        ...(dimensions !== undefined && { outputDimensionality: dimensions }),
      })),
    }),
  readReply(text) {
    const answer = readAnswer(text);
    const embeddings = readArray(answer.embeddings);
    return {
      vectors: embeddings.map((each) => readVector(isJsonObject(each) && each.values)),
      ...usageOf(answer),
    };
  },
};

/**
 * Embeddings of the Gemini API.
 *
 * @see https://ai.google.dev/api/embeddings#method:-models.batchembedcontents
 */
export const geminiEmbeddings: EmbeddingsFormat = {
  surface: "gemini_embeddings",
  upstreamPath: ({ model }) => `/${modelPath(model)}:batchEmbedContents`,
  headers: {},
  forwardedHeaders: [],
  egress: undefined,
  embeddings: geminiCodec,
  readPromptTooLong,
};

/** Whether a model takes the content of one text instead of a list of instances. */
function takesContent(model: string): boolean {
  return /(^|\/)gemini-embedding-(?!001)/.test(model);
}

const vertexCodec: EmbeddingsCodec = {
  textsMax: (model) => (/(^|\/)gemini-embedding/.test(model) ? 1 : VERTEX_TEXTS_MAX),
  // A body of several texts stays a list, which Google refuses where it takes one content.
  printRequest: (request, model) =>
    JSON.stringify(
      takesContent(model) && request.texts.length === 1 ? contentOf(request) : instancesOf(request),
    ),
  readReply(text) {
    const answer = readAnswer(text);
    if (answer.embedding !== undefined) {
      const { embedding } = answer;
      return { vectors: [readVector(isJsonObject(embedding) && embedding.values)], ...usageOf(answer) };
    }
    const embeddings = readArray(answer.predictions).map((each) =>
      isJsonObject(each) && isJsonObject(each.embeddings) ? each.embeddings : {},
    );
    const counts = embeddings.map(({ statistics }) => isJsonObject(statistics) && statistics.token_count);
    return {
      vectors: embeddings.map(({ values }) => readVector(values)),
      inputTokens: sumOfCounts(counts),
    };
  },
};

/**
 * Embeddings of Vertex AI: a list of instances, or one content for newer models. A text that is too long is an
 * error, as it is at OpenAI.
 *
 * @see https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api
 */
export const vertexEmbeddings: EmbeddingsFormat = {
  surface: "vertex_embeddings",
  upstreamPath: ({ model }) => `/${modelPath(model)}:${takesContent(model) ? "embedContent" : "predict"}`,
  headers: {},
  forwardedHeaders: [],
  egress: undefined,
  embeddings: vertexCodec,
  readPromptTooLong,
};

function contentOf({ texts: [text], dimensions, taskType }: EmbeddingsRequest): object {
  return {
    content: { parts: [{ text }] },
    embedContentConfig: {
      autoTruncate: false,
      ...(taskType !== undefined && { taskType }),
      ...(dimensions !== undefined && { outputDimensionality: dimensions }),
    },
  };
}

function instancesOf({ texts, dimensions, taskType }: EmbeddingsRequest): object {
  return {
    instances: texts.map((content) => ({ content, ...(taskType !== undefined && { task_type: taskType }) })),
    parameters: {
      autoTruncate: false,
      ...(dimensions !== undefined && { outputDimensionality: dimensions }),
    },
  };
}

/** Some versions report no usage; it is counted locally then. */
function usageOf({ usageMetadata: usage }: JsonObject): { readonly inputTokens: number | undefined } {
  const tokens = isJsonObject(usage) ? (usage.promptTokenCount ?? usage.totalTokenCount) : undefined;
  return { inputTokens: typeof tokens === "number" ? tokens : undefined };
}
