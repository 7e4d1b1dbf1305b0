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
  const headersOf = createHeaders(credentials);
  const isTls = options.baseUrl.startsWith("https:");
  const post = createPost({ pools: isTls ? pools : undefined, connectMs: timeouts.connectMs });

  return {
    name,
    address: addressOf(options.baseUrl),
    surfaces: surfacesOf(options),
    timeouts,
    outputLimitField,
    health,
    send(call, observer) {
      const url = `${options.baseUrl}${call.path}${call.query}`;
      return post({ url, headers: headersOf(call), body: call.body }, observer);
    },
  };
}

/** Headers are prepared for the calls that forward none of the client: `fetch` reads a record more slowly. */
function createHeaders(credentials: Readonly<Record<string, string>>): (call: UpstreamCall) => Headers {
  const whole = new Headers({ ...requestHeaders("application/json"), ...credentials });
  const streamed = new Headers({ ...requestHeaders("text/event-stream"), ...credentials });
  return ({ stream, headers }) => {
    const prepared = stream ? streamed : whole;
    let own: Headers | undefined;
    for (const name in headers) {
      own ??= new Headers(prepared);
      own.set(name, headers[name] ?? "");
    }
    if (!own) return prepared;
    for (const name in credentials) own.set(name, credentials[name] ?? "");
    return own;
  };
}

function requestHeaders(accept: string): Record<string, string> {
  return { "content-type": "application/json", accept, "accept-encoding": "identity" };
}

function addressOf(baseUrl: string) {
  const { hostname, port, protocol } = new URL(baseUrl);
  return { host: hostname, port: Number(port) || (protocol === "https:" ? 443 : 80) };
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
