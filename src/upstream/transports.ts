import { createAzureTransport } from "./azure-transport.ts";
import { createBedrockTransport } from "./bedrock-transport.ts";
import { createCallHeaders } from "./call-headers.ts";
import { readGoogleAnswer } from "./google-errors.ts";
import type { Transport } from "./transport.ts";
import type { OpenaiConfig, PlainConfig, UpstreamConfig } from "./upstream.ts";
import { createVertexTransport } from "./vertex-transport.ts";

/** Creates the transport of an upstream, by its protocol. */
export function createTransport(config: UpstreamConfig): Transport {
  switch (config.protocol) {
    case "openai":
      return createOpenaiTransport(config);
    case "anthropic":
      return createAnthropicTransport(config);
    case "azure":
      return createAzureTransport(config);
    case "bedrock":
      return createBedrockTransport(config);
    case "gemini":
      return createGeminiTransport(config);
    case "vertex":
      return createVertexTransport(config);
  }
}

const SURFACES = ["messages"] as const;

/**
 * Anthropic, and what imitates its API.
 *
 * @see https://docs.anthropic.com/en/api/overview
 */
function createAnthropicTransport({ baseUrl, apiKey }: PlainConfig): Transport {
  const credentials = { "x-api-key": apiKey };
  const headersOf = createCallHeaders(credentials);
  return {
    surfacesOf: () => SURFACES,
    request: (call) => ({ url: `${baseUrl}${call.path}${call.query}`, headers: headersOf(call) }),
    // @see https://docs.anthropic.com/en/api/models-list
    probe: () => ({
      url: `${baseUrl}/v1/models`,
      headers: { "anthropic-version": "2023-06-01", ...credentials },
    }),
  };
}

const GEMINI_SURFACES = ["gemini", "gemini_embeddings"] as const;

/**
 * Google's Gemini API.
 *
 * @see https://ai.google.dev/gemini-api/docs/api-key
 */
function createGeminiTransport({ baseUrl, apiKey }: PlainConfig): Transport {
  const credentials = { "x-goog-api-key": apiKey };
  const headersOf = createCallHeaders(credentials);
  return {
    surfacesOf: () => GEMINI_SURFACES,
    request: (call) => ({ url: baseUrl + call.path, headers: headersOf(call) }),
    readAnswer: readGoogleAnswer,
    // @see https://ai.google.dev/api/models#method:-models.list
    probe: () => ({ url: `${baseUrl}/models?pageSize=1`, headers: credentials }),
  };
}

const OPENAI_SURFACES = [
  "chat",
  "embeddings",
  "rerank",
  "moderations",
  "images",
  "image_edits",
  "image_variations",
  "speech",
  "transcriptions",
  "translations",
] as const;
const WITH_RESPONSES = [...OPENAI_SURFACES, "responses", "compact"] as const;

/**
 * OpenAI, and what imitates its API.
 *
 * @see https://platform.openai.com/docs/api-reference/authentication
 */
function createOpenaiTransport({ baseUrl, apiKey, hasResponses }: OpenaiConfig): Transport {
  const credentials = { authorization: `Bearer ${apiKey}` };
  const surfaces = hasResponses ? WITH_RESPONSES : OPENAI_SURFACES;
  const headersOf = createCallHeaders(credentials);
  return {
    surfacesOf: () => surfaces,
    request: (call) => ({ url: `${baseUrl}${call.path}${call.query}`, headers: headersOf(call) }),
    // @see https://platform.openai.com/docs/api-reference/models/list
    probe: () => ({ url: `${baseUrl}/models`, headers: credentials }),
  };
}
