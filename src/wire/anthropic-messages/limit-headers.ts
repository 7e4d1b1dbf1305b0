import type { LimitWindow, LimitWindows } from "../../domain/limit-windows.ts";

/**
 * Formats limits as Anthropic does; the reset time as a date in RFC 3339.
 *
 * @see https://docs.anthropic.com/en/api/rate-limits
 */
export function limitHeaders({ requests, tokens }: LimitWindows): Record<string, string> {
  const headers: Record<string, string> = {};
  if (requests) addWindow(headers, "requests", requests);
  if (tokens) addWindow(headers, "tokens", tokens);
  return headers;
}

function addWindow(headers: Record<string, string>, unit: "requests" | "tokens", window: LimitWindow): void {
  headers[`anthropic-ratelimit-${unit}-limit`] = String(window.limit);
  headers[`anthropic-ratelimit-${unit}-remaining`] = String(window.remaining);
  headers[`anthropic-ratelimit-${unit}-reset`] = new Date(Date.now() + window.resetMs).toISOString();
}
