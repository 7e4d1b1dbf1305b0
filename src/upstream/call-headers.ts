import type { UpstreamCall } from "./upstream.ts";

/** Returns the headers of a call. */
type CallHeaders = (call: Pick<UpstreamCall, "stream" | "headers">) => Headers;

/**
 * Returns a function that makes the headers of a call. Headers are prepared for the calls that forward none of
 * the client: `fetch` reads a record more slowly. Credentials override headers of the client.
 */
export function createCallHeaders(credentials: Readonly<Record<string, string>>): CallHeaders {
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

/** Returns a function that makes the headers of a call with a token; prepares them once for each token. */
export function createTokenHeaders(): (token: string, call: UpstreamCall) => Headers {
  let prepared: { readonly token: string; readonly headersOf: CallHeaders } | undefined;
  return (token, call) => {
    if (prepared?.token !== token) {
      prepared = { token, headersOf: createCallHeaders({ authorization: `Bearer ${token}` }) };
    }
    return prepared.headersOf(call);
  };
}

/** Accepts no compression, which would delay a stream. */
function requestHeaders(accept: string): Record<string, string> {
  return { "content-type": "application/json", accept, "accept-encoding": "identity" };
}
