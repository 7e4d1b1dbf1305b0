import type { LimitWindow, LimitWindows } from "../domain/limit-windows.ts";

/**
 * Formats limits as OpenAI does; the reset time in whole seconds ("6s").
 *
 * @see https://platform.openai.com/docs/guides/rate-limits
 */
export function openaiLimitHeaders({ requests, tokens }: LimitWindows): Record<string, string> {
  const headers: Record<string, string> = {};
  if (requests) addOpenaiWindow(headers, "requests", requests);
  if (tokens) addOpenaiWindow(headers, "tokens", tokens);
  return headers;
}

function addOpenaiWindow(
  headers: Record<string, string>,
  unit: "requests" | "tokens",
  window: LimitWindow,
): void {
  headers[`x-ratelimit-limit-${unit}`] = String(window.limit);
  headers[`x-ratelimit-remaining-${unit}`] = String(window.remaining);
  headers[`x-ratelimit-reset-${unit}`] = `${Math.ceil(window.resetMs / 1000)}s`;
}

/**
 * Formats limits as Anthropic does; the reset time as a date in RFC 3339.
 *
 * @see https://docs.anthropic.com/en/api/rate-limits
 */
export function anthropicLimitHeaders(
  { requests, tokens }: LimitWindows,
  nowMs: number,
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (requests) addAnthropicWindow(headers, "requests", { ...requests, nowMs });
  if (tokens) addAnthropicWindow(headers, "tokens", { ...tokens, nowMs });
  return headers;
}

function addAnthropicWindow(
  headers: Record<string, string>,
  unit: "requests" | "tokens",
  { limit, remaining, resetMs, nowMs }: LimitWindow & { readonly nowMs: number },
): void {
  headers[`anthropic-ratelimit-${unit}-limit`] = String(limit);
  headers[`anthropic-ratelimit-${unit}-remaining`] = String(remaining);
  headers[`anthropic-ratelimit-${unit}-reset`] = new Date(nowMs + resetMs).toISOString();
}
