import type { RequestRecord } from "../gateway/request.ts";

/**
 * Which try of the client's this is, as the OpenAI and Anthropic SDKs count from 1 in `x-stainless-retry-count`.
 * Every try is a request of its own; the log tells them apart.
 */
export function readClientRetry(headers: Headers): RequestRecord {
  const said = headers.get("x-stainless-retry-count") ?? "";
  return /^[1-9]\d{0,2}$/.test(said) ? { clientRetry: Number(said) } : {};
}
