import { createCallHeaders } from "./call-headers.ts";
import type { Transport } from "./transport.ts";
import type { UpstreamConfig } from "./upstream.ts";

const SURFACES = [
  "chat",
  "embeddings",
  "rerank",
  "moderations",
  "images",
  "speech",
  "transcriptions",
] as const;
const WITH_RESPONSES = [...SURFACES, "responses", "compact"] as const;

/**
 * OpenAI, and what imitates its API.
 *
 * @see https://platform.openai.com/docs/api-reference/authentication
 */
export function createOpenaiTransport({ baseUrl, apiKey, hasResponses }: UpstreamConfig): Transport {
  const credentials = { authorization: `Bearer ${apiKey}` };
  const surfaces = hasResponses ? WITH_RESPONSES : SURFACES;
  const headersOf = createCallHeaders(credentials);
  return {
    surfacesOf: () => surfaces,
    request: (call) => ({ url: `${baseUrl}${call.path}${call.query}`, headers: headersOf(call) }),
    // @see https://platform.openai.com/docs/api-reference/models/list
    probe: () => ({ url: `${baseUrl}/models`, headers: credentials }),
  };
}
