import { createCallHeaders } from "./call-headers.ts";
import type { Transport } from "./transport.ts";
import type { UpstreamConfig } from "./upstream.ts";

const SURFACES = ["messages"] as const;

/**
 * Anthropic, and what imitates its API.
 *
 * @see https://docs.anthropic.com/en/api/overview
 */
export function createAnthropicTransport({ baseUrl, apiKey }: UpstreamConfig): Transport {
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
