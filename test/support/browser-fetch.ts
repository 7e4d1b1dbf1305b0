/** A `fetch` of a browser page. The response lacks the headers that CORS hides from the page. */
export type PageFetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

const SAFE_REQUEST_HEADERS = new Set(["accept", "accept-language", "content-language", "range"]);
const SAFE_RESPONSE_HEADERS = [
  ...[
    "cache-control",
    "content-language",
    "content-length",
    "content-type",
    "expires",
    "last-modified",
    "pragma",
  ],
];

/**
 * Fetches as a browser does for a page of `origin`: sends a preflight, omits credentials, and hides the
 * headers that are not exposed. Rejects with a TypeError where a browser does.
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
export function pageFetch(origin: string): PageFetch {
  return async (url, init) => {
    const request = new Request(url, init);
    await askFirst(request, origin);
    request.headers.set("origin", origin);
    const response = await fetch(request);
    requireOrigin(response, origin);
    const exposed = listOf(response.headers.get("access-control-expose-headers"));
    const readable = new Set([...SAFE_RESPONSE_HEADERS, ...exposed]);
    const headers = [...response.headers].filter(([name]) => readable.has(name));
    return new Response(response.body, { status: response.status, headers });
  };
}

async function askFirst({ url, method, headers }: Request, origin: string): Promise<void> {
  const names = [...headers.keys()].filter((name) => !SAFE_REQUEST_HEADERS.has(name)).sort();
  const asked = {
    origin,
    "access-control-request-method": method,
    "access-control-request-headers": names.join(","),
  };
  const answer = await fetch(url, { method: "OPTIONS", headers: asked });
  if (!answer.ok) throw new TypeError(`The preflight was answered with ${answer.status}`);
  requireOrigin(answer, origin);
  const methods = listOf(answer.headers.get("access-control-allow-methods"));
  if (!methods.includes(method.toLowerCase())) throw new TypeError(`${method} is not allowed`);
  const allowed = listOf(answer.headers.get("access-control-allow-headers"));
  for (const name of names) if (!allowed.includes(name)) throw new TypeError(`${name} is not allowed`);
}

function requireOrigin({ headers }: Response, origin: string): void {
  const allowed = headers.get("access-control-allow-origin");
  if (allowed !== "*" && allowed !== origin) throw new TypeError(`${origin} is not allowed`);
}

function listOf(header: string | null): string[] {
  return (header ?? "").split(",").map((name) => name.trim().toLowerCase());
}
