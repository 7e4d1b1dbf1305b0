import { targetOf } from "./request-path.ts";

/** The segments that the rest of a path may have where a route ends in `*`. */
const REST_SEGMENTS_MAX = 8;
/** Elysia looks for the path from this character of the URL on. */
const PATH_INDEX_MIN = "http://".length + 4;

export type Handle = (request: Request) => Response | Promise<Response>;
type RawRoutes = Record<string, (request: Bun.BunRequest) => Response | Promise<Response>>;

/**
 * Routes that Bun matches against the path as it came on the wire. Elysia alone would match what the URL parser
 * makes of it: `/x/../v1/models`, `/x/%2e%2e/v1/models` and `/v1\models` are `/v1/models` there.
 */
export function rawRoutes(paths: readonly string[], handle: Handle, refuse: Handle): RawRoutes {
  const patterns = new Set(paths.flatMap(expandRest));
  return Object.fromEntries(
    [...patterns].map((pattern) => [
      pattern,
      pattern.includes("/:")
        ? (request) => (isFolded(Object.values(request.params)) ? refuse(request) : handle(request))
        : handle,
    ]),
  );
}

/** `/a/*` as `/a/:0`, `/a/:0/:1` and so on: only named segments are shown as they came. */
function expandRest(path: string): string[] {
  if (!path.endsWith("/*")) return [path];
  const segments = Array.from({ length: REST_SEGMENTS_MAX }, (_, index) => `/:s${index}`);
  return segments.map((_, index) => path.slice(0, -2) + segments.slice(0, index + 1).join(""));
}

/** Whether the URL parser drops or splits one of these segments, so that the URL's path is another one. */
function isFolded(segments: readonly string[]): boolean {
  return segments.some((segment) => segment === "." || segment === ".." || segment.includes("\\"));
}

/** Gives a request whose Host header is short, missing or no host a URL in which Elysia finds the path. */
export function makeRoutable(request: Request): Request {
  const target = targetOf(request);
  if (request.url.length - target.length >= PATH_INDEX_MIN) return request;
  // Not a copy: Bun knows the connection of this object only.
  return Object.defineProperty(request, "url", { value: `http://localhost${target}` });
}
