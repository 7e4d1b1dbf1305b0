import { createCallHeaders } from "./call-headers.ts";
import { readGoogleAnswer } from "./google-errors.ts";
import type { Transport } from "./transport.ts";
import type { UpstreamConfig } from "./upstream.ts";

/**
 * Google's Gemini API.
 *
 * @see https://ai.google.dev/gemini-api/docs/api-key
 */
export function createGeminiTransport({ baseUrl, apiKey }: UpstreamConfig): Transport {
  const credentials = { "x-goog-api-key": apiKey };
  const headersOf = createCallHeaders(credentials);
  return {
    surfacesOf: () => ["gemini"],
    request: (call) => ({ url: baseUrl + call.path, headers: headersOf(call) }),
    readAnswer: readGoogleAnswer,
    // @see https://ai.google.dev/api/models#method:-models.list
    probe: () => ({ url: `${baseUrl}/models?pageSize=1`, headers: credentials }),
  };
}
