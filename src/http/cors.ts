import { idHeaders, newRequestId } from "./identity.ts";
import type { Handle } from "./routes.ts";

/** Web origins whose pages may read responses: all, or those listed, compared exactly. */
export type CorsOrigins = readonly string[] | "*";

const EXPOSED_HEADERS = [
  ...["x-request-id", "request-id", "retry-after", "x-should-retry"],
  ...["x-tollgate-cost-usd", "x-tollgate-balance-usd", "x-tollgate-max-tokens", "x-tollgate-recorded"],
  ...["x-tollgate-needed-usd", "x-tollgate-available-usd", "x-tollgate-limit"],
  ...["limit", "remaining", "reset"].flatMap((name) =>
    ["requests", "tokens"].flatMap((what) => [
      `x-ratelimit-${name}-${what}`,
      `anthropic-ratelimit-${what}-${name}`,
    ]),
  ),
].join(", ");

/** A list of header names, as in `access-control-request-headers`. */
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~ \t,-]{1,4096}$/;
/** How long a browser may cache a preflight response: a reload can remove an origin. */
const PREFLIGHT_MAX_AGE_S = "600";

/**
 * Responds to a preflight, which has no key, and passes any other request to `handle`. Lets pages of allowed
 * origins read the response and its headers. Never allows credentials, so that a browser adds no cookies.
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
export async function answerBrowser(
  request: Request,
  origins: CorsOrigins,
  handle: Handle,
): Promise<Response> {
  const origin = allowedOrigin(request, origins);
  const response = origin && isPreflight(request) ? answerPreflight(request) : await handle(request);
  const { headers } = response;
  if (origin) {
    headers.set("access-control-allow-origin", origin);
    headers.set("access-control-expose-headers", EXPOSED_HEADERS);
  }
  // Also without an origin: a cache must not serve that response to a browser.
  if (origins !== "*") headers.append("vary", "origin");
  return response;
}

function allowedOrigin({ headers }: Request, origins: CorsOrigins): string | undefined {
  const origin = headers.get("origin");
  if (origin === null) return undefined;
  if (origins === "*") return "*";
  return origins.includes(origin) ? origin : undefined;
}

function isPreflight({ method, headers }: Request): boolean {
  return method === "OPTIONS" && headers.has("access-control-request-method");
}

/** Allows every requested header: SDKs send many of their own, and none is trusted without credentials. */
function answerPreflight({ headers: requested }: Request): Response {
  const names = requested.get("access-control-request-headers") ?? "";
  const headers = new Headers({
    ...idHeaders(newRequestId()),
    "access-control-allow-methods": "GET, POST",
    "access-control-max-age": PREFLIGHT_MAX_AGE_S,
  });
  if (HEADER_NAMES.test(names)) headers.set("access-control-allow-headers", names);
  return new Response(null, { status: 204, headers });
}
