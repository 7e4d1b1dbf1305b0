import { isJsonObject, readText } from "./json/read.ts";

const READ_CHARS_MAX = 65_536;

/**
 * A violation of the wire format by an upstream, or an error that it reported inside an answer. The message
 * never contains text of the upstream.
 */
export class UpstreamFault extends Error {
  override readonly name = "UpstreamFault";
  /**
   * Set if the upstream rejected the prompt as too long; some providers report that only inside an answer.
   */
  readonly promptTooLong: PromptTooLong | undefined;

  /** Whether the upstream's moderation stopped the content of the request. */
  readonly isFlagged: boolean;

  constructor(message: string, promptTooLong?: PromptTooLong, isFlagged = false) {
    super(message);
    this.promptTooLong = promptTooLong;
    this.isFlagged = isFlagged;
  }
}

/** An upstream's rejection of a prompt as too long. */
export interface PromptTooLong {
  /** Tokens of the prompt as the error text states them; `undefined` if it states no number. */
  readonly tokens: number | undefined;
}

/** The phrases of one provider's errors about a prompt that is too long. */
export interface TooLongPhrases {
  /** Matches an error text that rejects a prompt as too long. */
  readonly phrase: RegExp;
  /** Capture the number of prompt tokens in their first group, in order of preference. */
  readonly tokens: readonly RegExp[];
}

/**
 * Searches the first 65,536 characters of an error body for a provider's phrases. Returns digits, no text.
 */
export function findPromptTooLong(
  text: string,
  { phrase, tokens }: TooLongPhrases,
): PromptTooLong | undefined {
  const head = text.slice(0, READ_CHARS_MAX);
  if (!phrase.test(head)) return undefined;
  for (const pattern of tokens) {
    const digits = pattern.exec(head)?.[1];
    if (digits) return { tokens: Number(digits.replaceAll(",", "")) };
  }
  return { tokens: undefined };
}

/** An account that is banned is no flagged content. */
const BANNED =
  /\b(account|organi[sz]ation|team|project|api[ _-]?key|access)\b[^.]{0,40}\b(flagged|banned|suspended|deactivated|disabled|terminated|blocked)\b/i;
/** Words of xAI, OpenRouter, Azure and others for content that their moderation stopped. */
const FLAGGED =
  /violat\w+ [^.]{0,30}(guideline|polic)|\bflagged\b|\bmoderation(?:_blocked)?\b|safety[ _](?:check|system)|content[ _]?(filter|policy)|responsible ?ai|prohibited content|inappropriate content|data_inspection/i;

/** Whether an upstream's message says that moderation stopped the content of a request. */
export function isFlagged(message: string): boolean {
  return FLAGGED.test(message) && !isBanned(message);
}

/** Whether an upstream's message says that the operator's account or key was blocked. */
export function isBanned(message: string): boolean {
  return BANNED.test(message);
}

/** Whether the error of an answer says so, by its code and message. */
export function isFlaggedError(error: unknown): boolean {
  if (!isJsonObject(error)) return isFlagged(readText(error));
  return isFlagged(`${readText(error.code)} ${readText(error.message)}`);
}
