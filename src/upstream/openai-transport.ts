import { createCallHeaders } from "./call-headers.ts";
import type { Transport } from "./transport.ts";
import type { UpstreamConfig } from "./upstream.ts";

/**
 * OpenAI, and what imitates its API.
 *
 * @see https://platform.openai.com/docs/api-reference/authentication
 */
export function createOpenaiTransport({ baseUrl, apiKey, hasResponses }: UpstreamConfig): Transport {
  const credentials = { authorization: `Bearer ${apiKey}` };
  const headersOf = createCallHeaders(credentials);
  return {
    surfaces: hasResponses ? ["chat", "embeddings", "responses"] : ["chat", "embeddings"],
    request: (call) => ({ url: `${baseUrl}${call.path}${call.query}`, headers: headersOf(call) }),
    // @see https://platform.openai.com/docs/api-reference/models/list
    probe: () => ({ url: `${baseUrl}/models`, headers: credentials }),
  };
}
