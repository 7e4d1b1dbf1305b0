import type { LimitWindow, LimitWindows } from "../../domain/limit-windows.ts";

/**
 * Formats limits as Anthropic does; the reset time as a date in RFC 3339.
 *
 * @see https://docs.anthropic.com/en/api/rate-limits
 */
export function limitHeaders({ requests, tokens }: LimitWindows, nowMs: number): Record<string, string> {
  const headers: Record<string, string> = {};
  if (requests) addWindow(headers, "requests", { ...requests, nowMs });
  if (tokens) addWindow(headers, "tokens", { ...tokens, nowMs });
  return headers;
}

function addWindow(
  headers: Record<string, string>,
  unit: "requests" | "tokens",
  { limit, remaining, resetMs, nowMs }: LimitWindow & { readonly nowMs: number },
): void {
  headers[`anthropic-ratelimit-${unit}-limit`] = String(limit);
  headers[`anthropic-ratelimit-${unit}-remaining`] = String(remaining);
  headers[`anthropic-ratelimit-${unit}-reset`] = new Date(nowMs + resetMs).toISOString();
}
