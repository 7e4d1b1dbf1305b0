import type { LimitWindow, LimitWindows } from "../domain/limit-windows.ts";

/**
 * Formats limits as OpenAI does; the reset time in whole seconds ("6s").
 *
 * @see https://platform.openai.com/docs/guides/rate-limits
 */
export function limitHeaders({ requests, tokens }: LimitWindows): Record<string, string> {
  const headers: Record<string, string> = {};
  if (requests) addWindow(headers, "requests", requests);
  if (tokens) addWindow(headers, "tokens", tokens);
  return headers;
}

function addWindow(headers: Record<string, string>, unit: "requests" | "tokens", window: LimitWindow): void {
  headers[`x-ratelimit-limit-${unit}`] = String(window.limit);
  headers[`x-ratelimit-remaining-${unit}`] = String(window.remaining);
  headers[`x-ratelimit-reset-${unit}`] = `${Math.ceil(window.resetMs / 1000)}s`;
}
