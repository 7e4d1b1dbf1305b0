import type { RequestRecord } from "../gateway/request.ts";
import { platform } from "../platform.ts";

/**
 * Returns a new UUIDv7 of the wall clock's time. Bun's own clock for UUIDv7 never goes back. Once a clock
 * that was an hour ahead is corrected, the ledger would decline every id as too far in the future.
 */
export function newRequestId(): string {
  return platform.uuidV7(platform.now());
}

/**
 * The request id under both header names: OpenAI SDKs read `x-request-id`, Anthropic SDKs read `request-id`.
 */
export function idHeaders(requestId: string): Record<string, string> {
  return { "x-request-id": requestId, "request-id": requestId };
}

const BEARER = /^bearer[ \t]+(\S+)[ \t]*$/i;

/**
 * Reads the API key of a request from `Authorization: Bearer`, `x-api-key` or `x-goog-api-key`. The first takes
 * precedence, because Anthropic SDKs send a default `x-api-key` beside a token that was set explicitly.
 */
export function readSecret(headers: Headers): string | undefined {
  const authorization = headers.get("authorization");
  const bearer = authorization === null ? undefined : BEARER.exec(authorization)?.[1];
  return bearer ?? (headers.get("x-api-key")?.trim() || headers.get("x-goog-api-key")?.trim() || undefined);
}

/**
 * Reads the retry count of the client's SDK from `x-stainless-retry-count`, for the log. Each retry is a
 * request of its own.
 */
export function readClientRetry(headers: Headers): RequestRecord {
  const count = headers.get("x-stainless-retry-count") ?? "";
  return /^[1-9]\d{0,2}$/.test(count) ? { clientRetry: Number(count) } : {};
}

/**
 * Returns path and query as they stood in the request line. Never throws: the Host header can hold anything,
 * so that `url` may be no valid URL, or a path alone.
 */
export function targetOf({ url }: Request): string {
  if (url.startsWith("/")) return url;
  const pathAt = url.indexOf("/", url.indexOf("//") + 2);
  return pathAt < 0 ? "/" : url.slice(pathAt);
}

/** Returns the query without its question mark; "" without one. */
export function queryOf(request: Request): string {
  const target = targetOf(request);
  const at = target.indexOf("?");
  return at < 0 ? "" : target.slice(at + 1);
}

/** Returns the path without its query, percent codes not decoded. */
export function pathOf(request: Request): string {
  const [path = "/"] = targetOf(request).split("?", 1);
  return path;
}
