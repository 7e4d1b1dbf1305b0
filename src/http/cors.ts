import { idHeaders, newRequestId } from "./identity.ts";
import type { Handle } from "./routes.ts";

/** The web origins whose pages may read answers: all, or those that are the same to the letter. */
export type CorsOrigins = readonly string[] | "*";

const EXPOSED_HEADERS = [
  ...["x-request-id", "request-id", "retry-after", "x-should-retry"],
  ...["x-tollgate-cost-usd", "x-tollgate-balance-usd", "x-tollgate-max-tokens"],
  ...["x-tollgate-needed-usd", "x-tollgate-available-usd"],
  ...["limit", "remaining", "reset"].flatMap((name) =>
    ["requests", "tokens"].flatMap((what) => [
      `x-ratelimit-${name}-${what}`,
      `anthropic-ratelimit-${what}-${name}`,
    ]),
  ),
].join(", ");

/** A list of header names, as `access-control-request-headers` has it. */
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~ \t,-]{1,4096}$/;
/** How long a browser may keep the answer of a preflight: a reload can take an origin away. */
const PREFLIGHT_MAX_AGE_S = "600";

/**
 * Answers a preflight itself, without a key, and any other request by `handle`; lets pages of the listed origins
 * read the answer and its headers. Credentials are never allowed, so that a browser adds no cookie and no key.
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
  // Also where no origin came: a cache must not hand that answer to a browser.
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

/** Allows whatever headers the page asks for: SDKs send many of their own, and without credentials none is trusted. */
function answerPreflight({ headers: asked }: Request): Response {
  const names = asked.get("access-control-request-headers") ?? "";
  const headers = new Headers({
    ...idHeaders(newRequestId()),
    "access-control-allow-methods": "GET, POST",
    "access-control-max-age": PREFLIGHT_MAX_AGE_S,
  });
  if (HEADER_NAMES.test(names)) headers.set("access-control-allow-headers", names);
  return new Response(null, { status: 204, headers });
}
