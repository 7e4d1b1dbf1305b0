import { ERRORS, GatewayError, toGatewayError } from "../../errors.ts";
import { isTextTooDeep } from "../../wire/json/bounds.ts";
import { isWithin, type JsonBounds } from "../../wire/json/read.ts";
import { WIRES } from "../../wire/registry.ts";
import { discardBody } from "../body.ts";
import { errorResponse, isBelow, logInternalError } from "../errors.ts";
import { idHeaders, newRequestId, pathOf, targetOf } from "../identity.ts";
import { makeRoutable } from "../routes.ts";
import { compressAnswer } from "./compress.ts";
import type { ConsoleParts } from "./console-parts.ts";
import { readRequestBody } from "./request-body.ts";
import { setContext } from "./request-context.ts";
import { createConsoleApi } from "./routes.ts";

/** Handles a request below `/console`. `peer` is the address of the connection. */
export type ConsoleEntry = (request: Request, peer: string | undefined) => Promise<Response>;

const API = "/console/api";
/** A page of the browser's console, although its path is that of the API. */
const DOCS_PATH = `${API}/docs`;
const BODY_BOUNDS = {
  bytesMax: 1024 * 1024,
  message: "The request body exceeds the size limit of 1 MiB.",
};
/** Above every body that a schema accepts: 1,000 messages of the playground are 3,000 values. */
const STRUCTURE_MAX: JsonBounds = { values: 5_000, members: 5_000, escapes: 100_000 };
const DEPTH_MAX = 32;
/** Statuses of a body that cannot be read or that its schema refuses. */
const REFUSED_BODY: ReadonlySet<number> = new Set([400, 413, 422]);
/** Webhooks and signed calls: they read their raw body themselves, and no cookie. */
const SIGNED_PATH = /^\/console\/api\/(stripe\/webhook|signed\/[\w-]{1,32})$/;

/** Creates the entry of `/console`: the API, and the pages of the browser's console. */
export function createConsole(parts: ConsoleParts): ConsoleEntry {
  const api = createConsoleApi(parts);
  const answer = async (received: Request, peer: string | undefined, requestId: string) => {
    const request = makeRoutable(received);
    if (isPage(pathOf(request))) return parts.pages(request);
    const address = parts.addressOf(request, peer);
    const run = async () => {
      const routed = await prepare(request);
      setContext(routed, { requestId, address, received });
      return api.fetch(routed);
    };
    const answered = await compressAnswer(request, await admit(parts, request, { address, run }));
    return withHeaders(answered, requestId);
  };
  return async (received, peer) => {
    const requestId = newRequestId();
    const response = await answer(received, peer, requestId).catch((thrown: unknown) => {
      const error = toGatewayError(thrown);
      logInternalError(parts.log, requestId, error);
      return withHeaders(errorResponse(error, WIRES.chat, { requestId }), requestId);
    });
    if (!response.ok) await discardBody(received);
    return response;
  };
}

/** The answer to a refused body, which the throttle counts like a failed guess. */
class RefusedBody extends Error {
  readonly response: Response;

  constructor(response: Response) {
    super();
    this.response = response;
  }
}

interface Visit {
  readonly address: string | undefined;
  run(): Promise<Response>;
}

/**
 * Runs a request of this site. Refused bodies count against the address, and are not read above its bound. Throws
 * `not_permitted` for another site, uncounted: it could use up the bound of a person who visits it.
 */
async function admit(parts: ConsoleParts, request: Request, { address, run }: Visit): Promise<Response> {
  if (!hasBody(request) || SIGNED_PATH.test(pathOf(request))) return run();
  if (!isSameOrigin(request, parts.settings.publicUrl)) throw new GatewayError("not_permitted");
  const counted = async () => {
    const response = await run();
    if (REFUSED_BODY.has(response.status)) throw new RefusedBody(response);
    return response;
  };
  return parts.throttle("body", { address }, counted).catch((thrown: unknown) => {
    if (thrown instanceof RefusedBody) return thrown.response;
    throw thrown;
  });
}

function hasBody({ method }: Request): boolean {
  return method !== "GET" && method !== "HEAD";
}

function isPage(path: string): boolean {
  return path === DOCS_PATH || !isBelow(API, path);
}

/**
 * Checks the content type, and reads the body within its bounds. Throws `not_json` for another content type,
 * `body_too_large` above 1 MiB, and `body_too_slow` after 10 s. Throws `wrong_shape` for a NUL, which PostgreSQL
 * refuses to store, above 5,000 values and above 32 levels: parsing and checking them would hold the event loop.
 */
async function prepare(request: Request): Promise<Request> {
  if (targetOf(request).includes("%00")) throw new GatewayError("wrong_shape");
  if (!hasBody(request) || SIGNED_PATH.test(pathOf(request))) return request;
  const type = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  const body = await readRequestBody(request, BODY_BOUNDS);
  if (body.byteLength > 0 && type !== "application/json") throw new GatewayError("not_json");
  const text = new TextDecoder().decode(body);
  const isBounded = isWithin(text, STRUCTURE_MAX) && !isTextTooDeep(text, DEPTH_MAX);
  if (!isBounded || hasEscapedNul(text)) throw new GatewayError("wrong_shape");
  const { method, headers, signal, url } = request;
  return new Request(url, { method, headers, signal, ...(body.byteLength > 0 ? { body } : {}) });
}

/** Whether a JSON text has the escape of NUL. A regular expression takes 0.3 s for 1 MiB of backslashes. */
function hasEscapedNul(text: string): boolean {
  for (let at = text.indexOf("\\u0000"); at >= 0; at = text.indexOf("\\u0000", at + 1)) {
    let before = at;
    while (text[before - 1] === "\\") before -= 1;
    if ((at - before) % 2 === 0) return true;
  }
  return false;
}

/** A management key is no cookie: no other site can make a browser send it. */
function isSameOrigin({ headers }: Request, publicUrl: string): boolean {
  if (headers.get("authorization") !== null && headers.get("cookie") === null) return true;
  const site = headers.get("sec-fetch-site");
  return site === null ? headers.get("origin") === publicUrl : site === "same-origin";
}

function withHeaders(response: Response, requestId: string): Response {
  const { headers } = response;
  for (const [name, value] of Object.entries(idHeaders(requestId))) headers.set(name, value);
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  // A conflict with the current item in its body is no thrown error, and has the same advice.
  if (response.status === ERRORS.conflict.chat[0]) headers.set("x-should-retry", "false");
  headers.set("x-content-type-options", "nosniff");
  headers.set("referrer-policy", "no-referrer");
  return response;
}
