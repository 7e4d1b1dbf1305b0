import type { LimitWindow, LimitWindows } from "../domain/limit-windows.ts";

/** The header names of one window, computed once. */
interface WindowNames {
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
}

const OPENAI = { requests: openaiNames("requests"), tokens: openaiNames("tokens") };
const ANTHROPIC = { requests: anthropicNames("requests"), tokens: anthropicNames("tokens") };

function openaiNames(unit: string): WindowNames {
  return {
    limit: `x-ratelimit-limit-${unit}`,
    remaining: `x-ratelimit-remaining-${unit}`,
    reset: `x-ratelimit-reset-${unit}`,
  };
}

function anthropicNames(unit: string): WindowNames {
  return {
    limit: `anthropic-ratelimit-${unit}-limit`,
    remaining: `anthropic-ratelimit-${unit}-remaining`,
    reset: `anthropic-ratelimit-${unit}-reset`,
  };
}

/**
 * Formats limits as OpenAI does; the reset time in whole seconds ("6s").
 *
 * @see https://platform.openai.com/docs/guides/rate-limits
 */
export function openaiLimitHeaders({ requests, tokens }: LimitWindows): Record<string, string> {
  const headers: Record<string, string> = {};
  if (requests) addWindow(headers, OPENAI.requests, requests, resetSeconds(requests));
  if (tokens) addWindow(headers, OPENAI.tokens, tokens, resetSeconds(tokens));
  return headers;
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
  if (requests) addWindow(headers, ANTHROPIC.requests, requests, resetDate(requests, nowMs));
  if (tokens) addWindow(headers, ANTHROPIC.tokens, tokens, resetDate(tokens, nowMs));
  return headers;
}

function addWindow(
  headers: Record<string, string>,
  names: WindowNames,
  { limit, remaining }: LimitWindow,
  reset: string,
): void {
  headers[names.limit] = String(limit);
  headers[names.remaining] = String(remaining);
  headers[names.reset] = reset;
}

function resetSeconds({ resetMs }: LimitWindow): string {
  return `${Math.ceil(resetMs / 1000)}s`;
}

function resetDate({ resetMs }: LimitWindow, nowMs: number): string {
  return new Date(nowMs + resetMs).toISOString();
}
