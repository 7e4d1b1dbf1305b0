import { targetOf } from "./identity.ts";

/** Maximum number of path segments that `*` at the end of a route matches. */
const REST_SEGMENTS_MAX = 8;
/** Elysia searches for the path from this character of the URL on. */
const PATH_INDEX_MIN = "http://".length + 4;

export type Handle = (request: Request) => Response | Promise<Response>;
/** Routes of Bun's router by path pattern. A response of `undefined` has made its connection a WebSocket. */
export type RawRoutes = Record<string, (request: Bun.BunRequest) => RawResponse>;
export type RawResponse = Response | Promise<Response | undefined>;

/**
 * Returns routes that Bun matches against the path as it was sent. Elysia alone would match the parsed URL,
 * in which `/x/../v1/models`, `/x/%2e%2e/v1/models` and `/v1\models` are all `/v1/models`. `reject` handles
 * paths that the URL parser would change.
 */
export function rawRoutes(paths: readonly string[], handle: Handle, reject: Handle): RawRoutes {
  const patterns = new Set(paths.flatMap(expandRest));
  return Object.fromEntries(
    [...patterns].map((pattern) => [
      pattern,
      pattern.includes("/:")
        ? (request) => (isNormalised(Object.values(request.params)) ? reject(request) : handle(request))
        : handle,
    ]),
  );
}

/** Expands `/a/*` to `/a/:s0`, `/a/:s0/:s1` and so on: Bun provides only named segments as they were sent. */
function expandRest(path: string): string[] {
  if (!path.endsWith("/*")) return [path];
  const segments = Array.from({ length: REST_SEGMENTS_MAX }, (_, index) => `/:s${index}`);
  return segments.map((_, index) => path.slice(0, -2) + segments.slice(0, index + 1).join(""));
}

/** Whether the URL parser removes or splits one of these segments, so that it yields another path. */
function isNormalised(segments: readonly string[]): boolean {
  return segments.some((segment) => segment === "." || segment === ".." || segment.includes("\\"));
}

/** Gives a request a URL in which Elysia finds the path. Its Host header may be short, missing or invalid. */
export function makeRoutable(request: Request): Request {
  const target = targetOf(request);
  if (request.url.length - target.length >= PATH_INDEX_MIN) return request;
  // Not a copy: Bun associates the connection with this object.
  return Object.defineProperty(request, "url", { value: `http://localhost${target}` });
}

/**
 * Routes of the OpenAI, Anthropic and Gemini APIs that Tollgate does not implement. Their status is 501, that of
 * unknown paths 404. `*` matches the rest of a path, also an empty one.
 * @see https://platform.openai.com/docs/api-reference
 * @see https://docs.anthropic.com/en/api/overview
 */
const NOT_BUILT: readonly (readonly [methods: string, path: string])[] = [
  ["GET POST DELETE", "/v1/messages/batches*"],
  ["POST", "/v1/complete"],
  ["GET POST DELETE", "/v1/responses/*"],
  ["GET", "/v1/responses"],
  ["GET POST DELETE", "/v1/conversations*"],
  ["GET POST DELETE", "/v1/chat/completions/*"],
  ["GET", "/v1/chat/completions"],
  ["POST", "/v1/completions"],
  ["GET POST DELETE", "/v1/videos*"],
  ["GET POST DELETE", "/v1/audio/voices*"],
  ["GET POST DELETE", "/v1/audio/voice_consents*"],
  ["GET POST DELETE", "/v1/files*"],
  ["GET POST DELETE", "/v1/uploads*"],
  ["GET POST DELETE", "/v1/batches*"],
  ["GET POST DELETE", "/v1/fine_tuning/*"],
  ["GET POST DELETE", "/v1/assistants*"],
  ["GET POST DELETE", "/v1/threads*"],
  ["GET POST DELETE", "/v1/vector_stores*"],
  ["GET POST DELETE", "/v1/containers*"],
  ["GET POST DELETE", "/v1/evals*"],
  ["GET POST DELETE", "/v1/realtime*"],
  ["GET POST DELETE", "/v1/skills*"],
  ["DELETE", "/v1/models/*"],
  ["GET POST PATCH DELETE", "/v1beta/cachedContents*"],
  ["GET POST DELETE", "/v1beta/files*"],
  ["GET POST DELETE", "/v1beta/batches*"],
  ["GET POST DELETE", "/v1beta/interactions*"],
  ["GET POST PATCH DELETE", "/v1beta/fileSearchStores*"],
  ["GET POST PATCH DELETE", "/v1beta/tunedModels*"],
  ["POST", "/upload/v1beta/*"],
];

/** Paths of the routes that are not implemented, in the syntax of {@link rawRoutes}. */
export const NOT_BUILT_PATHS: readonly string[] = NOT_BUILT.flatMap(([, pattern]) =>
  pattern.endsWith("*") && !pattern.endsWith("/*")
    ? [pattern.slice(0, -1), pattern.replace("*", "/*")]
    : [pattern],
);

/** Methods of a model in Google's form that Tollgate does not implement. */
const MODEL_METHODS =
  /^\/v1(?:beta)?\/models\/.+:(?:batchGenerateContent|asyncBatchEmbedContent|predict|predictLongRunning|generateAnswer|bidiGenerateContent)$/;

/** Whether a method and path belong to a route that is not implemented. */
export function isNotBuilt(method: string, path: string): boolean {
  if (method === "POST" && MODEL_METHODS.test(path)) return true;
  return NOT_BUILT.some(
    ([methods, pattern]) => methods.split(" ").includes(method) && matches(pattern, path),
  );
}

/** The path of WebSockets, which is also that of responses over HTTP. */
export const SOCKET_PATH = "/v1/responses";

/** Whether a request asks to make its connection a WebSocket. Proxies that know of none drop its `upgrade`. */
export function asksForSocket({ headers }: Request): boolean {
  return headers.get("upgrade")?.toLowerCase() === "websocket" || headers.has("sec-websocket-key");
}

function matches(pattern: string, path: string): boolean {
  if (!pattern.endsWith("*")) return path === pattern;
  const stem = pattern.slice(0, -1);
  if (stem.endsWith("/")) return path.startsWith(stem) && path.length > stem.length;
  return path === stem || path.startsWith(`${stem}/`);
}
