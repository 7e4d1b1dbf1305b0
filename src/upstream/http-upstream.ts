import type { Protocol } from "../domain/model.ts";
import type { Upstream, UpstreamCall, UpstreamTimeouts } from "./upstream.ts";

export interface HttpUpstreamOptions {
  readonly name: string;
  readonly protocol: Protocol;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly timeouts: UpstreamTimeouts;
  readonly outputLimitField: "max_tokens" | "max_completion_tokens" | undefined;
}

/**
 * An upstream reached over HTTP. Follows no redirect, so that a call and its credentials go to the
 * operator's host and nowhere else; asks for no compression, which would only delay a stream.
 */
export function createHttpUpstream(options: HttpUpstreamOptions): Upstream {
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
