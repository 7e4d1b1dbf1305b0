import { isJsonObject, readText } from "./json/read.ts";

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
