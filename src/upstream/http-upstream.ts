import type { Protocol, Surface } from "../domain/model.ts";
import { type ConnectionPools, createPost } from "./bun-fetch.ts";
import type { Health } from "./cooldown.ts";
import type { Upstream, UpstreamCall, UpstreamConfig } from "./upstream.ts";

/**
 * An upstream reached over HTTP. It follows no redirect: calls and credentials go only to the configured
 * host. It accepts no compression, which would delay a stream.
 */
export function createHttpUpstream(
  options: UpstreamConfig,
  { health, pools }: { readonly health: Health; readonly pools: ConnectionPools },
): Upstream {
  const { name, protocol, timeouts, outputLimitField } = options;
  const credentials = credentialHeaders(protocol, options.apiKey);
  const isTls = options.baseUrl.startsWith("https:");
  const post = createPost({ pools: isTls ? pools : undefined, connectMs: timeouts.connectMs });

  return {
    name,
    surfaces: surfacesOf(options),
    timeouts,
    outputLimitField,
    health,
    send(call, observer) {
      const url = `${options.baseUrl}${call.path}${call.query}`;
      return post({ url, headers: { ...requestHeaders(call), ...credentials }, body: call.body }, observer);
    },
  };
}

function requestHeaders(call: UpstreamCall): Record<string, string> {
  return {
    "content-type": "application/json",
    // Prevents chunked encoding of a streamed body, which some hosts refuse.
    "content-length": String(call.body.bytes),
    accept: call.stream ? "text/event-stream" : "application/json",
    "accept-encoding": "identity",
    ...call.headers,
  };
}

function surfacesOf({ protocol, hasResponses }: UpstreamConfig): readonly Surface[] {
  if (protocol === "anthropic") return ["messages"];
  return hasResponses ? ["chat", "embeddings", "responses"] : ["chat", "embeddings"];
}

/**
 * Returns the headers that authenticate a call.
 *
 * @see https://platform.openai.com/docs/api-reference/authentication
 * @see https://docs.anthropic.com/en/api/overview
 */
export function credentialHeaders(protocol: Protocol, apiKey: string): Record<string, string> {
  return protocol === "anthropic" ? { "x-api-key": apiKey } : { authorization: `Bearer ${apiKey}` };
}
