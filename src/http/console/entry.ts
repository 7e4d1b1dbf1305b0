import { GatewayError, toGatewayError } from "../../errors.ts";
import { isTextTooDeep } from "../../wire/json/bounds.ts";
import { WIRES } from "../../wire/registry.ts";
import { errorResponse, logInternalError } from "../errors.ts";
import { idHeaders, newRequestId, pathOf, targetOf } from "../identity.ts";
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
/** The escape of NUL in JSON, whose backslash is not itself escaped. */
const ESCAPED_NUL = /(?<!\\)(?:\\\\)*\\u0000/;
/** Reads its raw body itself, and no cookie. */
const WEBHOOK_PATH = `${API}/stripe/webhook`;

/** Creates the entry of `/console`: the API, and the pages of the browser's console. */
export function createConsole(parts: ConsoleParts): ConsoleEntry {
  const api = createConsoleApi(parts);
  return async (request, peer) => {
    const requestId = newRequestId();
    try {
      if (isPage(pathOf(request))) return await parts.pages(request);
      const routed = await prepare(parts, request);
      setContext(routed, { requestId, address: parts.addressOf(request, peer), received: request });
      return withHeaders(await api.fetch(routed), requestId);
    } catch (thrown) {
      const error = toGatewayError(thrown);
      logInternalError(parts.log, requestId, error);
      return withHeaders(errorResponse(error, WIRES.chat, { requestId }), requestId);
    }
  };
}

function isPage(path: string): boolean {
  return path === DOCS_PATH || !isBelow(API, path);
}

function isBelow(root: string, path: string): boolean {
  return path === root || path.startsWith(`${root}/`);
}

/**
 * Checks origin and content type, and reads the body within its bound. Throws `not_permitted` for a request
 * of another site, `not_json` for another content type, `body_too_large` above 1 MiB, `body_too_slow` after
 * 10 s, and `wrong_shape` for a NUL, which PostgreSQL refuses to store, and above 500 levels, which overflow the
 * stack of a validation error.
 */
async function prepare({ settings }: ConsoleParts, request: Request): Promise<Request> {
  if (targetOf(request).includes("%00")) throw new GatewayError("wrong_shape");
  if (request.method === "GET" || request.method === "HEAD") return request;
  if (pathOf(request) === WEBHOOK_PATH) return request;
  if (!isSameOrigin(request, settings.publicUrl)) throw new GatewayError("not_permitted");
  const type = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  const body = await readRequestBody(request, BODY_BOUNDS);
  if (body.byteLength > 0 && type !== "application/json") throw new GatewayError("not_json");
  const text = new TextDecoder().decode(body);
  if (ESCAPED_NUL.test(text) || isTextTooDeep(text)) throw new GatewayError("wrong_shape");
  const { method, headers, signal, url } = request;
  return new Request(url, { method, headers, signal, ...(body.byteLength > 0 ? { body } : {}) });
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
  headers.set("x-content-type-options", "nosniff");
  headers.set("referrer-policy", "no-referrer");
  return response;
}
