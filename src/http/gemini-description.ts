import type { V1Route } from "./v1-routes.ts";

const CONTENTS = [{ role: "user", parts: [{ text: "Hello" }] }];
const CONTENT = { parts: [{ text: "Hello" }] };
const MODEL = {
  name: "models/demo",
  baseModelId: "demo",
  version: "1",
  displayName: "demo",
  inputTokenLimit: 200_000,
  outputTokenLimit: 32_000,
  supportedGenerationMethods: ["generateContent", "streamGenerateContent", "countTokens"],
};
const USAGE = { promptTokenCount: 9, candidatesTokenCount: 2, totalTokenCount: 11 };
const ANSWER = {
  candidates: [{ content: { parts: [{ text: "Hello!" }], role: "model" }, finishReason: "STOP", index: 0 }],
  usageMetadata: USAGE,
  modelVersion: "demo",
  responseId: "01a20379",
};

/** The routes in Google's form, for the description. */
export const GEMINI_ROUTES: readonly V1Route[] = [
  {
    method: "post",
    path: "/v1beta/models/{model}:generateContent",
    summary: "Generate content",
    text: "Gemini's own form, for every model. Also below `/v1/models`.",
    surface: "gemini",
    example: { contents: CONTENTS },
    answer: ANSWER,
  },
  {
    method: "post",
    path: "/v1beta/models/{model}:streamGenerateContent",
    summary: "Stream content",
    text: "Events with `?alt=sse`, and one JSON array without.",
    surface: "gemini",
    example: { contents: CONTENTS },
    isStreamed: true,
  },
  {
    method: "post",
    path: "/v1beta/models/{model}:countTokens",
    summary: "Count the tokens of contents",
    text: "Nothing is charged.",
    surface: "gemini",
    example: { contents: CONTENTS },
    answer: { totalTokens: 9 },
  },
  {
    method: "post",
    path: "/v1beta/models/{model}:embedContent",
    summary: "Embed a text",
    text: "Priced as `/v1/embeddings`.",
    surface: "gemini",
    example: { content: CONTENT },
    answer: { embedding: { values: [0.0123, -0.0456] } },
  },
  {
    method: "post",
    path: "/v1beta/models/{model}:batchEmbedContents",
    summary: "Embed several texts",
    text: "One price for all, as of `/v1/embeddings` with several texts.",
    surface: "gemini",
    example: { requests: [{ content: CONTENT }] },
    answer: { embeddings: [{ values: [0.0123, -0.0456] }] },
  },
  {
    method: "get",
    path: "/v1beta/models",
    summary: "List the models in Google's form",
    text: "Models that the key may use. `/v1/models` answers so to clients that send `x-goog-api-key`.",
    surface: "gemini",
    answer: { models: [MODEL] },
  },
  {
    method: "get",
    path: "/v1beta/models/{model}",
    summary: "Read one model in Google's form",
    text: "404 also for a model that the key may not use.",
    surface: "gemini",
    answer: MODEL,
  },
];
