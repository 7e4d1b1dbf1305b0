import { isJsonObject, parseJsonObject, readText } from "../wire/json/read.ts";
import { isBanned, isFlagged } from "../wire/upstream-fault.ts";

/**
 * What an upstream refused a call for: its content, its size, or the key and its account. `undefined` where the
 * answer does not say.
 */
export type RefusedFor = "content" | "size" | "key" | undefined;

/** An answer of an upstream with status 402, 403 or 429, and the size of its request. */
export interface RefusedCall {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Estimate of the tokens that the request sends. */
  readonly inputTokens: number;
  /** The output limit. */
  readonly outputTokens: number;
}

/** A wallet or a rate that is too small for this request alone. */
const TOO_LARGE =
  /fewer max_tokens|can only afford|prompt tokens limit exceeded|(request|prompt|input) (is )?too large/i;
const AFFORDS_NOTHING = /can only afford 0\b/i;
const LIMIT_AND_REQUEST = /\blimit:? (\d{1,12})\b.*\brequested:? (\d{1,12})\b/i;
const NAMES_KEY =
  /api[ _-]?key|\bkey limit\b|\baccount|organi[sz]ation|\bproject\b|\bteam\b|\bcredential|\bsubscription|\bbilling\b|\bbalance\b|\bcredits?\b|\bquota\b|\bpayment|\b(does not|doesn't|don't|do not) have (access|permission)|not authorized|access (was |is )?denied|permission[ _]denied/i;
/** Limits of one minute: of input and output together, and of each. */
const TOTAL_LIMIT = "x-ratelimit-limit-tokens";
const INPUT_LIMIT = "anthropic-ratelimit-input-tokens-limit";

/**
 * Reads what a call was refused for. Reads the upstream's own message only: details may quote the request, and
 * could then name what its sender likes.
 */
export function readRefusal(call: RefusedCall): RefusedFor {
  const { status, text } = call;
  const message = messageOf(text);
  if (status === 429) return isTooLarge(call, message) ? "size" : undefined;
  if (isBanned(message)) return "key";
  if (status === 403 && (isFlagged(message) || quotesFlaggedInput(text))) return "content";
  if (TOO_LARGE.test(message)) return AFFORDS_NOTHING.test(message) ? "key" : "size";
  return NAMES_KEY.test(message) ? "key" : undefined;
}

/** Whether a rate limit could not take this request even when nothing else counted. */
function isTooLarge({ headers, inputTokens, outputTokens }: RefusedCall, message: string): boolean {
  if (TOO_LARGE.test(message)) return true;
  const [, limit, requested] = LIMIT_AND_REQUEST.exec(message) ?? [];
  if (limit !== undefined && Number(requested) > Number(limit)) return true;
  const totalMax = parseLimit(headers.get(TOTAL_LIMIT)) ?? Number.POSITIVE_INFINITY;
  const inputMax = parseLimit(headers.get(INPUT_LIMIT)) ?? Number.POSITIVE_INFINITY;
  return inputTokens + outputTokens > totalMax || inputTokens > inputMax;
}

function parseLimit(value: string | null): number | undefined {
  return value !== null && /^\d{1,12}$/.test(value) ? Number(value) : undefined;
}

/** The whole beginnings and codes with which Anthropic, OpenAI, Google and xAI send a 400 for the account or key. */
const OF_OPERATOR =
  /^(your credit balance is too low|you have reached your specified api usage limits|this organization has been disabled|billing hard limit has been reached|api key (not valid|expired)\.|incorrect api key provided:)/i;
const OPERATOR_CODES: readonly string[] = [
  "billing_hard_limit_reached",
  "billing_not_active",
  "insufficient_quota",
  "invalid_api_key",
];
const QUOTE = /["'`]/;

/**
 * Whether a 400 refuses the operator's key or account, and not the request. A message that quotes something is not
 * believed: it may quote the request, whose sender could then rest the key for all.
 */
export function refusesOperator(text: string): boolean {
  return wordsOf(text).some(
    (words) => OPERATOR_CODES.includes(words) || (OF_OPERATOR.test(words) && !QUOTE.test(words)),
  );
}

function messageOf(text: string): string {
  return wordsOf(text).join(" ");
}

/**
 * Lists message and codes of an error in the forms of OpenAI, Anthropic, xAI, Google and AWS. The page of a
 * firewall has none: what it blocks may be the content.
 */
function wordsOf(text: string): readonly string[] {
  // Google answers a streamed call with an array of one error.
  const body = parseJsonObject(text.startsWith("[") ? text.trim().slice(1, -1) : text);
  if (!body) return [];
  const error = isJsonObject(body.error) ? body.error : body;
  const words = [
    error.code,
    error.type,
    error.status,
    error.message,
    body.error,
    body.message,
    body.Message,
    body.code,
  ];
  return words.map(readText);
}

/** OpenRouter quotes the input that its moderation flagged. */
function quotesFlaggedInput(text: string): boolean {
  const error = parseJsonObject(text)?.error;
  const metadata = isJsonObject(error) ? error.metadata : undefined;
  return isJsonObject(metadata) && ("flagged_input" in metadata || Array.isArray(metadata.reasons));
}
