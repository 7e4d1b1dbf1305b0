import type { Protocol } from "../domain/model.ts";
import type { Upstream, UpstreamCall, UpstreamConfig } from "./upstream.ts";

/**
 * An upstream reached over HTTP. Follows no redirect, so that a call and its credentials go to the
 * operator's host and nowhere else; asks for no compression, which would only delay a stream.
 */
export function createHttpUpstream(options: UpstreamConfig): Upstream {
  const { name, protocol, timeouts, outputLimitField } = options;
  const credentials = credentialHeaders(protocol, options.apiKey);
  return {
    name,
    protocols: [protocol],
    timeouts,
    outputLimitField,
    send: (call, signal) =>
      fetch(`${options.baseUrl}${call.path}${call.query}`, {
        method: "POST",
        headers: { ...requestHeaders(call), ...credentials },
        body: call.body,
        signal,
        redirect: "manual",
        // Off, because our own watch over the attempt has the true limits and Bun's has a 4 s grain.
        timeout: false,
      }),
  };
}

function requestHeaders(call: UpstreamCall): Record<string, string> {
  return {
    "content-type": "application/json",
    accept: call.stream ? "text/event-stream" : "application/json",
    "accept-encoding": "identity",
    ...call.headers,
  };
}

/** How an upstream of a protocol wants to be told the key. */
export function credentialHeaders(protocol: Protocol, apiKey: string): Record<string, string> {
  return protocol === "anthropic" ? { "x-api-key": apiKey } : { authorization: `Bearer ${apiKey}` };
}
